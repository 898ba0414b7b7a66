/** The legacy form's aggregations as those of the query language. */
import { badRequest, quote } from '../../http/api-error.ts';
import type { NamedFunction } from '../../../language/function-spec.ts';
import { AGGREGATE_FUNCTIONS } from '../../../language/functions/table.ts';
import { checkArguments } from '../../../language/plan/arguments.ts';
import type { Aggregation, Node } from '../../../language/plan/tree.ts';
import type { OwnAggregate } from '../sql/functions.ts';
import { joinSql, sql, type Sql } from '../values/sql.ts';
import { asJson, asNumber, exists, facetsOf, one, oneRequired, type SqlValue } from '../values/value.ts';
import { literal } from './nodes.ts';

export interface AggregationNames {
  readonly column: (name: string) => Node;
  readonly condition: (argument: unknown) => Node;
}

export interface LegacyAggregation {
  readonly op: string;
  readonly field: string;
  /** Its name in the result. */
  readonly name: string;
  readonly argument: unknown;
}

const SPECS: ReadonlyMap<string, NamedFunction> = new Map(
  [
    ...['count', 'sum', 'avg', 'min', 'max', 'topk', 'histogram', 'stdev', 'variance', 'rate'].map(
      (name) => [name, name] as const,
    ),
    ['distinct', 'dcount'] as const,
    ['percentiles', 'percentiles_array'] as const,
    ['makeset', 'make_set'] as const,
    ['makelist', 'make_list'] as const,
  ].map(([op, name]) => [op, AGGREGATE_FUNCTIONS.find(({ names }) => names[0] === name)!] as const),
);

const COUNT_OF_ROWS = AGGREGATE_FUNCTIONS.find(({ names: [name] }) => name === 'countif')!;
/** Events per second that meet a condition. */
const RATE_OF_ROWS: OwnAggregate = {
  name: 'rate',
  names: ['rate'],
  syntax: '',
  doc: '',
  args: ['bool'],
  returns: 'real',
  build: (call) => oneRequired('real', sql`(countIf(${call.condition(0)}) / (${call.params.int(call.window)} / 1e9))`),
};

/** Arguments that clients may leave out. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ topk: 10, histogram: 30, percentiles: [50, 90, 95, 99] }),
);

/** `id` is the column's name inside the query. Throws an `ApiError` 400 or an `AplError`. */
export function aggregationNode(
  { op, field, argument }: LegacyAggregation,
  id: string,
  names: AggregationNames,
): Aggregation {
  const all = field === '' || field === '*';
  const conditional = !SPECS.has(op) && op.endsWith('if');
  const plain = conditional ? op.slice(0, -2) : op;
  const spec =
    plain === 'argmax' || plain === 'argmin' ? takenBy(plain === 'argmax', namesIn(argument)) : SPECS.get(plain);
  if (!spec) throw badRequest(`the aggregation ${quote(op)} is not known`);
  const optional = plain === 'count' || plain === 'rate';
  if (all && !optional) throw badRequest(`the aggregation ${quote(op)} wants a field`);
  // Every event has the service's own times.
  const rows = all || (plain === 'count' && (field === '_time' || field === '_sysTime'));
  const args = rows ? [] : [names.column(field), ...argumentsOf(plain, conditional ? undefined : argument, names)];
  const condition = conditional ? names.condition(argument) : undefined;
  if (conditional && rows) return value(id, plain === 'rate' ? RATE_OF_ROWS : COUNT_OF_ROWS, [condition!], undefined);
  return value(id, spec, args, condition);
}

function value(name: string, spec: NamedFunction, given: readonly Node[], condition: Node | undefined): Aggregation {
  const places = given.map(() => 0);
  const args = checkArguments(spec, given, 0, places);
  const type = typeof spec.returns === 'function' ? spec.returns(args.map((arg) => arg.type)) : spec.returns;
  if (type === undefined) throw badRequest(`the aggregation ${spec.names[0]} cannot be made of this field`);
  return {
    kind: 'value',
    name,
    type,
    spec,
    args,
    condition,
    at: 0,
    places,
    info: { name: spec.wire ?? spec.names[0], fields: [], args: [] },
  };
}

function argumentsOf(op: string, argument: unknown, names: AggregationNames): Node[] {
  if (op === 'argmax' || op === 'argmin') return namesIn(argument).map((name) => names.column(name));
  if (op !== 'topk' && op !== 'histogram' && op !== 'percentiles' && op !== 'makeset' && op !== 'makelist') return [];
  const given = argument ?? DEFAULTS.get(op);
  if (given === undefined) return [];
  // Percentiles are written as 95, not 0.95.
  const list = (Array.isArray(given) ? given : [given]).map((item) => (typeof item === 'string' ? Number(item) : item));
  if (list.length === 0 || list.some((item) => typeof item !== 'number' || !Number.isFinite(item)))
    throw badRequest(
      `the aggregation ${quote(op)} wants a number as its argument${op === 'percentiles' ? ', or a list of them' : ''}`,
    );
  return op === 'percentiles' ? list.map(literal) : [literal(Math.trunc(list[0] as number))];
}

const namesIn = (argument: unknown): string[] => {
  if (argument === null || argument === undefined || argument === '') return ['_time'];
  const list = Array.isArray(argument) ? argument : [argument];
  if (list.length === 0) return ['_time'];
  if (list.some((name) => typeof name !== 'string'))
    throw badRequest('argmax and argmin want the fields to take as their argument');
  return list as string[];
};

/** The values of fields where another is greatest or least: one value, or an object of several. */
function takenBy(greatest: boolean, taken: readonly string[]): OwnAggregate {
  const name = greatest ? 'argmax' : 'argmin';
  const engine = greatest ? sql`argMaxIf` : sql`argMinIf`;
  return {
    name,
    names: [name],
    syntax: '',
    doc: '',
    args: ['any'],
    rest: 'any',
    returns: 'dynamic',
    build(call) {
      const by = call.value(0);
      const facet = by.facets.int || by.facets.real ? asNumber(by).sql : facetsOf(by)[0]?.[1];
      if (!facet) return { facets: {} };
      const pick = (part: Sql): Sql =>
        sql`if(countIf(${exists(by)}) = 0, null, ${engine}(tuple(${part}), assumeNotNull(${facet}), isNotNull(${facet})).1)`;
      if (taken.length === 1)
        return { facets: Object.fromEntries(facetsOf(call.value(1)).map(([kind, part]) => [kind, pick(part)])) };
      const entries = taken.map((name, n) => {
        const item: SqlValue = call.value(n + 1);
        return sql`concat(${call.params.string(`${JSON.stringify(name)}:`)}, ifNull(${asJson(item)}, 'null'))`;
      });
      return one('json', pick(sql`concat('{', ${joinSql(entries, sql`, ',', `)}, '}')`));
    },
  };
}

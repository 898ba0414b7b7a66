/** make-series: the groups of a summarize by steps of time, put together as arrays. */
import { SERVICE_QUERY_BUCKETS } from '../../../limits.ts';
import { formatTime } from '../../../../core/time/time-text.ts';
import { applyNamed } from '../../../../language/plan/analysis.ts';
import {
  constantNode,
  type GroupKey,
  type Node,
  type SeriesStage,
  type TimeBound,
} from '../../../../language/plan/tree.ts';
import { meaningError } from '../../../../language/syntax/apl-error.ts';
import type { Constant } from '../../../../language/types.ts';
import type { QueryEnvironment } from '../../values/call.ts';
import { SelectNames } from './select-names.ts';
import { checkedLevel, whereSql, type RelationColumn } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { list, NOTHING, sql, type Sql } from '../../values/sql.ts';
import { summarize } from './summarize.ts';
import { asInt, asJson, constantValue, facetsOf, one } from '../../values/value.ts';

/** Users' names hold no NUL. */
const STEP = '\0step';

export function makeSeries(relation: Relation, { columns, on, from, to, step, keys }: SeriesStage): Relation {
  const { environment } = relation.parts;
  const start = from ? timeOf(from, environment) : environment.start;
  const end = to ? timeOf(to, environment) : environment.end;
  const steps = end > start ? (end - start + step - 1n) / step : 0n;
  if (steps > BigInt(SERVICE_QUERY_BUCKETS))
    throw meaningError(
      from?.at ?? to?.at ?? 0,
      `make-series would have ${steps} steps, more than ${SERVICE_QUERY_BUCKETS}: make the step longer`,
    );
  const time = (value: bigint): Node => constantNode({ type: 'datetime', value });
  const call = (name: string, ...args: readonly Node[]): Node => applyNamed(name, 0, ...args);
  const within = call('and', call('>=', on.node, time(start)), call('<', on.node, time(end)));
  const number = call(
    '/',
    call('toint', call('-', call('todatetime', on.node), time(start))),
    constantNode({ type: 'int', value: step }),
  );
  const groups = [
    ...keys.map((key): GroupKey => ({ ...key, binOfTime: undefined })),
    { name: STEP, node: number, binOfTime: undefined },
  ];
  const inner = summarize(
    relation.where(within),
    columns.map(({ aggregation }) => aggregation),
    groups,
    step,
  );

  const { parts } = inner;
  const level = checkedLevel(parts.level + 1);
  const names = new SelectNames(level);
  const computed = new Map<string, RelationColumn>();
  const grouped = keys.map(({ name, node }) => {
    const { value } = parts.columns.get(name)!;
    computed.set(name, { value: names.take('k', value), type: node.type, role: 'key' });
    return value;
  });
  const at = sql`toUInt32(assumeNotNull(${asInt(parts.columns.get(STEP)!.value)}))`;
  for (const { aggregation, fallback } of columns) {
    const cell = sql`ifNull(${asJson(parts.columns.get(aggregation.name)!.value)}, 'null')`;
    const missing = jsonOf(fallback, environment);
    const filled = sql`arrayMap(e -> if(e = '', ${missing}, e), groupArrayInsertAt('', ${Number(steps)})(${cell}, ${at}))`;
    const json = steps === 0n ? sql`'[]'` : sql`concat('[', arrayStringConcat(${filled}, ','), ']')`;
    computed.set(aggregation.name, {
      value: one('json', names.add('a', json)),
      type: 'dynamic',
      role: 'aggregation',
      info: aggregation.info,
    });
  }
  const times = Array.from({ length: Number(steps) }, (_, n) => formatTime(start + BigInt(n) * step));
  computed.set(on.name, {
    value: one('json', environment.params.string(JSON.stringify(times))),
    type: 'dynamic',
    role: 'row',
  });
  const by = grouped.flatMap((value) => facetsOf(value).map(([, facet]) => facet));
  const groupBy = keys.length === 0 ? NOTHING : sql` group by ${by.length === 0 ? sql`'x'` : list(by)}`;
  return new Relation({
    ...parts,
    level,
    columns: computed,
    event: undefined,
    open: false,
    order: undefined,
    item: undefined,
    limit: undefined,
    matched: undefined,
    where: [],
    from: sql`(select ${list(names.columns)} from ${parts.from}${whereSql(parts.where)}${groupBy})`,
  });
}

const jsonOf = (constant: Constant, { params }: QueryEnvironment): Sql =>
  constant.value === null ? sql`'null'` : sql`ifNull(${asJson(constantValue(constant, params))}, 'null')`;

/** A time that is the same for all rows: a literal, now(), ago(), and timespans added to them. */
function timeOf({ node, at }: TimeBound, environment: QueryEnvironment): bigint {
  const found = valueOf(node, environment);
  if (found === undefined)
    throw meaningError(
      at,
      'make-series wants a range that no row decides on: datetime(…), now(), ago(1h), and sums of them',
    );
  return found;
}

function valueOf(node: Node, environment: QueryEnvironment): bigint | undefined {
  if (node.kind === 'constant') return typeof node.constant.value === 'bigint' ? node.constant.value : undefined;
  if (node.kind !== 'apply') return undefined;
  const args = node.args.map((arg) => valueOf(arg, environment));
  if (args.includes(undefined)) return undefined;
  const [a = 0n, b = 0n] = args as bigint[];
  switch (node.spec.name) {
    case 'now':
      return environment.now + a;
    case 'ago':
      return environment.now - a;
    case '+':
      return a + b;
    case '-':
      return node.args.length === 1 ? -a : a - b;
    case 'startofday':
      return a - (((a % DAY) + DAY) % DAY) + b * DAY;
    case 'bin':
      return b > 0n ? a - (((a % b) + b) % b) : undefined;
    default:
      return undefined;
  }
}
const DAY = 86_400_000_000_000n;

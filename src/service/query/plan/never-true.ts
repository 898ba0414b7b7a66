/**
 * Comparisons of a query without a result: those that no event of the range meets, with values that there are. They are asked for in one more
 * query over the same range, which may take a moment and no more.
 */
import { OPERATORS } from '../../../language/functions/table.ts';
import {
  callsIn,
  constantNode,
  type CallNode,
  type Node,
  type QueryStage,
  type TreeRows,
} from '../../../language/plan/tree.ts';
import { plainOf } from '../../../language/function-spec.ts';
import type { DatasetRecord } from '../../datasets/catalog.ts';
import { TYPE_BITS } from '../../datasets/field-types.ts';
import type { Cell } from '../../engine/engine.ts';
import { ownAggregation } from './series-range.ts';
import { SERVICE_QUERY_HINT_CHARS, SERVICE_QUERY_HINT_VALUES, SERVICE_QUERY_HINTS } from '../../limits.ts';

const EQUAL: ReadonlySet<string> = new Set(['==', '=~', 'in', 'in~']);
const ORDERED: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);
/** What leaves the fields of events as they are. */
const HARMLESS: ReadonlySet<QueryStage['kind']> = new Set([
  'where',
  'extend',
  'sort',
  'remove',
  'keep',
  'reorder',
  'label',
  'render',
]);

interface Comparison {
  readonly field: string;
  readonly node: CallNode;
  readonly wanted: readonly unknown[];
}

/** The fields on the right of comparisons. */
export const comparedIn = (stages: readonly QueryStage[]): ReadonlySet<string> =>
  new Set(
    stages
      .flatMap((stage) => (stage.kind === 'where' ? callsIn(stage.condition, (name) => OPERATORS.has(name)) : []))
      .flatMap(({ args }) => args.slice(1).flatMap((arg) => (arg.kind === 'column' ? [arg.name] : []))),
  );

const conjuncts = (node: Node): readonly Node[] =>
  node.kind === 'apply' && node.spec.name === 'and' ? node.args.flatMap(conjuncts) : [node];

function comparisonOf(node: Node): Comparison | undefined {
  if (node.kind !== 'apply' || !(EQUAL.has(node.spec.name) || ORDERED.has(node.spec.name))) return undefined;
  const [field, ...others] = node.args;
  const constants = others.flatMap((arg) =>
    arg.kind === 'constant' && arg.constant.value !== null ? [arg.constant] : [],
  );
  const isPlain =
    constants.length === others.length &&
    constants.every(({ type }) => ['string', 'int', 'real', 'bool'].includes(type));
  return field?.kind === 'column' && field.type === 'dynamic' && isPlain
    ? { field: field.name, node, wanted: constants.map(plainOf) }
    : undefined;
}

/** Comparisons of fields with literals that each event has to meet. */
function comparisonsOf({ source, stages }: TreeRows): readonly Comparison[] {
  if (source.kind !== 'datasets') return [];
  const end = stages.findIndex(({ kind }) => !HARMLESS.has(kind));
  const first = end < 0 ? stages : stages.slice(0, end);
  const computed = new Set(
    first.flatMap((stage) =>
      stage.kind === 'extend' && !stage.isVirtual ? stage.columns.map(({ name }) => name) : [],
    ),
  );
  const found = first
    .flatMap((stage) => (stage.kind === 'where' ? conjuncts(stage.condition) : []))
    .flatMap((node) => comparisonOf(node) ?? []);
  return found.filter(({ field }) => !computed.has(field)).slice(0, SERVICE_QUERY_HINTS);
}

const written = (value: unknown): string => JSON.stringify(value);

/** A comparison as it would be written. */
function textOf({ field, node, wanted }: Comparison, value = written): string {
  const name = /^[A-Za-z_]\w*(?:\.\w+)*$/.test(field) ? field : `['${field}']`;
  const operator = node.spec.name;
  return operator.startsWith('in')
    ? `${name} ${operator} (${wanted.map(value).join(', ')})`
    : `${name} ${operator} ${value(wanted[0])}`;
}

/** What to write instead, as far as the values that there are show it. */
function fixOf(comparison: Comparison, there: readonly unknown[], bits: number): string | undefined {
  const { node, field, wanted } = comparison;
  const isText = (bits & (TYPE_BITS.integer | TYPE_BITS.float)) === 0;
  if (isText && wanted.every((value) => typeof value === 'number'))
    return EQUAL.has(node.spec.name)
      ? textOf(comparison, (value) => written(String(value)))
      : textOf({ ...comparison, field: '' }).replace(/^\[''\]/, `toreal(${field})`);
  const isNumber = (bits & TYPE_BITS.string) === 0;
  if (isNumber && wanted.every((value) => typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)))
    return textOf(comparison, String);
  const lower = new Set(wanted.map((value) => String(value).toLowerCase()));
  const isCased = node.spec.name === '==' || node.spec.name === 'in';
  const hasOther = there.some((value) => typeof value === 'string' && lower.has(value.toLowerCase()));
  return isCased && hasOther
    ? textOf(comparison).replace(` ${node.spec.name} `, ` ${node.spec.name === 'in' ? 'in~' : '=~'} `)
    : undefined;
}

/** One sentence for each; none where the question is not answered. `firstRow` answers the first row of a query, by column. */
export async function neverTrue(
  tree: TreeRows,
  datasets: readonly DatasetRecord[],
  firstRow: (rows: TreeRows) => Promise<readonly (Cell | undefined)[]>,
): Promise<readonly string[]> {
  const bitsOf = (name: string): number => datasets.reduce((bits, { fields }) => bits | (fields.get(name) ?? 0), 0);
  const comparisons = comparisonsOf(tree).filter(({ field }) => bitsOf(field) > 0);
  if (comparisons.length === 0) return [];
  const most = constantNode({ type: 'int', value: BigInt(SERVICE_QUERY_HINT_VALUES) });
  const aggregations = [
    ownAggregation('count', 'int', 'events'),
    ...comparisons.flatMap(({ node }, n) => [
      ownAggregation('countif', 'int', `met ${n}`, node),
      ownAggregation('topk', 'dynamic', `there ${n}`, node.args[0]!, most),
    ]),
  ];
  const before = tree.stages.slice(
    0,
    tree.stages.findIndex(({ kind }) => kind === 'where'),
  );
  const [events, ...cells] = await firstRow({
    source: tree.source,
    stages: [...before, { kind: 'summarize', keys: [], aggregations }],
  });
  if (Number(events) === 0) return [];
  return comparisons.flatMap((comparison, n) => {
    const [met, top] = [Number(cells[2 * n]), cells[2 * n + 1]];
    const there =
      met === 0 && typeof top === 'string' ? (JSON.parse(top) as { key: unknown }[]).map(({ key }) => key) : [];
    const fix = fixOf(comparison, there, bitsOf(comparison.field));
    const values = there.map(written);
    const isShort = values.every(({ length }) => length <= SERVICE_QUERY_HINT_CHARS);
    // An order that no number meets is plain to see in the numbers.
    if (there.length === 0 || (fix === undefined && (!isShort || ORDERED.has(comparison.node.spec.name)))) return [];
    const list = isShort
      ? `: there ${values.length === 1 ? 'is' : 'are'} ${values.join(', ')}${values.length < SERVICE_QUERY_HINT_VALUES ? '' : ' among others'}`
      : '';
    return [`no event of this range has ${textOf(comparison)}${list}${fix === undefined ? '' : `; write ${fix}`}`];
  });
}

/** mv-apply: operators over the items of each row. Those that look at several items do so within the rows of one number. */
import { analyze, applyNamed, type Names } from '../../plan/analysis.ts';
import { extended, typeOf } from '../../plan/scope.ts';
import { constantNode, numberedName, type Column, type Node, type Scope, type Stage } from '../../plan/tree.ts';
import { AplError } from '../../syntax/apl-error.ts';
import type { Result } from '../../plan/operator.ts';

/** The number of the row that an item is of; users' names hold no NUL. */
const ROW = numberedName('row', 0);
const NTH = numberedName('nth', 0);
const KEPT = numberedName('kept', 0);
const column = (name: string, type: Node['type'] = 'int'): Node => ({ kind: 'column', type, name });
const before = (name: string): string => numberedName(`before ${name}`, 0);
const without = (...names: readonly string[]): Stage => ({ kind: 'remove', names: names.map((text) => ({ text, prefix: false })) });

const EACH: readonly Stage['kind'][] = ['where', 'extend', 'remove', 'rename'];
const SEVERAL: readonly Stage['kind'][] = ['sort', 'limit', 'summarize'];

/** Rows without an item do not come out of mv-apply. */
function hasItems(columns: readonly Column[], at: number): Stage {
  const zero = constantNode({ type: 'int', value: 0n });
  const size = (node: Node): Node => applyNamed('>', at, applyNamed('array_length', at, node), zero);
  return { kind: 'where', condition: applyNamed('or', at, ...columns.flatMap(({ node }) => [size(node), size(applyNamed('bag_keys', at, node))])) };
} // prettier-ignore

/** A stage as it is within the items of each row. */
function withinRow(stage: Stage, at: number): readonly Stage[] {
  switch (stage.kind) {
    case 'sort':
      return [{ ...stage, keys: [{ node: column(ROW), name: '', desc: false, nullsFirst: false }, ...stage.keys] }];
    case 'limit': {
      const first = constantNode({ type: 'int', value: 1n });
      const number = { ...applyNamed('row_number', at, first), args: [first, column(ROW)] } as Node;
      const most = constantNode({ type: 'int', value: BigInt(stage.count) });
      const condition = applyNamed('<=', at, column(NTH), most);
      return [{ kind: 'extend', columns: [{ name: NTH, node: number }] }, { kind: 'where', condition }, without(NTH)];
    }
    case 'summarize': {
      const row = { name: ROW, node: column(ROW), binOfTime: undefined };
      const whole = { kind: 'row', greatest: true, by: { name: KEPT, node: column(ROW) }, take: '*', info: { name: 'argmax', fields: [], args: [] } } as const;
      const order = { kind: 'sort', keys: [{ node: column(ROW), name: '', desc: false, nullsFirst: false }] } as const;
      return [{ kind: 'fold', keys: [row, ...stage.keys], aggregations: [...stage.aggregations, whole] }, without(KEPT), order];
    }
    default:
      return [stage];
  }
} // prettier-ignore

/** `expansion`: the stages that make rows of the items, of these columns; `inner`: those behind `on`, which see the columns of `items`. */
export function applied(expansion: Result, columns: readonly Column[], inner: Result, at: number, names: Names): Result {
  const other = inner.stages.find(({ kind }) => !EACH.includes(kind) && !SEVERAL.includes(kind));
  if (other)
    throw new AplError('meaning', at, 'mv-apply takes where, extend, project-away, project-rename, summarize, sort, top and take', 'for anything else write mv-expand, and operators behind it'); // prettier-ignore
  const items = hasItems(columns, at);
  if (!inner.stages.some(({ kind }) => SEVERAL.includes(kind)))
    return { stages: [items, ...expansion.stages, ...inner.stages], scope: inner.scope };
  const isFolded = inner.stages.some(({ kind }) => kind === 'summarize');
  // What an item took the name of is there again once the items are put together.
  const kept = columns.filter(
    ({ name, node }) => isFolded && (names.scope.columns.has(name) || (node.kind === 'column' && node.name === name)),
  );
  const saved = kept.map(({ name }): Column => ({ name: before(name), node: analyze({ kind: 'name', at, name }, names) }));
  const restored = kept.filter(({ name }) => !inner.scope.columns.has(name));
  const left = columns.filter((each) => isFolded && !kept.includes(each) && !inner.scope.columns.has(each.name)).map(({ name }) => name);
  const numbered: Stage = { kind: 'extend', columns: [{ name: ROW, node: applyNamed('row_number', at) }, ...saved] };
  const pairs = restored.map(({ name }) => ({ from: before(name), to: name, type: typeOf(names.scope, name)! }));
  return {
    stages: [
      items, numbered, ...expansion.stages, ...inner.stages.flatMap((stage) => withinRow(stage, at)),
      ...(pairs.length === 0 ? [] : [{ kind: 'rename', pairs } as const]), without(ROW, ...saved.map(({ name }) => name), ...left),
    ],
    scope: isFolded ? foldedScope(names.scope, inner.scope) : inner.scope,
  }; // prettier-ignore
}

/** The columns of the row, then those that the items made. */
const foldedScope = (outer: Scope, inner: Scope): Scope => extended(outer, [...inner.columns].map(([name, type]) => ({ name, node: column(name, type) }))); // prettier-ignore

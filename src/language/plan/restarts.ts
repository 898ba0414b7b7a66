/** row_number and row_cumsum that begin anew: a condition becomes the number of the part that each row is in, in columns before theirs. */
import { FUNCTIONS } from '../functions/table.ts';
import {
  constantNode,
  mapCalls,
  numberedName,
  type CallNode,
  type Column,
  type Node,
  type QueryStage,
} from './tree.ts';

const columnNode = (name: string): Node => ({ kind: 'column', type: 'int', name });
const int = (value: bigint): Node => constantNode({ type: 'int', value });

/** A call of the function, in the place of another. */
const applyAt = (name: string, { at }: CallNode, args: readonly Node[]): Node => {
  const spec = FUNCTIONS.get(name)!;
  return { kind: 'apply', type: 'int', spec, args, at, places: args.map(() => at) };
};

export interface Restarted {
  /** Makes the parts, and leaves them out again. */
  readonly before: readonly QueryStage[];
  readonly columns: readonly Column[];
  readonly after: readonly QueryStage[];
}

const RESTARTING: ReadonlySet<string> = new Set(['row_number', 'row_cumsum']);

export function withRestarts(columns: readonly Column[]): Restarted {
  const [conditions, parts]: [Column[], Column[]] = [[], []];
  const rewrite = (call: CallNode): Node => {
    const [value, condition] = call.args;
    if (!RESTARTING.has(call.spec.name) || !condition) return call;
    const [isFirst, part] = [numberedName('restart', conditions.length), numberedName('part', conditions.length)];
    conditions.push({ name: isFirst, node: applyAt('iff', call, [condition, int(1n), int(0n)]) });
    parts.push({ name: part, node: applyAt('row_cumsum', call, [columnNode(isFirst)]) });
    return { ...call, args: [value!, columnNode(part)] };
  };
  const rewritten = columns.map((column) => ({ ...column, node: mapCalls(column.node, rewrite) }));
  if (parts.length === 0) return { before: [], columns, after: [] };
  const names = [...conditions, ...parts].map(({ name }) => ({ text: name, prefix: false }));
  return {
    before: [
      { kind: 'extend', columns: conditions },
      { kind: 'extend', columns: parts },
    ],
    columns: rewritten,
    after: [{ kind: 'remove', names }],
  };
}

/** Functions that look at other rows: where they may stand. */
import { WINDOWS } from '../../../../language/functions/windows.ts';
import type { Node } from '../../../../language/plan/tree.ts';
import { AplError } from '../../../../language/syntax/apl-error.ts';

/** The first use of such a function in an expression. */
function findWindow(node: Node): (Node & { readonly kind: 'apply' }) | undefined {
  if (node.kind === 'item') return findWindow(node.object);
  if (node.kind !== 'apply') return undefined;
  return Object.hasOwn(WINDOWS, node.spec.name) ? node : node.args.map(findWindow).find((found) => found !== undefined);
}

/** Whether it uses such a function. Throws where one stands in another, which is no column yet. */
export function usesWindow(node: Node): boolean {
  if (node.kind === 'item') return usesWindow(node.object);
  if (node.kind !== 'apply') return false;
  if (!Object.hasOwn(WINDOWS, node.spec.name)) return node.args.map(usesWindow).includes(true);
  refuseWindows(node.args, node.spec.name);
  return true;
}

/** They are computed for all rows at once, so they cannot decide on rows or groups. */
export function refuseWindows(nodes: readonly Node[], operator: string): void {
  const found = nodes.map(findWindow).find((node) => node !== undefined);
  if (!found) return;
  const { at, spec } = found;
  throw new AplError('meaning', at, `${spec.name} cannot stand in ${operator}: make a column of it with extend, and use that`);
}

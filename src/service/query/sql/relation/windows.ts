/** Functions that look at other rows: where they are allowed. */
import { WINDOWS } from '../../../../language/functions/windows/spec.ts';
import { callsIn, type Node } from '../../../../language/plan/tree.ts';
import { meaningError } from '../../../../language/syntax/apl-error.ts';

const windowsIn = (node: Node) => callsIn(node, (name) => Object.hasOwn(WINDOWS, name));

/** Whether it uses such a function. Throws where one is inside another, which is no column yet. */
export function usesWindow(node: Node): boolean {
  const found = windowsIn(node);
  for (const { args, spec } of found) refuseWindows(args, spec.name);
  return found.length > 0;
}

/** They are computed for all rows at once, so they cannot decide on rows or groups. */
export function refuseWindows(nodes: readonly Node[], operator: string): void {
  const [found] = nodes.flatMap(windowsIn);
  if (!found) return;
  const { at, spec } = found;
  throw meaningError(at, `${spec.name} cannot stand in ${operator}: make a column of it with extend, and use that`);
}

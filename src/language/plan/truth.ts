/** Conditions that are the same for every row. */
import type { Node } from './tree.ts';

/** The constant value of a condition, as far as its literals show. */
export function truth(node: Node): boolean | undefined {
  if (node.kind === 'constant')
    return node.type === 'bool' && node.constant.value !== null ? node.constant.value === true : undefined;
  if (node.kind !== 'apply') return undefined;
  const parts = node.args.map(truth);
  switch (node.spec.name) {
    case 'and':
      return parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
    case 'or':
      return parts.includes(true) ? true : parts.includes(undefined) ? undefined : false;
    case 'not':
      return parts[0] === undefined ? undefined : !parts[0];
    case '==': {
      const [a, b] = node.args;
      if (a?.kind !== 'constant' || b?.kind !== 'constant' || a.constant.value === null || b.constant.value === null)
        return undefined;
      return a.constant.value === b.constant.value;
    }
    default:
      return undefined;
  }
}

/** What a typed tree is made of: the fields that it reads, the functions that it uses. */
import type { Node, Stage } from '../../language/plan/tree.ts';

/** Names of the fields that an expression reads; undefined for all. */
export function fieldsRead(node: Node): readonly string[] | undefined {
  switch (node.kind) {
    case 'constant':
    case 'scalar':
    case 'among':
      return [];
    case 'column':
      return [node.name];
    case 'everything':
      return undefined;
    case 'item':
      return merged([node.object, ...(typeof node.key === 'object' ? [node.key] : [])]);
    case 'apply':
      return merged(node.args);
  }
}

function merged(nodes: readonly Node[]): readonly string[] | undefined {
  const all = nodes.map(fieldsRead);
  return all.includes(undefined) ? undefined : all.flatMap((names) => names ?? []);
}

/** Whether the expression uses one of the functions. */
export function usesFunction(node: Node, names: ReadonlySet<string>): boolean {
  if (node.kind === 'apply') return names.has(node.spec.name) || node.args.some((arg) => usesFunction(arg, names));
  if (node.kind !== 'item') return false;
  return usesFunction(node.object, names) || (typeof node.key === 'object' && usesFunction(node.key, names));
}

/** The arguments of each call of the function. */
export function callsOf(node: Node, name: string): readonly (readonly Node[])[] {
  if (node.kind === 'apply') return [...(node.spec.name === name ? [node.args] : []), ...node.args.flatMap((arg) => callsOf(arg, name))];
  if (node.kind !== 'item') return [];
  return [...callsOf(node.object, name), ...(typeof node.key === 'object' ? callsOf(node.key, name) : [])];
}

/** The expressions of a stage of one row. */
export function expressionsOf(stage: Stage): readonly Node[] {
  switch (stage.kind) {
    case 'where':
      return [stage.condition];
    case 'extend':
    case 'project':
    case 'expand':
      return stage.columns.map(({ node }) => node);
    case 'sample':
    case 'throttle':
    case 'dedupe':
      return stage.by;
    case 'route':
      return [stage.dataset];
    default:
      return [];
  }
}

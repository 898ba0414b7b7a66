/** Walks a typed tree for the fields that it reads and the functions that it uses. */
import { FUNCTIONS } from '../../language/functions/table.ts';
import { callsIn, nodesIn, type Node, type QueryStage } from '../../language/plan/tree.ts';

/** Functions that hide a part or all of a text. */
export const HIDING: ReadonlySet<string> = new Set(
  [...FUNCTIONS.values()].flatMap(({ name, hides }) => (hides ? [name] : [])),
);

/** Names of the fields that an expression reads; undefined for all. */
export function fieldsRead(node: Node): readonly string[] | undefined {
  const nodes = nodesIn(node);
  if (nodes.some(({ kind }) => kind === 'everything')) return undefined;
  return nodes.flatMap((part) => (part.kind === 'column' ? [part.name] : []));
}

export const usesFunction = (node: Node, names: ReadonlySet<string>): boolean =>
  callsIn(node, (name) => names.has(name)).length > 0;

/** The arguments of each call of the function. */
export const callsOf = (node: Node, wanted: string): readonly (readonly Node[])[] =>
  callsIn(node, (name) => name === wanted).map(({ args }) => args);

export function expressionsOf(stage: QueryStage): readonly Node[] {
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

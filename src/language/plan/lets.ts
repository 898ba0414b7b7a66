/** What `let` gave names to: values, tables and functions; and the bound on what a text may grow to through them. */
import { SERVICE_QUERY_NODES, SERVICE_QUERY_SUBQUERIES } from '../limits.ts';
import { AplError } from '../syntax/apl-error.ts';
import type { Expression, Pipeline } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import type { Node, Tree } from './tree.ts';

export interface LetTable {
  readonly kind: 'table';
  readonly tree: Tree;
}

export interface LetFunction {
  readonly kind: 'function';
  readonly parameters: readonly { readonly name: string; readonly type: Type; readonly fallback: Expression | undefined }[];
  readonly body: { readonly value: Expression } | { readonly pipeline: Pipeline };
  /** What its body may use: what was there before it. */
  readonly lets: Lets;
}

export type Bound = Node | LetTable | LetFunction;
export type Lets = ReadonlyMap<string, Bound>;

const weights = new WeakMap<Node, number>();

/** How many parts the expression has when all that it repeats is written out. */
function weightOf(node: Node): number {
  const known = weights.get(node);
  if (known !== undefined) return known;
  const parts = node.kind === 'apply' ? node.args : node.kind === 'item' ? [node.object, ...(typeof node.key === 'object' ? [node.key] : [])] : node.kind === 'among' ? [node.value] : [];
  const weight = parts.reduce((sum, part) => sum + weightOf(part), 1);
  weights.set(node, weight);
  return weight;
} // prettier-ignore

/** The node, unless names of `let` made it too large. */
export function boundedNode(node: Node, at: number): Node {
  if (weightOf(node) > SERVICE_QUERY_NODES)
    throw new AplError('meaning', at, `with what let stands for, the query has more than ${SERVICE_QUERY_NODES} parts`);
  return node;
}

/** The tree, unless it is made of too many queries. */
export function boundedTree(tree: Tree, at: number): Tree {
  if (tree.weight > SERVICE_QUERY_SUBQUERIES)
    throw new AplError('meaning', at, `the query is made of more than ${SERVICE_QUERY_SUBQUERIES} queries, those of let counted each time`);
  return tree;
}

/** How many queries stand in an expression. */
export function queriesIn(node: Node): number {
  switch (node.kind) {
    case 'scalar':
      return node.query.weight;
    case 'among':
      return node.query.weight + queriesIn(node.value);
    case 'apply':
      return node.args.reduce((sum, arg) => sum + queriesIn(arg), 0);
    case 'item':
      return queriesIn(node.object);
    default:
      return 0;
  }
}

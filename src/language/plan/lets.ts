/** What `let` gave names to: values, tables and functions; and the bound on what a text may grow to through them. */
import { SERVICE_QUERY_NODES, SERVICE_QUERY_SUBQUERIES } from '../limits.ts';
import { AplError } from '../syntax/apl-error.ts';
import type { Expression, Pipeline } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import { nodesIn, partsOf, type Node, type Tree } from './tree.ts';

export interface LetTable {
  readonly kind: 'table';
  readonly tree: Tree;
}

export interface LetFunction {
  readonly kind: 'function';
  readonly parameters: readonly { readonly name: string; readonly type: Type; readonly fallback: Expression | undefined }[];
  /** Statements of `let` before its value. */
  readonly inner: readonly LetText[];
  readonly body: { readonly value: Expression } | { readonly pipeline: Pipeline };
  /** A search of everything looks through it, too. */
  readonly isView: boolean;
  /** What its body may use: what was there before it. */
  readonly lets: Lets;
}

/** A statement as it was read. */
export type LetText =
  | { readonly kind: 'value'; readonly name: string; readonly value: Expression }
  | { readonly kind: 'parameter'; readonly name: string; readonly at: number; readonly fallback: Expression | undefined }
  | { readonly kind: 'table'; readonly name: string; readonly pipeline: Pipeline }
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly isView: boolean;
      readonly parameters: LetFunction['parameters'];
      readonly inner: readonly LetText[];
      readonly body: LetFunction['body'];
    };

export type Bound = Node | LetTable | LetFunction;
export type Lets = ReadonlyMap<string, Bound>;

const weights = new WeakMap<Node, number>();

/** How many parts the expression has when all that it repeats is written out. */
function weightOf(node: Node): number {
  const known = weights.get(node);
  if (known !== undefined) return known;
  const weight = partsOf(node).reduce((sum, part) => sum + weightOf(part), 1);
  weights.set(node, weight);
  return weight;
}

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
export const queriesIn = (node: Node): number =>
  nodesIn(node).reduce((sum, part) => sum + (part.kind === 'scalar' || part.kind === 'among' ? part.query.weight : 0), 0);

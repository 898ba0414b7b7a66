/** Names bound by `let`: values, tables and functions; and the bound on how far a text may grow through them. */
import { SERVICE_QUERY_LET_DEPTH, SERVICE_QUERY_NODES, SERVICE_QUERY_SUBQUERIES } from '../limits.ts';
import { meaningError } from '../syntax/apl-error.ts';
import type { Expression, Pipeline } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import { nodesIn, partsOf, type Node, type Tree } from './tree.ts';

export interface LetTable {
  readonly kind: 'table';
  readonly tree: Tree;
}

export interface LetFunction {
  readonly kind: 'function';
  readonly parameters: readonly {
    readonly name: string;
    readonly type: Type;
    readonly fallback: Expression | undefined;
  }[];
  /** Statements of `let` before its value. */
  readonly inner: readonly LetText[];
  readonly body: { readonly value: Expression } | { readonly pipeline: Pipeline };
  /** A search of everything looks through it, too. */
  readonly isView: boolean;
  /** The names that its body may use: those before it. */
  readonly lets: Lets;
}

/** A statement as it was read. */
export type LetText =
  | { readonly kind: 'value'; readonly name: string; readonly value: Expression }
  | {
      readonly kind: 'parameter';
      readonly name: string;
      readonly at: number;
      readonly fallback: Expression | undefined;
    }
  | { readonly kind: 'table'; readonly name: string; readonly pipeline: Pipeline }
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly isView: boolean;
      readonly parameters: LetFunction['parameters'];
      readonly inner: readonly LetText[];
      readonly body: LetFunction['body'];
    };

export type LetBinding = Node | LetTable | LetFunction;
export type Lets = ReadonlyMap<string, LetBinding>;

interface Size {
  readonly parts: number;
  readonly depth: number;
}

const sizes = new WeakMap<Node, Size>();

/** How many parts the expression has, and how deep they are nested, when all that it repeats is written out. */
function sizeOf(node: Node): Size {
  const known = sizes.get(node);
  if (known !== undefined) return known;
  const inner = partsOf(node).map(sizeOf);
  const size = {
    parts: inner.reduce((sum, { parts }) => sum + parts, 1),
    depth: inner.reduce((deepest, { depth }) => Math.max(deepest, depth), 0) + 1,
  };
  sizes.set(node, size);
  return size;
}

/** The node, unless names of `let` made it too large, or too deep for the stack of those who walk it. */
export function boundedNode(node: Node, at: number): Node {
  const { parts, depth } = sizeOf(node);
  const bound =
    parts > SERVICE_QUERY_NODES
      ? `has more than ${SERVICE_QUERY_NODES} parts`
      : depth > SERVICE_QUERY_LET_DEPTH
        ? `is nested deeper than ${SERVICE_QUERY_LET_DEPTH}`
        : undefined;
  if (bound !== undefined) throw meaningError(at, `with what let stands for, the query ${bound}`);
  return node;
}

/** The tree, unless it is made of too many queries. */
export function boundedTree(tree: Tree, at: number): Tree {
  if (tree.weight > SERVICE_QUERY_SUBQUERIES)
    throw meaningError(
      at,
      `the query is made of more than ${SERVICE_QUERY_SUBQUERIES} queries, those of let counted each time`,
    );
  return tree;
}

/** Counts the queries in an expression. */
export const queriesIn = (node: Node): number =>
  nodesIn(node).reduce(
    (sum, part) => sum + (part.kind === 'scalar' || part.kind === 'among' ? part.query.weight : 0),
    0,
  );

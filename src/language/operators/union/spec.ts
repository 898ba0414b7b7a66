/** union: the rows of several queries, one after the other. */
import { boundedTree } from '../../plan/lets.ts';
import { withColumn, merged } from '../../plan/scope.ts';
import type { Tree } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Pipeline } from '../../syntax/tree.ts';
import { operator, type Operator } from '../../plan/operator.ts';

export interface UnionText {
  readonly tables: readonly Pipeline[];
  readonly inner: boolean;
  readonly source: string | undefined;
}

/** What follows the word union. */
export function readUnion(parser: Parser): UnionText {
  let inner = false;
  let source: string | undefined;
  for (;;) {
    if (parser.option('kind')) inner = parser.word(['inner', 'outer'], 'a kind') === 'inner';
    else if (parser.option('withsource') || parser.option('withSource')) {
      if (parser.token.kind !== 'name') throw parser.unexpected('a name for the column of sources');
      source = parser.take().text;
    } else if (parser.option('isfuzzy')) {
      const { at } = parser.token;
      const fix = "a pattern such as ['app-*'] leaves out the datasets that are not there";
      if (!parser.accept('false')) throw meaningError(at, 'isfuzzy=true is not supported', fix);
    } else return { tables: parser.list(() => parser.subqueries!.table()), inner, source };
  }
}

/** Several trees as one. */
export function unionOf(
  first: Tree,
  others: readonly Tree[],
  inner: boolean,
  source: string | undefined,
  at: number,
): Tree {
  if (others.length === 0 && source === undefined) return first;
  const all = [first, ...others];
  const scope = merged(
    all.map((tree) => tree.scope),
    inner,
  );
  const tree: Tree = {
    source: first.source,
    stages: [...first.stages, { kind: 'union', others, inner, source }],
    scope: source === undefined ? scope : withColumn(scope, source, 'string'),
    weight: all.reduce((sum, { weight }) => sum + weight, 0),
  };
  return boundedTree(tree, at);
}

export const UNION: readonly Operator[] = [
  operator({
    names: ['union'],
    only: 'queries',
    syntax: 'union [kind=inner | kind=outer] [withsource=<name>] <table>, …',
    doc: "Puts the rows of all tables together, the newest first. A table is a dataset (`['app-*']` for all that match and that the token may read), a `let`, or a query in parentheses. `kind=inner` keeps the columns that all have.",
    read: (parser, at) => ({ at, ...readUnion(parser) }),
    plan({ at, tables, inner, source }, names) {
      const others = tables.map((table) => names.plan!(table, names.lets));
      const own: Tree = { source: { kind: 'datasets', names: [] }, stages: [], scope: names.scope, weight: 1 };
      const { stages, scope } = unionOf(own, others, inner, source, at);
      return { stages, scope };
    },
  }),
];

/** Operators that choose rows and their order: where, sort, top, take. */
import { analyze } from '../../plan/analysis.ts';
import { closed } from '../../plan/scope.ts';
import type { SortKey } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readExpression } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import { fieldNameOf, type Expression } from '../../syntax/tree.ts';
import { conditionOf, type Operator, operator } from '../../plan/operator.ts';
import type { NameScope } from '../../plan/analysis.ts';

interface OrderKey {
  readonly value: Expression;
  readonly desc: boolean;
  readonly nullsFirst: boolean;
}

/** `expression [asc | desc] [nulls first | nulls last]`. */
/** `asc` or `desc`, which is the default. */
export const readsDown = (parser: Parser): boolean => !parser.accept('asc') && (parser.accept('desc'), true);

function readOrdering(parser: Parser): OrderKey {
  const value = readExpression(parser);
  const desc = readsDown(parser);
  let nullsFirst = !desc;
  if (parser.accept('nulls')) {
    nullsFirst = parser.accept('first');
    if (!nullsFirst) parser.expect('last', 'or "first" after nulls');
  }
  return { value, desc, nullsFirst };
}

function sortKeys(orderings: readonly OrderKey[], names: NameScope): SortKey[] {
  return orderings.map(({ value, desc, nullsFirst }) => ({
    node: analyze(value, names),
    name: fieldNameOf(value) ?? '',
    desc,
    nullsFirst,
  }));
}

/** A number, or the name of `let` for one. */
export type RowCount = number | Expression;
export const readCount = (parser: Parser, wanted: string): RowCount =>
  parser.token.kind === 'name' ? readExpression(parser) : parser.count(wanted);

export function countOf(count: RowCount, names: NameScope): number {
  if (typeof count === 'number') return count;
  const node =
    count.kind === 'name' && !names.lets.has(count.name) ? undefined : analyze(count, { ...names, scope: closed([]) });
  const value = node?.kind === 'constant' && node.type === 'int' ? (node.constant.value as bigint | null) : null;
  if (value === null || value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER))
    throw meaningError(count.at, 'wanted a number of rows here, or the name of a let that is one');
  return Number(value);
}

export const ROWS: readonly Operator[] = [
  operator({
    names: ['where', 'filter'],
    syntax: 'where <condition>',
    doc: 'Keeps the rows for which the condition is true.',
    read(parser) {
      const condition = readExpression(parser);
      if (parser.is('=')) throw parser.unexpected('== to compare');
      return condition;
    },
    plan: (condition, names) => ({
      stages: [{ kind: 'where', condition: conditionOf(condition, names) }],
      scope: names.scope,
    }),
  }),
  operator({
    names: ['sort', 'order'],
    only: 'queries',
    syntax: 'sort by <expression> [asc | desc] [nulls first | nulls last], …',
    doc: 'Orders the rows; descending unless asc is given. Nulls come first in asc and last in desc, unless said otherwise.',
    read(parser) {
      parser.expect('by', 'after sort');
      return parser.list(() => readOrdering(parser));
    },
    plan: (orderings, names) => ({ stages: [{ kind: 'sort', keys: sortKeys(orderings, names) }], scope: names.scope }),
  }),
  operator({
    names: ['top'],
    only: 'queries',
    syntax: 'top <count> by <expression> [asc | desc], …',
    doc: 'Keeps the first rows of that order.',
    read(parser) {
      const count = readCount(parser, 'a number of rows after top');
      parser.expect('by', 'after the number of rows');
      return { count, orderings: parser.list(() => readOrdering(parser)) };
    },
    plan: ({ count, orderings }, names) => ({
      stages: [
        { kind: 'sort', keys: sortKeys(orderings, names) },
        { kind: 'limit', count: countOf(count, names), exactly: true },
      ],
      scope: names.scope,
    }),
  }),
  operator({
    names: ['take', 'limit'],
    only: 'queries',
    syntax: 'take <count>',
    doc: 'Keeps at most that many rows: of events the newest, unless they are sorted. After summarize by a bin of _time, that many groups.',
    read: (parser) => readCount(parser, 'a number of rows after take'),
    plan: (count, names) => ({
      stages: [{ kind: 'limit', count: countOf(count, names), exactly: false }],
      scope: names.scope,
    }),
  }),
];

/** All operators by name. One more is one more entry here. */
import { COLUMNS } from './columns.ts';
import { EXPAND } from './expand.ts';
import { FLOW } from './flow.ts';
import { JOIN } from './join.ts';
import type { Operator } from './operator.ts';
import { PARSE } from './parse.ts';
import { ROWS } from './rows.ts';
import { SERIES } from './series.ts';
import { SEARCH } from './search.ts';
import { SHAPE } from './shape.ts';
import { SUMMARIZE } from './summarize.ts';
import { TOP_NESTED } from './top-nested.ts';
import { UNION } from './union.ts';

export const QUERY_OPERATORS: readonly Operator[] = [
  ...ROWS,
  ...COLUMNS,
  ...PARSE,
  ...EXPAND,
  ...FLOW,
  ...SUMMARIZE,
  ...SERIES,
  ...TOP_NESTED,
  ...JOIN,
  ...UNION,
  ...SEARCH,
  ...SHAPE,
];
export const OPERATORS_BY_NAME: ReadonlyMap<string, Operator> = new Map(
  QUERY_OPERATORS.flatMap((operator) => operator.names.map((name) => [name, operator] as const)),
);

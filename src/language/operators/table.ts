/** All operators by name. One more is one more entry here. */
import { COLUMNS } from './columns.ts';
import { EXPAND } from './expand.ts';
import { FLOW } from './flow.ts';
import type { Operator } from './operator.ts';
import { PARSE } from './parse.ts';
import { ROWS } from './rows.ts';
import { SUMMARIZE } from './summarize.ts';

export const QUERY_OPERATORS: readonly Operator[] = [...ROWS, ...COLUMNS, ...PARSE, ...EXPAND, ...FLOW, ...SUMMARIZE];
export const OPERATORS_BY_NAME: ReadonlyMap<string, Operator> = new Map(
  QUERY_OPERATORS.flatMap((operator) => operator.names.map((name) => [name, operator] as const)),
);

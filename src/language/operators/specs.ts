/** Every operator. Written by scripts/generate.ts. */
import { ROWS } from './rows/spec.ts';
import { COLUMNS } from './columns/spec.ts';
import { PARSE } from './parse/spec.ts';
import { EXPAND } from './expand/spec.ts';
import { FLOW } from './flow/spec.ts';
import { SUMMARIZE } from './summarize/spec.ts';
import { SERIES } from './series/spec.ts';
import { TOP_NESTED } from './top-nested/spec.ts';
import { JOIN } from './join/spec.ts';
import { UNION } from './union/spec.ts';
import { SEARCH } from './search/spec.ts';
import { SHAPE } from './shape/spec.ts';

export const OPERATOR_SPECS = [
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

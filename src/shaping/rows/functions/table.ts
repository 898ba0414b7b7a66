/** How each function of the language is computed of a row. */
import type { ScalarName } from '../../../language/functions/table.ts';
import type { Build } from '../call/call.ts';
import { ARITHMETIC_ROWS, ROUNDING_ROWS } from './arithmetic.ts';
import { ARRAY_ROWS } from './arrays.ts';
import { BAG_ROWS } from './bags.ts';
import { COMPARISON_ROWS } from './comparisons.ts';
import { CONDITIONAL_ROWS, CONVERSION_ROWS } from './conversions.ts';
import { DATETIME_ROWS } from './datetimes.ts';
import { HIDING_ROWS } from './hiding.ts';
import { MATH_ROWS } from './math.ts';
import { NETWORK_ROWS } from './network.ts';
import { STRING_ROWS } from './strings.ts';
import { TEXT_MATCHING_ROWS } from './text-matching.ts';
import { WINDOW_ROWS } from './windows.ts';

export const SCALAR_ROWS: Readonly<Record<ScalarName, Build>> = {
  ...COMPARISON_ROWS,
  ...TEXT_MATCHING_ROWS,
  ...ARITHMETIC_ROWS,
  ...CONDITIONAL_ROWS,
  ...CONVERSION_ROWS,
  ...STRING_ROWS,
  ...DATETIME_ROWS,
  ...ROUNDING_ROWS,
  ...MATH_ROWS,
  ...HIDING_ROWS,
  ...NETWORK_ROWS,
  ...ARRAY_ROWS,
  ...BAG_ROWS,
  ...WINDOW_ROWS,
};

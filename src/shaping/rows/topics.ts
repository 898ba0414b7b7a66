/** Every function of one row. Written by scripts/generate.ts. */
import { COMPARISONS_ROWS } from '../../language/functions/comparisons/rows.ts';
import { TEXT_MATCHING_ROWS } from '../../language/functions/text-matching/rows.ts';
import { ARITHMETIC_ROWS } from '../../language/functions/arithmetic/rows.ts';
import { CONDITIONALS_ROWS } from '../../language/functions/conditionals/rows.ts';
import { CONVERSIONS_ROWS } from '../../language/functions/conversions/rows.ts';
import { STRINGS_ROWS } from '../../language/functions/strings/rows.ts';
import { DATETIMES_ROWS } from '../../language/functions/datetimes/rows.ts';
import { ROUNDING_ROWS } from '../../language/functions/rounding/rows.ts';
import { MATH_ROWS } from '../../language/functions/math/rows.ts';
import { SIZES_ROWS } from '../../language/functions/sizes/rows.ts';
import { NETWORK_ROWS } from '../../language/functions/network/rows.ts';
import { ARRAYS_ROWS } from '../../language/functions/arrays/rows.ts';
import { SERIES_ROWS } from '../../language/functions/series/rows.ts';
import { BAGS_ROWS } from '../../language/functions/bags/rows.ts';
import { HIDING_ROWS } from '../../language/functions/hiding/rows.ts';

export const FUNCTIONS_ROWS = {
  ...COMPARISONS_ROWS,
  ...TEXT_MATCHING_ROWS,
  ...ARITHMETIC_ROWS,
  ...CONDITIONALS_ROWS,
  ...CONVERSIONS_ROWS,
  ...STRINGS_ROWS,
  ...DATETIMES_ROWS,
  ...ROUNDING_ROWS,
  ...MATH_ROWS,
  ...SIZES_ROWS,
  ...NETWORK_ROWS,
  ...ARRAYS_ROWS,
  ...SERIES_ROWS,
  ...BAGS_ROWS,
  ...HIDING_ROWS,
};

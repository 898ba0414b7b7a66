/** The SQL of every function. Written by scripts/generate.ts. */
import { COMPARISONS_SQL } from '../../../language/functions/comparisons/sql.ts';
import { TEXT_MATCHING_SQL } from '../../../language/functions/text-matching/sql.ts';
import { ARITHMETIC_SQL } from '../../../language/functions/arithmetic/sql.ts';
import { CONDITIONALS_SQL } from '../../../language/functions/conditionals/sql.ts';
import { CONVERSIONS_SQL } from '../../../language/functions/conversions/sql.ts';
import { STRINGS_SQL } from '../../../language/functions/strings/sql.ts';
import { DATETIMES_SQL } from '../../../language/functions/datetimes/sql.ts';
import { ROUNDING_SQL } from '../../../language/functions/rounding/sql.ts';
import { MATH_SQL } from '../../../language/functions/math/sql.ts';
import { SIZES_SQL } from '../../../language/functions/sizes/sql.ts';
import { NETWORK_SQL } from '../../../language/functions/network/sql.ts';
import { ARRAYS_SQL } from '../../../language/functions/arrays/sql.ts';
import { SERIES_SQL } from '../../../language/functions/series/sql.ts';
import { BAGS_SQL } from '../../../language/functions/bags/sql.ts';
import { WINDOWS_SQL } from '../../../language/functions/windows/sql.ts';
import { HIDING_SQL } from '../../../language/functions/hiding/sql.ts';

export const FUNCTIONS_SQL = {
  ...COMPARISONS_SQL,
  ...TEXT_MATCHING_SQL,
  ...ARITHMETIC_SQL,
  ...CONDITIONALS_SQL,
  ...CONVERSIONS_SQL,
  ...STRINGS_SQL,
  ...DATETIMES_SQL,
  ...ROUNDING_SQL,
  ...MATH_SQL,
  ...SIZES_SQL,
  ...NETWORK_SQL,
  ...ARRAYS_SQL,
  ...SERIES_SQL,
  ...BAGS_SQL,
  ...WINDOWS_SQL,
  ...HIDING_SQL,
};

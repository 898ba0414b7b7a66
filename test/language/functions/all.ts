/** What every function gives, by cases. Written by scripts/generate.ts. */
import { COMPARISONS_CASES } from './comparisons.ts';
import { TEXT_MATCHING_CASES } from './text-matching.ts';
import { ARITHMETIC_CASES } from './arithmetic.ts';
import { CONDITIONALS_CASES } from './conditionals.ts';
import { CONVERSIONS_CASES } from './conversions.ts';
import { STRINGS_CASES } from './strings.ts';
import { DATETIMES_CASES } from './datetimes.ts';
import { ROUNDING_CASES } from './rounding.ts';
import { MATH_CASES } from './math.ts';
import { SIZES_CASES } from './sizes.ts';
import { NETWORK_CASES } from './network.ts';
import { ARRAYS_CASES } from './arrays.ts';
import { SERIES_CASES } from './series.ts';
import { BAGS_CASES } from './bags.ts';
import { WINDOWS_CASES } from './windows.ts';
import { HIDING_CASES } from './hiding.ts';

export const CASES = {
  comparisons: COMPARISONS_CASES,
  'text-matching': TEXT_MATCHING_CASES,
  arithmetic: ARITHMETIC_CASES,
  conditionals: CONDITIONALS_CASES,
  conversions: CONVERSIONS_CASES,
  strings: STRINGS_CASES,
  datetimes: DATETIMES_CASES,
  rounding: ROUNDING_CASES,
  math: MATH_CASES,
  sizes: SIZES_CASES,
  network: NETWORK_CASES,
  arrays: ARRAYS_CASES,
  series: SERIES_CASES,
  bags: BAGS_CASES,
  windows: WINDOWS_CASES,
  hiding: HIDING_CASES,
};

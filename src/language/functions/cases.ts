/** What every function gives, by cases. Written by scripts/generate.ts. */
import { COMPARISONS_CASES } from './comparisons/cases.ts';
import { TEXT_MATCHING_CASES } from './text-matching/cases.ts';
import { ARITHMETIC_CASES } from './arithmetic/cases.ts';
import { CONDITIONALS_CASES } from './conditionals/cases.ts';
import { CONVERSIONS_CASES } from './conversions/cases.ts';
import { STRINGS_CASES } from './strings/cases.ts';
import { DATETIMES_CASES } from './datetimes/cases.ts';
import { ROUNDING_CASES } from './rounding/cases.ts';
import { MATH_CASES } from './math/cases.ts';
import { SIZES_CASES } from './sizes/cases.ts';
import { NETWORK_CASES } from './network/cases.ts';
import { ARRAYS_CASES } from './arrays/cases.ts';
import { SERIES_CASES } from './series/cases.ts';
import { BAGS_CASES } from './bags/cases.ts';
import { WINDOWS_CASES } from './windows/cases.ts';
import { HIDING_CASES } from './hiding/cases.ts';

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

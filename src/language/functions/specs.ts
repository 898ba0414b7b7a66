/** What every function takes and gives. Written by scripts/generate.ts. */
import { COMPARISONS } from './comparisons/spec.ts';
import { TEXT_MATCHING } from './text-matching/spec.ts';
import { ARITHMETIC } from './arithmetic/spec.ts';
import { CONDITIONALS } from './conditionals/spec.ts';
import { CONVERSIONS } from './conversions/spec.ts';
import { STRINGS } from './strings/spec.ts';
import { DATETIMES } from './datetimes/spec.ts';
import { ROUNDING } from './rounding/spec.ts';
import { MATH } from './math/spec.ts';
import { SIZES } from './sizes/spec.ts';
import { NETWORK } from './network/spec.ts';
import { ARRAYS } from './arrays/spec.ts';
import { SERIES } from './series/spec.ts';
import { BAGS } from './bags/spec.ts';
import { WINDOWS } from './windows/spec.ts';
import { HIDING } from './hiding/spec.ts';

export const SPECS = {
  comparisons: COMPARISONS,
  'text-matching': TEXT_MATCHING,
  arithmetic: ARITHMETIC,
  conditionals: CONDITIONALS,
  conversions: CONVERSIONS,
  strings: STRINGS,
  datetimes: DATETIMES,
  rounding: ROUNDING,
  math: MATH,
  sizes: SIZES,
  network: NETWORK,
  arrays: ARRAYS,
  series: SERIES,
  bags: BAGS,
  windows: WINDOWS,
  hiding: HIDING,
};

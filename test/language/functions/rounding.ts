/** What bins give. */
import type { FunctionCases } from '../function-cases.ts';
import type { ROUNDING } from '../../../src/language/functions/rounding/spec.ts';

export const ROUNDING_CASES: FunctionCases<typeof ROUNDING> = {
  bin: [['-1, 10', -10], ['n, 10', 40], ['f, 1', 2], ['90s, 1m', '1m0s'], ['_time, 1h', '2026-03-04T05:00:00Z'],
    ['datetime(1969-12-31 23:59:59), 1h', '1969-12-31T23:00:00Z'], ['dur, 1s', '1s'], ['-7, 5', -10], ['7.5, 0.5', 7.5],
    ['datetime(1969-12-31T23:59:59Z), 1m', '1969-12-31T23:59:00Z']],
  bin_auto: [['bin_auto(datetime(2026-03-04T05:06:07Z)) <= datetime(2026-03-04T05:06:07Z)', true]],
}; // prettier-ignore

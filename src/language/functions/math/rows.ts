/** Functions of numbers. */
import { integerOf } from '../conversions/rows.ts';
import { numberOf } from '../../plan/literals.ts';
import type { MATH } from './spec.ts';
import type { Evaluate, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift2, ofInt, ofNumber, ofReal, ofValue } from '../../../shaping/rows/call/lift.ts';
import { asInt } from '../../../shaping/rows/values/convert.ts';
import { wholeOf, wrap64, type RowValue } from '../../../shaping/rows/values/value.ts';

const byKind = (ints: (value: bigint) => RowValue, reals: (value: number) => RowValue): RowBuild =>
  ofNumber((value) => (typeof value === 'bigint' ? ints(value) : reals(value)));

const same = (value: bigint): bigint => value;

/** Half goes away from zero. */
function round(call: RowCall): Evaluate {
  const digits = numberOf(call, 1, 'a number of digits', -15, 15, 0);
  const factor = 10 ** digits;
  // Plus 0: of what rounds to nothing there is no negative.
  const rounded = (value: number): number =>
    (Math.sign(value) * Math.floor(Math.abs(value) * factor + 0.5)) / factor + 0;
  return byKind((value) => (digits >= 0 ? value : rounded(Number(value))), rounded)(call);
}

/** Nulls are left out; the result is an integer where all that is there are. */
const extreme =
  (better: (a: bigint | number, b: bigint | number) => boolean): RowBuild =>
  (call) => {
    const numbers = Array.from({ length: call.count }, (_, n) => call.number(n));
    return (scope) => {
      let best: bigint | number | null = null;
      let hasReal = false;
      for (const number of numbers) {
        const value = number(scope);
        if (value === null) continue;
        hasReal ||= typeof value === 'number';
        if (best === null || better(value, best)) best = value;
      }
      return best !== null && hasReal ? Number(best) : best;
    };
  };

const shift =
  (by: (value: bigint, count: bigint) => bigint): RowBuild =>
  (call) =>
    lift2(call.int(0), call.int(1), (value, count) => (count < 0n ? null : wrap64(by(value, count % 64n))));

function toHex(call: RowCall): Evaluate {
  const digits = numberOf(call, 1, 'a number of digits', 0, 64, 1);
  return ofValue((value) => {
    const int = typeof value === 'string' ? integerOf(value) : asInt(value);
    return int === null ? null : BigInt.asUintN(64, int).toString(16).padStart(digits, '0');
  })(call);
}

export const MATH_ROWS: RowBuilders<typeof MATH> = {
  abs: byKind((value) => wrap64(value < 0n ? -value : value), Math.abs),
  sign: byKind(
    (value) => (value > 0n ? 1n : value < 0n ? -1n : 0n),
    (value) => (value > 0 ? 1n : value < 0 ? -1n : 0n),
  ),
  floor: byKind(same, (value) => wholeOf(Math.floor(value))),
  ceiling: byKind(same, (value) => wholeOf(Math.ceil(value))),
  round,
  sqrt: ofReal(Math.sqrt),
  exp: ofReal(Math.exp),
  exp2: ofReal((value) => 2 ** value),
  exp10: ofReal((value) => 10 ** value),
  log: ofReal(Math.log),
  log2: ofReal(Math.log2),
  log10: ofReal(Math.log10),
  sin: ofReal(Math.sin),
  cos: ofReal(Math.cos),
  tan: ofReal(Math.tan),
  asin: ofReal(Math.asin),
  acos: ofReal(Math.acos),
  atan: ofReal(Math.atan),
  radians: ofReal((value) => (value / 180) * Math.PI),
  degrees: ofReal((value) => (value / Math.PI) * 180),
  atan2: (call) => lift2(call.real(0), call.real(1), (y, x) => Math.atan2(y, x)),
  pow: (call) => lift2(call.real(0), call.real(1), (base, exponent) => base ** exponent),
  pi: () => () => Math.PI,
  rand: (call) => {
    const below = call.count > 0 ? numberOf(call, 0, 'a whole number', 1, Number.MAX_SAFE_INTEGER) : undefined;
    return (scope) =>
      below === undefined ? scope.context.random() : BigInt(Math.floor(scope.context.random() * below));
  },
  binary_and: (call) => lift2(call.int(0), call.int(1), (a, b) => a & b),
  binary_or: (call) => lift2(call.int(0), call.int(1), (a, b) => a | b),
  binary_xor: (call) => lift2(call.int(0), call.int(1), (a, b) => a ^ b),
  binary_not: ofInt((value) => ~value),
  binary_shift_left: shift((value, count) => value << count),
  binary_shift_right: shift((value, count) => value >> count),
  bitset_count_ones: ofInt((value) => BigInt(BigInt.asUintN(64, value).toString(2).replaceAll('0', '').length)),
  tohex: toHex,
  isnan: ofReal(Number.isNaN),
  isinf: ofReal((value) => Math.abs(value) === Infinity),
  isfinite: ofReal(Number.isFinite),
  isint: ofValue((value) => typeof value === 'bigint' || Number.isInteger(value)),
  min_of: extreme((a, b) => a < b),
  max_of: extreme((a, b) => a > b),
};

/** Functions of numbers. */
import type { MATH } from '../../../language/functions/math.ts';
import type { Build, Builders, Call, Evaluate } from '../call/call.ts';
import { wholeOf, wrap64, type Value } from '../values/value.ts';
import { lift } from './arithmetic.ts';

const real =
  (build: (value: number) => number | boolean): Build =>
  (call) => {
    const number = call.real(0);
    return (scope) => {
      const value = number(scope);
      return value === null ? null : build(value);
    };
  };

const ofNumber =
  (ints: (value: bigint) => Value, reals: (value: number) => Value): Build =>
  (call) => {
    const number = call.number(0);
    return (scope) => {
      const value = number(scope);
      return value === null ? null : typeof value === 'bigint' ? ints(value) : reals(value);
    };
  };

const same = (value: bigint): bigint => value;

/** Half goes away from zero. */
function round(call: Call): Evaluate {
  const digits = call.count === 2 ? Number(call.constant(1).value) : 0;
  if (digits < -15 || digits > 15) throw call.fail(1, 'wanted a number of digits from -15 to 15');
  const factor = 10 ** digits;
  // Plus 0: of what rounds to nothing there is no negative.
  const rounded = (value: number): number => (Math.sign(value) * Math.floor(Math.abs(value) * factor + 0.5)) / factor + 0;
  return ofNumber((value) => (digits >= 0 ? value : rounded(Number(value))), rounded)(call);
}

/** Nulls are left out; the result is an integer where all that is there are. */
const extreme =
  (better: (a: bigint | number, b: bigint | number) => boolean): Build =>
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

const ofInt =
  (build: (value: bigint) => Value): Build =>
  (call) => {
    const number = call.int(0);
    return (scope) => {
      const value = number(scope);
      return value === null ? null : build(value);
    };
  };

const shift =
  (by: (value: bigint, count: bigint) => bigint): Build =>
  (call) =>
    lift(call.int(0), call.int(1), (value, count) => (count < 0n ? null : wrap64(by(value, count % 64n))));

function toHex(call: Call): Evaluate {
  const digits = call.count > 1 ? Number(call.constant(1).value) : 1;
  if (digits < 0 || digits > 64) throw call.fail(1, 'wanted a number of digits from 0 to 64');
  return ofInt((value) => BigInt.asUintN(64, value).toString(16).padStart(digits, '0'))(call);
}

export const MATH_ROWS: Builders<typeof MATH> = {
  abs: ofNumber((value) => wrap64(value < 0n ? -value : value), Math.abs),
  sign: ofNumber((value) => (value > 0n ? 1n : value < 0n ? -1n : 0n), (value) => (value > 0 ? 1n : value < 0 ? -1n : 0n)),
  floor: ofNumber(same, (value) => wholeOf(Math.floor(value))),
  ceiling: ofNumber(same, (value) => wholeOf(Math.ceil(value))),
  round,
  sqrt: real(Math.sqrt),
  exp: real(Math.exp),
  exp2: real((value) => 2 ** value),
  exp10: real((value) => 10 ** value),
  log: real(Math.log),
  log2: real(Math.log2),
  log10: real(Math.log10),
  sin: real(Math.sin),
  cos: real(Math.cos),
  tan: real(Math.tan),
  asin: real(Math.asin),
  acos: real(Math.acos),
  atan: real(Math.atan),
  radians: real((value) => (value / 180) * Math.PI),
  degrees: real((value) => (value / Math.PI) * 180),
  atan2: (call) => lift(call.real(0), call.real(1), (y, x) => Math.atan2(y, x)),
  pow: (call) => lift(call.real(0), call.real(1), (base, exponent) => base ** exponent),
  pi: () => () => Math.PI,
  rand: () => (scope) => scope.context.random(),
  binary_and: (call) => lift(call.int(0), call.int(1), (a, b) => a & b),
  binary_or: (call) => lift(call.int(0), call.int(1), (a, b) => a | b),
  binary_xor: (call) => lift(call.int(0), call.int(1), (a, b) => a ^ b),
  binary_not: ofInt((value) => ~value),
  binary_shift_left: shift((value, count) => value << count),
  binary_shift_right: shift((value, count) => value >> count),
  bitset_count_ones: ofInt((value) => BigInt(BigInt.asUintN(64, value).toString(2).replaceAll('0', '').length)),
  tohex: toHex,
  isnan: real(Number.isNaN),
  isinf: real((value) => Math.abs(value) === Infinity),
  isfinite: real(Number.isFinite),
  isint: (call) => {
    const value = call.value(0);
    return (scope) => typeof value(scope) === 'bigint';
  },
  min_of: extreme((a, b) => a < b),
  max_of: extreme((a, b) => a > b),
}; // prettier-ignore

/** Functions of numbers. Undefined results (the root of -1) are null in replies. */
import { any, first, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import { integerOf } from '../conversions/sql.ts';
import { numberOf } from '../../plan/literals.ts';
import type { MATH } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const real =
  (engine: Sql): SqlBuild =>
  (call) =>
    one('real', sql`${engine}(${call.real(0)})`);

/** Whole numbers become integers, as far as they fit. */
const rounded =
  (engine: Sql): SqlBuild =>
  (call) => {
    const { kind, sql: number } = call.number(0);
    return one('int', kind === 'int' ? number : sql`accurateCastOrNull(${engine}(${number}), 'Int64')`);
  };

/** Half goes away from zero. */
function round(call: SqlCall): SqlValue {
  const { kind, sql: number } = call.number(0);
  const digits = numberOf(call, 1, 'a number of digits', -15, 15, 0);
  if (kind === 'int' && digits >= 0) return one('int', number);
  const factor = sql`pow(10, ${digits})`;
  // Plus 0: of what rounds to nothing there is no negative.
  return one('real', sql`(sign(${number}) * floor(abs(${number}) * ${factor} + 0.5) / ${factor} + 0)`);
}

const check =
  (test: (value: Sql) => Sql): SqlBuild =>
  (call) =>
    one('bool', test(call.real(0)));

const extreme =
  (engine: Sql): SqlBuild =>
  (call) => {
    const numbers = Array.from({ length: call.count }, (_, n) => call.number(n));
    const whole = numbers.every(({ kind }) => kind === 'int');
    const values = numbers.map((number, n) => (whole ? number.sql : call.real(n)));
    // The engine leaves nulls out.
    return one(whole ? 'int' : 'real', sql`${engine}(${list(values)})`);
  };

const bits =
  (engine: Sql): SqlBuild =>
  (call) =>
    one('int', sql`${engine}(${list(Array.from({ length: call.count }, (_, n) => call.int(n)))})`);

const shift =
  (engine: Sql): SqlBuild =>
  (call) =>
    one('int', sql`if(${call.int(1)} >= 0, ${engine}(${call.int(0)}, ${call.int(1)} % 64), null)`);

function toHex(call: SqlCall): SqlValue {
  const digits = numberOf(call, 1, 'a number of digits', 0, 64, 1);
  const { string } = call.value(0).facets;
  const int = string ? first([call.int(0), integerOf(string)]) : call.int(0);
  const text = sql`trimLeft(lower(hex(reinterpretAsUInt64(${int}))), '0')`;
  return one('string', sql`leftPad(${text}, greatest(length(${text}), ${Math.max(digits, 1)}), '0')`);
}

export const MATH_SQL: SqlBuilders<typeof MATH> = {
  abs: (call) => {
    const { kind, sql: number } = call.number(0);
    return one(kind, kind === 'int' ? sql`toInt64(abs(${number}))` : sql`abs(${number})`);
  },
  sign: (call) => one('int', sql`toInt64(sign(${call.number(0).sql}))`),
  floor: rounded(sql`floor`),
  ceiling: rounded(sql`ceil`),
  round,
  sqrt: real(sql`sqrt`),
  exp: real(sql`exp`),
  exp2: real(sql`exp2`),
  exp10: real(sql`exp10`),
  log: real(sql`log`),
  log2: real(sql`log2`),
  log10: real(sql`log10`),
  sin: real(sql`sin`),
  cos: real(sql`cos`),
  tan: real(sql`tan`),
  asin: real(sql`asin`),
  acos: real(sql`acos`),
  atan: real(sql`atan`),
  radians: real(sql`radians`),
  degrees: real(sql`degrees`),
  atan2: (call) => one('real', sql`atan2(${call.real(0)}, ${call.real(1)})`),
  pow: (call) => one('real', sql`pow(${call.real(0)}, ${call.real(1)})`),
  pi: () => oneRequired('real', sql`pi()`),
  rand: (call) => {
    const below = call.count > 0 ? numberOf(call, 0, 'a whole number', 1, Number.MAX_SAFE_INTEGER) : undefined;
    return below === undefined
      ? oneRequired('real', sql`randCanonical()`)
      : oneRequired('int', sql`toInt64(floor(randCanonical() * ${below}))`);
  },
  binary_and: bits(sql`bitAnd`),
  binary_or: bits(sql`bitOr`),
  binary_xor: bits(sql`bitXor`),
  binary_not: bits(sql`bitNot`),
  binary_shift_left: shift(sql`bitShiftLeft`),
  binary_shift_right: shift(sql`bitShiftRight`),
  bitset_count_ones: (call) => one('int', sql`toInt64(bitCount(${call.int(0)}))`),
  tohex: toHex,
  isnan: check((value) => sql`isNaN(${value})`),
  isinf: check((value) => sql`isInfinite(${value})`),
  isfinite: check((value) => sql`isFinite(${value})`),
  isint: (call) => {
    const { int, real: float } = call.value(0).facets;
    return oneRequired(
      'bool',
      any([
        ...(int ? [sql`isNotNull(${int})`] : []),
        ...(float ? [sql`ifNull(isFinite(${float}) and ${float} = trunc(${float}), false)`] : []),
      ]),
    );
  },
  min_of: extreme(sql`least`),
  max_of: extreme(sql`greatest`),
};

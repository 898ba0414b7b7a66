/** + - * / %, of numbers, datetimes and timespans. */
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import { constantValue, one, type SqlValue } from '../../../service/query/values/value.ts';
import type { Constant, Type } from '../../types.ts';
import type { ARITHMETIC } from './spec.ts';
import { added, subtracted } from '../../result-types.ts';
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const MIN_TIME = -2_208_988_800_000_000_000n;

/** A datetime of ns, null where it cannot be held. `ns` is an Int128. */
export function timeOf(call: SqlCall, ns: Sql): SqlValue {
  const [low, high] = [call.params.int(MIN_TIME), call.params.int(2n ** 63n - 1n)];
  return one(
    'datetime',
    sql`arrayMap(t -> if(t between ${low} and ${high}, fromUnixTimestamp64Nano(toInt64(t), 'UTC'), null), [${ns}])[1]`,
  );
}

const nanos = (time: Sql): Sql => sql`toInt128(toUnixTimestamp64Nano(${time}))`;

/** The constants of all arguments, when they are whole numbers of ns or of nothing. */
function constants(call: SqlCall): bigint[] | undefined {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n).constant?.value);
  return values.every((value) => typeof value === 'bigint') ? values : undefined;
}

/** A constant result that fits, else undefined. */
function folded(call: SqlCall, type: Type, value: bigint): SqlValue | undefined {
  const fits = value <= 2n ** 63n - 1n && value >= (type === 'datetime' ? MIN_TIME : -(2n ** 63n));
  const constant: Constant = { type, value };
  return fits ? constantValue(constant, call.params) : undefined;
}

function addOrSubtract(call: SqlCall, sign: '+' | '-'): SqlValue {
  const [a, b] = call.types as [Type, Type];
  const operator = sign === '+' ? sql`+` : sql`-`;
  const type = sign === '+' ? added([a, b]) : subtracted([a, b]);
  const known = constants(call);
  if (known && type !== undefined && type !== 'dynamic') {
    const result = folded(call, type, sign === '+' ? known[0]! + known[1]! : known[0]! - known[1]!);
    if (result) return result;
  }
  if (type === 'datetime') {
    const [time, span] = a === 'datetime' ? [0, 1] : [1, 0];
    return timeOf(call, sql`${nanos(call.time(time))} ${operator} ${call.span(span)}`);
  }
  if (type === 'timespan' && b === 'datetime')
    return one('timespan', sql`toUnixTimestamp64Nano(${call.time(0)}) - toUnixTimestamp64Nano(${call.time(1)})`);
  if (type === 'timespan') return one('timespan', sql`(${call.span(0)} ${operator} ${call.span(1)})`);
  return arithmetic(call, (left, right) => sql`(${left} ${operator} ${right})`);
}

/** Integers where both are, else floats: a sum of integers has 128 bits, and the engine puts those beside no float. */
function arithmetic(call: SqlCall, build: (a: Sql, b: Sql) => Sql): SqlValue {
  const [a, b] = [call.number(0), call.number(1)];
  if (a.kind === 'int' && b.kind === 'int') return one('int', build(a.sql, b.sql));
  return one('real', build(call.real(0), call.real(1)));
}

const whole = (real: Sql): Sql => sql`accurateCastOrNull(trunc(${real}), 'Int64')`;

function multiply(call: SqlCall): SqlValue {
  const [a, b] = call.types as [Type, Type];
  if (a !== 'timespan' && b !== 'timespan') return arithmetic(call, (left, right) => sql`(${left} * ${right})`);
  const [span, factor] = a === 'timespan' ? [call.span(0), call.number(1)] : [call.span(1), call.number(0)];
  const known = constants(call);
  const result = known && folded(call, 'timespan', known[0]! * known[1]!);
  if (result) return result;
  return one(
    'timespan',
    factor.kind === 'int'
      ? sql`accurateCastOrNull(${span} * ${factor.sql}, 'Int64')`
      : whole(sql`${span} * ${factor.sql}`),
  );
}

/** Integers divide to an integer, as in the public language; a division by zero is null. */
function divide(call: SqlCall): SqlValue {
  const [a, b] = call.types as [Type, Type];
  if (b === 'timespan') return one('real', sql`(${call.span(0)} / nullIf(${call.span(1)}, 0))`);
  if (a === 'timespan') return one('timespan', whole(sql`(${call.span(0)} / nullIf(${call.real(1)}, 0))`));
  const isWhole = call.number(0).kind === 'int' && call.number(1).kind === 'int';
  return arithmetic(call, (left, right) =>
    isWhole ? sql`intDivOrNull(${left}, ${right})` : sql`(${left} / ${right})`,
  );
}

function remainder(call: SqlCall): SqlValue {
  if (call.types.includes('timespan')) return one('timespan', sql`moduloOrNull(${call.span(0)}, ${call.span(1)})`);
  return arithmetic(call, (left, right) => sql`moduloOrNull(${left}, ${right})`);
}

export const ARITHMETIC_SQL: SqlBuilders<typeof ARITHMETIC> = {
  '+': (call) => addOrSubtract(call, '+'),
  '-': (call) => (call.count === 1 ? negative(call) : addOrSubtract(call, '-')),
  '*': multiply,
  '/': divide,
  '%': remainder,
};

function negative(call: SqlCall): SqlValue {
  if (call.types[0] === 'timespan') return one('timespan', sql`negate(${call.span(0)})`);
  const { kind, sql: number } = call.number(0);
  return one(kind, sql`negate(${number})`);
}

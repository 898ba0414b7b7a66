/** + - * / %, of numbers, datetimes and timespans, and rounding to bins. */
import { sql, type Sql } from '../sql/sql.ts';
import { constantValue, one, oneRequired, type Value } from '../sql/value.ts';
import type { Constant, Type } from '../types.ts';
import { commonType, type Call, type ScalarFunction } from './spec.ts';

const numbers = (types: readonly Type[]): Type | undefined =>
  types.every((type) => type === 'int' || type === 'real' || type === 'dynamic') ? commonType(types) : undefined;
const spanLike = (type: Type): boolean => type === 'timespan' || type === 'dynamic';

function added([a, b]: readonly Type[]): Type | undefined {
  if (a === 'datetime') return spanLike(b!) ? 'datetime' : undefined;
  if (b === 'datetime') return spanLike(a!) ? 'datetime' : undefined;
  if (a === 'timespan' || b === 'timespan') return spanLike(a!) && spanLike(b!) ? 'timespan' : undefined;
  return numbers([a!, b!]);
}

function subtracted([a, b]: readonly Type[]): Type | undefined {
  if (a === 'datetime' && b === 'datetime') return 'timespan';
  if (b === 'datetime') return a === 'dynamic' ? 'timespan' : undefined;
  return added([a!, b!]);
}

function multiplied([a, b]: readonly Type[]): Type | undefined {
  if (a === 'timespan' && b === 'timespan') return undefined;
  if (a === 'timespan') return numbers([b!]) && 'timespan';
  if (b === 'timespan') return numbers([a!]) && 'timespan';
  return numbers([a!, b!]);
}

function divided([a, b]: readonly Type[]): Type | undefined {
  if (spanLike(a!) && b === 'timespan') return 'real';
  if (a === 'timespan') return numbers([b!]) && 'timespan';
  return numbers([a!, b!]);
}

const remained = ([a, b]: readonly Type[]): Type | undefined =>
  a === 'timespan' || b === 'timespan' ? (spanLike(a!) && spanLike(b!) ? 'timespan' : undefined) : numbers([a!, b!]);

const MIN_TIME = -2_208_988_800_000_000_000n;

/** A datetime of ns, null where it cannot be held. `ns` is an Int128. */
export function timeOf(call: Call, ns: Sql): Value {
  const [low, high] = [call.params.int(MIN_TIME), call.params.int(2n ** 63n - 1n)];
  return one(
    'datetime',
    sql`arrayMap(t -> if(t between ${low} and ${high}, fromUnixTimestamp64Nano(toInt64(t), 'UTC'), null), [${ns}])[1]`,
  );
}

const nanos = (time: Sql): Sql => sql`toInt128(toUnixTimestamp64Nano(${time}))`;

/** The constants of all arguments, when they are whole numbers of ns or of nothing. */
function constants(call: Call): bigint[] | undefined {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n).constant?.value);
  return values.every((value) => typeof value === 'bigint') ? values : undefined;
}

/** A constant result that fits, else undefined. */
function folded(call: Call, type: Type, value: bigint): Value | undefined {
  const fits = value <= 2n ** 63n - 1n && value >= (type === 'datetime' ? MIN_TIME : -(2n ** 63n));
  const constant: Constant = { type, value };
  return fits ? constantValue(constant, call.params) : undefined;
}

function addOrSubtract(call: Call, sign: '+' | '-'): Value {
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
  return arithmetic(call, operator);
}

/** Numbers: integers when both are, else floats. */
function arithmetic(call: Call, operator: Sql): Value {
  const [a, b] = [call.number(0), call.number(1)];
  return one(a.kind === 'int' && b.kind === 'int' ? 'int' : 'real', sql`(${a.sql} ${operator} ${b.sql})`);
}

const whole = (real: Sql): Sql => sql`accurateCastOrNull(trunc(${real}), 'Int64')`;

function multiply(call: Call): Value {
  const [a, b] = call.types as [Type, Type];
  if (a !== 'timespan' && b !== 'timespan') return arithmetic(call, sql`*`);
  const [span, factor] = a === 'timespan' ? [call.span(0), call.number(1)] : [call.span(1), call.number(0)];
  const known = constants(call);
  const result = known && folded(call, 'timespan', known[0]! * known[1]!);
  if (result) return result;
  return one('timespan', factor.kind === 'int' ? sql`(${span} * ${factor.sql})` : whole(sql`${span} * ${factor.sql}`));
}

/** Integers divide to an integer, as in the public language; a division by zero is null. */
function divide(call: Call): Value {
  const [a, b] = call.types as [Type, Type];
  if (b === 'timespan') return one('real', sql`(${call.span(0)} / nullIf(${call.span(1)}, 0))`);
  if (a === 'timespan') return one('timespan', whole(sql`(${call.span(0)} / nullIf(${call.real(1)}, 0))`));
  const [left, right] = [call.number(0), call.number(1)];
  if (left.kind === 'int' && right.kind === 'int') return one('int', sql`intDivOrNull(${left.sql}, ${right.sql})`);
  return one('real', sql`(${left.sql} / ${right.sql})`);
}

function remainder(call: Call): Value {
  if (call.types.includes('timespan')) return one('timespan', sql`moduloOrNull(${call.span(0)}, ${call.span(1)})`);
  const [a, b] = [call.number(0), call.number(1)];
  return one(a.kind === 'int' && b.kind === 'int' ? 'int' : 'real', sql`moduloOrNull(${a.sql}, ${b.sql})`);
}

const binned = ([value, size]: readonly Type[]): Type | undefined => {
  if (value === 'datetime' || value === 'timespan') return size === 'timespan' ? value : undefined;
  return size === 'int' || size === 'real' || size === 'timespan'
    ? numbers([value!]) && (size === 'timespan' ? 'timespan' : value)
    : undefined;
};

/** Start of the bin of a datetime, with bins counted from 1970. */
export const binTime = (time: Sql, size: Sql): Sql =>
  sql`fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${time}) - positiveModulo(toUnixTimestamp64Nano(${time}), ${size}), 'UTC')`;

function bin(call: Call): Value {
  const { value: size, type } = call.constant(1);
  if (size === null || !(Number(size) > 0)) throw call.fail(1, 'the size of a bin has to be more than zero');
  const value = call.value(0);
  const keep = value.required ? oneRequired : one;
  if (value.facets.datetime) return keep('datetime', binTime(value.facets.datetime, call.span(1)));
  if (type === 'timespan') return keep('timespan', sql`(${call.span(0)} - positiveModulo(${call.span(0)}, ${call.span(1)}))`);
  const number = call.number(0);
  if (number.kind === 'int' && type === 'int') return keep('int', sql`(${number.sql} - positiveModulo(${number.sql}, ${call.int(1)}))`);
  return keep('real', sql`(floor(${number.sql} / ${call.real(1)}) * ${call.real(1)})`);
}

function binAuto(call: Call): Value {
  const value = call.value(0);
  return (value.required ? oneRequired : one)('datetime', binTime(call.time(0), call.params.int(call.step)));
}

export const ARITHMETIC: readonly ScalarFunction[] = [
  { names: ['+'], syntax: 'a + b', doc: 'Sum of numbers or timespans; a datetime and a timespan.', args: ['any', 'any'], returns: added, build: (call) => addOrSubtract(call, '+') },
  { names: ['-'], syntax: 'a - b', doc: 'Difference; of two datetimes a timespan. `-a` is the negative.', args: ['any', 'any'], optional: 1,
    returns: (types) => (types.length === 1 ? (types[0] === 'timespan' ? 'timespan' : numbers(types)) : subtracted(types)),
    build: (call) => (call.count === 1 ? negative(call) : addOrSubtract(call, '-')) },
  { names: ['*'], syntax: 'a * b', doc: 'Product; a timespan and a number.', args: ['any', 'any'], returns: multiplied, build: multiply },
  { names: ['/'], syntax: 'a / b', doc: 'Quotient. Integers give an integer; two timespans a number; by zero null.', args: ['any', 'any'], returns: divided, build: divide },
  { names: ['%'], syntax: 'a % b', doc: 'Remainder, with the sign of a; by zero null.', args: ['any', 'any'], returns: remained, build: remainder },
]; // prettier-ignore

function negative(call: Call): Value {
  if (call.types[0] === 'timespan') return one('timespan', sql`negate(${call.span(0)})`);
  const { kind, sql: number } = call.number(0);
  return one(kind, sql`negate(${number})`);
}

export const ROUNDING: readonly ScalarFunction[] = [
  { names: ['bin'], syntax: 'bin(value, size)', doc: 'The value rounded down to a multiple of the size: numbers, timespans, datetimes (counted from 1970).',
    args: ['any', 'constant'], returns: binned, build: bin, keepsName: true },
  { names: ['bin_auto'], syntax: 'bin_auto(_time)', doc: 'The time rounded down to a bin whose size follows from the range of the query.', args: ['datetime'], returns: 'datetime',
    build: binAuto, keepsName: true },
]; // prettier-ignore

/** Functions of time, all in UTC. Weeks begin on Sunday, as in the public language; `week_of_year` counts as ISO 8601 does. */
import { sql, type Sql } from '../sql/sql.ts';
import { constantValue, one, type Value } from '../sql/value.ts';
import { binTime, timeOf } from './arithmetic.ts';
import type { Call, ScalarFunction } from './spec.ts';

const DAY_NS = 86_400_000_000_000n;
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['nanosecond', 1n],
  ['microsecond', 1000n],
  ['millisecond', 1_000_000n],
  ['second', 1_000_000_000n],
  ['minute', 60_000_000_000n],
  ['hour', 3_600_000_000_000n],
  ['day', DAY_NS],
  ['week', 7n * DAY_NS],
]);
const MONTHS: ReadonlyMap<string, number> = new Map([['month', 1], ['quarter', 3], ['year', 12]]); // prettier-ignore

const date = (year: Sql, month: Sql): Sql => sql`toDateTime64(makeDate32(${year}, ${month}, 1), 9, 'UTC')`;

/** The beginning of the day, week, month or year that the time is in. */
function startOf(period: string, time: Sql, call: Call): Sql {
  switch (period) {
    case 'day':
      return binTime(time, call.params.int(DAY_NS));
    case 'week': {
      // 1970 began on a Thursday, four days after a Sunday.
      const sinceSunday = sql`positiveModulo(toUnixTimestamp64Nano(${time}) + ${call.params.int(4n * DAY_NS)}, ${call.params.int(7n * DAY_NS)})`;
      return sql`fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${time}) - ${sinceSunday}, 'UTC')`;
    }
    case 'month':
      return date(sql`toYear(${time})`, sql`toMonth(${time})`);
    default:
      return date(sql`toYear(${time})`, sql`1`);
  }
}

/** A time some periods later; null where it cannot be held. */
function later(call: Call, time: Sql, unit: string, count: Sql): Value {
  const ns = UNITS.get(unit);
  if (ns !== undefined) return timeOf(call, sql`toInt128(toUnixTimestamp64Nano(${time})) + toInt128(${count}) * ${call.params.int(ns)}`);
  const months = sql`toInt64(${count} * ${MONTHS.get(unit)!})`;
  // Months are counted from the year 0; the engine would wrap around outside of its range.
  const year = sql`(toYear(${time}) * 12 + toMonth(${time}) - 1 + ${months})`;
  return one(
    'datetime',
    sql`if(${count} between -10000 and 10000 and ${year} between 22812 and 27143, addMonths(${time}, ${months}), null)`,
  );
}

const bounds = (period: string): ScalarFunction[] => [
  { names: [`startof${period}`], syntax: `startof${period}(datetime, offset)`, doc: `The beginning of the ${period}, offset ${period}s later.`, args: ['datetime', 'int'], optional: 1,
    returns: 'datetime', build: (call) => {
      const start = startOf(period, call.time(0), call);
      return call.count === 2 ? later(call, start, period, call.int(1)) : one('datetime', start);
    } },
  { names: [`endof${period}`], syntax: `endof${period}(datetime, offset)`, doc: `The last nanosecond of the ${period}, offset ${period}s later.`, args: ['datetime', 'int'], optional: 1,
    returns: 'datetime', build: (call) => {
      const next = later(call, startOf(period, call.time(0), call), period, call.count === 2 ? sql`(${call.int(1)} + 1)` : sql`1`);
      return timeOf(call, sql`toInt128(toUnixTimestamp64Nano(${next.facets.datetime!})) - 1`);
    } },
]; // prettier-ignore

const part = (names: readonly [string, ...string[]], doc: string, build: (time: Sql) => Sql): ScalarFunction => ({
  names, syntax: `${names[0]}(datetime)`, doc, args: ['datetime'], returns: 'int', build: (call) => one('int', sql`toInt64(${build(call.time(0))})`),
}); // prettier-ignore

const nanosOf = (time: Sql): Sql => sql`positiveModulo(toUnixTimestamp64Nano(${time}), 1000000000)`;
const PARTS: ReadonlyMap<string, (time: Sql) => Sql> = new Map([
  ['year', (time: Sql) => sql`toYear(${time})`],
  ['quarter', (time: Sql) => sql`toQuarter(${time})`],
  ['month', (time: Sql) => sql`toMonth(${time})`],
  ['week_of_year', (time: Sql) => sql`toISOWeek(${time})`],
  ['day', (time: Sql) => sql`toDayOfMonth(${time})`],
  ['dayofyear', (time: Sql) => sql`toDayOfYear(${time})`],
  ['hour', (time: Sql) => sql`toHour(${time})`],
  ['minute', (time: Sql) => sql`toMinute(${time})`],
  ['second', (time: Sql) => sql`toSecond(${time})`],
  ['millisecond', (time: Sql) => sql`intDiv(${nanosOf(time)}, 1000000)`],
  ['microsecond', (time: Sql) => sql`intDiv(${nanosOf(time)}, 1000)`],
  ['nanosecond', nanosOf],
]);

/** The unit that the first argument names. */
function unit(call: Call, known: Iterable<string>): string {
  const name = String(call.constant(0).value).toLowerCase().replace(/s$/, '');
  const names = [...known];
  if (!names.includes(name)) throw call.fail(0, `wanted one of ${names.join(', ')}`);
  return name;
}

function difference(call: Call): Value {
  const name = unit(call, [...UNITS.keys(), ...MONTHS.keys()]);
  const [a, b] = [call.time(1), call.time(2)];
  const months = MONTHS.get(name);
  if (months === undefined) {
    const ns = call.params.int(UNITS.get(name)!);
    // As many ends of such units as lie between the two; weeks begin on Sunday.
    const shift = call.params.int(name === 'week' ? 4n * DAY_NS : 0n);
    const shifted = (time: Sql): Sql => sql`(toInt128(toUnixTimestamp64Nano(${time})) + ${shift})`;
    const index = (time: Sql): Sql => sql`toInt64(intDiv(${shifted(time)} - positiveModulo(${shifted(time)}, toInt128(${ns})), toInt128(${ns})))`;
    return one('int', sql`(${index(a)} - ${index(b)})`);
  }
  const index = (time: Sql): Sql => sql`intDiv(toInt64(toYear(${time})) * 12 + toMonth(${time}) - 1, ${months})`;
  return one('int', sql`(${index(a)} - ${index(b)})`);
} // prettier-ignore

const unixtime = (name: string, unitNs: bigint): ScalarFunction => ({
  names: [`unixtime_${name}s_todatetime`], syntax: `unixtime_${name}s_todatetime(number)`, doc: `The time that many ${name}s after 1970.`, args: ['number'], returns: 'datetime',
  build: (call) => {
    const { kind, sql: number } = call.number(0);
    const ns = kind === 'int' ? sql`toInt128(${number}) * ${call.params.int(unitNs)}` : sql`toInt128(accurateCastOrNull(round(${number} * ${Number(unitNs)}), 'Int64'))`;
    return timeOf(call, ns);
  },
}); // prettier-ignore

function now(call: Call): Value {
  if (call.count === 0) return constantValue({ type: 'datetime', value: call.now }, call.params);
  return shifted(call, 1n);
}

/** now ± the argument. */
function shifted(call: Call, sign: 1n | -1n): Value {
  const { constant } = call.value(0);
  if (typeof constant?.value === 'bigint') {
    const value = call.now + sign * constant.value;
    if (value >= -2_208_988_800_000_000_000n && value < 2n ** 63n) return constantValue({ type: 'datetime', value }, call.params);
    throw call.fail(0, 'the time is outside of 1900 to 2262');
  }
  const span = sign === 1n ? call.span(0) : sql`negate(${call.span(0)})`;
  return timeOf(call, sql`toInt128(${call.params.int(call.now)}) + ${span}`);
}

export const DATETIMES: readonly ScalarFunction[] = [
  { names: ['now'], syntax: 'now(offset)', doc: 'The time at which the query began, offset later.', args: ['timespan'], optional: 1, returns: 'datetime', build: now },
  { names: ['ago'], syntax: 'ago(timespan)', doc: 'The time that long before now().', args: ['timespan'], returns: 'datetime', build: (call) => shifted(call, -1n) },
  ...['day', 'week', 'month', 'year'].flatMap(bounds),
  part(['dayofweek'], 'Days since Sunday, 0 to 6.', (time) => sql`modulo(toDayOfWeek(${time}), 7)`),
  part(['dayofmonth'], 'The day of the month, from 1.', (time) => sql`toDayOfMonth(${time})`),
  part(['dayofyear'], 'The day of the year, from 1.', (time) => sql`toDayOfYear(${time})`),
  part(['hourofday'], 'The hour, 0 to 23.', (time) => sql`toHour(${time})`),
  part(['monthofyear', 'getmonth'], 'The month, 1 to 12.', (time) => sql`toMonth(${time})`),
  part(['getyear'], 'The year.', (time) => sql`toYear(${time})`),
  part(['week_of_year'], 'The week of ISO 8601, 1 to 53.', (time) => sql`toISOWeek(${time})`),
  { names: ['datetime_part'], syntax: "datetime_part('part', datetime)", doc: `A part of the time: ${[...PARTS.keys()].join(', ')}.`, args: ['constant string', 'datetime'], returns: 'int',
    build: (call) => one('int', sql`toInt64(${PARTS.get(unit(call, PARTS.keys()))!(call.time(1))})`) },
  { names: ['datetime_add'], syntax: "datetime_add('unit', count, datetime)", doc: `The time some units later: ${[...MONTHS.keys(), ...UNITS.keys()].join(', ')}.`, args: ['constant string', 'int', 'datetime'],
    returns: 'datetime', build: (call) => later(call, call.time(2), unit(call, [...MONTHS.keys(), ...UNITS.keys()]), call.int(1)) },
  { names: ['datetime_diff'], syntax: "datetime_diff('unit', a, b)", doc: 'How many ends of such units lie between b and a.', args: ['constant string', 'datetime', 'datetime'], returns: 'int', build: difference },
  unixtime('second', 1_000_000_000n),
  unixtime('millisecond', 1_000_000n),
  unixtime('microsecond', 1000n),
  unixtime('nanosecond', 1n),
]; // prettier-ignore

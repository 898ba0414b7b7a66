/** Functions of time, all in UTC. Weeks begin on Sunday, as in the public language; `week_of_year` counts as ISO 8601 does. */
import { list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { constantValue, one, type SqlValue } from '../../../service/query/values/value.ts';
import { timeOf } from '../arithmetic/sql.ts';
import { binTime } from '../rounding/sql.ts';
import { namedArgument, readText } from '../../plan/literals.ts';
import { MONTHS, UNITS } from '../../../core/time/calendar.ts';
import { builtAlike, readSpanFormat, readTimeFormat, SPAN_PARTS, type DATETIMES } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const DAY_NS = UNITS.get('day')!;
const WEEK_NS = UNITS.get('week')!;

const date = (year: Sql, month: Sql): Sql => sql`toDateTime64(makeDate32(${year}, ${month}, 1), 9, 'UTC')`;

/** The beginning of the day, week, month or year that the time is in. */
function startOf(period: string, time: Sql, call: SqlCall): Sql {
  switch (period) {
    case 'day':
      return binTime(time, call.params.int(DAY_NS));
    case 'week': {
      // 1970 began on a Thursday, four days after a Sunday.
      const sinceSunday = sql`positiveModulo(toUnixTimestamp64Nano(${time}) + ${call.params.int(4n * DAY_NS)}, ${call.params.int(WEEK_NS)})`;
      return sql`fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${time}) - ${sinceSunday}, 'UTC')`;
    }
    case 'month':
      return date(sql`toYear(${time})`, sql`toMonth(${time})`);
    default:
      return date(sql`toYear(${time})`, sql`1`);
  }
}

/** A time some periods later; null where it cannot be held. */
function later(call: SqlCall, time: Sql, unit: string, count: Sql): SqlValue {
  const ns = UNITS.get(unit);
  if (ns !== undefined)
    return timeOf(call, sql`toInt128(toUnixTimestamp64Nano(${time})) + toInt128(${count}) * ${call.params.int(ns)}`);
  const months = sql`toInt64(${count} * ${MONTHS.get(unit)!})`;
  // Months are counted from the year 0; the engine would wrap around outside of its range.
  const year = sql`(toYear(${time}) * 12 + toMonth(${time}) - 1 + ${months})`;
  return one(
    'datetime',
    sql`if(${count} between -10000 and 10000 and ${year} between 22812 and 27143, addMonths(${time}, ${months}), null)`,
  );
}

const begin =
  (period: string): SqlBuild =>
  (call) => {
    const start = startOf(period, call.time(0), call);
    return call.count === 2 ? later(call, start, period, call.int(1)) : one('datetime', start);
  };

const end =
  (period: string): SqlBuild =>
  (call) => {
    const next = later(
      call,
      startOf(period, call.time(0), call),
      period,
      call.count === 2 ? sql`(${call.int(1)} + 1)` : sql`1`,
    );
    return timeOf(call, sql`toInt128(toUnixTimestamp64Nano(${next.facets.datetime!})) - 1`);
  };

const part =
  (build: (time: Sql) => Sql): SqlBuild =>
  (call) =>
    one('int', sql`toInt64(${build(call.time(0))})`);

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

function difference(call: SqlCall): SqlValue {
  const name = namedArgument(call, [...UNITS.keys(), ...MONTHS.keys()]);
  const [a, b] = [call.time(1), call.time(2)];
  const months = MONTHS.get(name);
  if (months === undefined) {
    const ns = call.params.int(UNITS.get(name)!);
    // As many ends of such units as lie between the two; weeks begin on Sunday.
    const shift = call.params.int(name === 'week' ? 4n * DAY_NS : 0n);
    const shifted = (time: Sql): Sql => sql`(toInt128(toUnixTimestamp64Nano(${time})) + ${shift})`;
    const index = (time: Sql): Sql =>
      sql`toInt64(intDiv(${shifted(time)} - positiveModulo(${shifted(time)}, toInt128(${ns})), toInt128(${ns})))`;
    return one('int', sql`(${index(a)} - ${index(b)})`);
  }
  const index = (time: Sql): Sql => sql`intDiv(toInt64(toYear(${time})) * 12 + toMonth(${time}) - 1, ${months})`;
  return one('int', sql`(${index(a)} - ${index(b)})`);
}

/** Each part of a format as text. */
const WRITTEN: Readonly<Record<string, (time: Sql) => Sql>> = {
  yyyy: (time) => padded(sql`toYear(${time})`, 4),
  yy: (time) => padded(sql`toYear(${time}) % 100`, 2),
  y: (time) => sql`toString(toYear(${time}) % 100)`,
  MM: (time) => padded(sql`toMonth(${time})`, 2),
  M: (time) => sql`toString(toMonth(${time}))`,
  dd: (time) => padded(sql`toDayOfMonth(${time})`, 2),
  d: (time) => sql`toString(toDayOfMonth(${time}))`,
  HH: (time) => padded(sql`toHour(${time})`, 2),
  H: (time) => sql`toString(toHour(${time}))`,
  hh: (time) => padded(twelve(time), 2),
  h: (time) => sql`toString(${twelve(time)})`,
  mm: (time) => padded(sql`toMinute(${time})`, 2),
  m: (time) => sql`toString(toMinute(${time}))`,
  ss: (time) => padded(sql`toSecond(${time})`, 2),
  s: (time) => sql`toString(toSecond(${time}))`,
  tt: (time) => sql`if(toHour(${time}) < 12, 'AM', 'PM')`,
};
const padded = (number: Sql, digits: number): Sql => sql`leftPad(toString(${number}), ${digits}, '0')`;
const twelve = (time: Sql): Sql => sql`(toHour(${time}) + 11) % 12 + 1`;

/** A text, or the fraction of a second, which times and spans have alike; undefined for another part of a format. */
function plainPart({ params }: SqlCall, part: string, nanos: Sql): Sql | undefined {
  if (part.startsWith("'")) return params.string(part.slice(1));
  const fraction = sql`substring(${padded(nanos, 9)}, 1, ${part.length})`;
  if (part.startsWith('F')) return sql`trimRight(${fraction}, '0')`;
  return part.startsWith('f') ? fraction : undefined;
}

function formatted(call: SqlCall): SqlValue {
  const parts = readText(call, 1, readTimeFormat, 'a format such as yyyy-MM-dd HH:mm:ss.fff');
  const time = call.time(0);
  const texts = parts.map((part) => plainPart(call, part, nanosOf(time)) ?? WRITTEN[part]!(time));
  return one('string', sql`if(isNull(${time}), null, concat('', ${list([...texts, sql`''`])}))`);
}

const unixtime =
  (unitNs: bigint): SqlBuild =>
  (call) => {
    const { kind, sql: number } = call.number(0);
    const ns =
      kind === 'int'
        ? sql`toInt128(${number}) * ${call.params.int(unitNs)}`
        : sql`toInt128(accurateCastOrNull(round(${number} * ${Number(unitNs)}), 'Int64'))`;
    return timeOf(call, ns);
  };

function now(call: SqlCall): SqlValue {
  if (call.count === 0) return constantValue({ type: 'datetime', value: call.now }, call.params);
  return shifted(call, 1n);
}

/** now ± the argument. */
function shifted(call: SqlCall, sign: 1n | -1n): SqlValue {
  const { constant } = call.value(0);
  if (typeof constant?.value === 'bigint') {
    const value = call.now + sign * constant.value;
    if (value >= -2_208_988_800_000_000_000n && value < 2n ** 63n)
      return constantValue({ type: 'datetime', value }, call.params);
    throw call.fail(0, 'the time is outside of 1900 to 2262');
  }
  const span = sign === 1n ? call.span(0) : sql`negate(${call.span(0)})`;
  return timeOf(call, sql`toInt128(${call.params.int(call.now)}) + ${span}`);
}

function formattedSpan(call: SqlCall): SqlValue {
  const parts = readText(call, 1, readSpanFormat, 'a format such as d.HH:mm:ss.fff');
  const span = call.span(0);
  const texts = parts.map((part) => {
    const plain = plainPart(call, part, sql`abs(${span}) % 1000000000`);
    if (plain) return plain;
    const [unit, most] = SPAN_PARTS[part[0]!]!;
    const count = sql`toString(intDiv(abs(${span}), ${unit}) % ${most})`;
    return sql`leftPad(${count}, greatest(length(${count}), ${part.length}), '0')`;
  });
  return one('string', sql`concat(if(${span} < 0, '-', ''), ${list([sql`''`, ...texts])})`);
}

/** Null where a part is out of its range. */
function made(call: SqlCall): SqlValue {
  const part = (n: number): Sql => (n < call.count ? call.int(n) : sql`0`);
  const [year, month, day, hour, minute] = [part(0), part(1), part(2), part(3), part(4)];
  const second = call.count > 5 ? call.real(5) : sql`0.`;
  const inRange = sql`${year} between 1900 and 2262 and ${month} between 1 and 12 and ${day} between 1 and 31 and ${hour} between 0 and 23 and ${minute} between 0 and 59 and ${second} >= 0 and ${second} < 60`;
  const date = sql`makeDate32(ifNull(${year}, 0), ifNull(${month}, 0), ifNull(${day}, 0))`;
  const time = sql`toInt128(toInt32(${date})) * 86400000000000 + toInt128(${hour}) * 3600000000000 + toInt128(${minute}) * 60000000000 + accurateCastOrNull(floor(${second} * 1000000000 + 0.5), 'Int64')`;
  return timeOf(call, sql`if(${inRange} and toDayOfMonth(${date}) = ${day}, ${time}, null)`);
}

export const DATETIMES_SQL: SqlBuilders<typeof DATETIMES> = {
  now,
  ago: (call) => shifted(call, -1n),
  ...builtAlike({ begin, end, unixtime }),
  dayofweek: part((time) => sql`modulo(toDayOfWeek(${time}), 7)`),
  dayofmonth: part((time) => sql`toDayOfMonth(${time})`),
  dayofyear: part((time) => sql`toDayOfYear(${time})`),
  hourofday: part((time) => sql`toHour(${time})`),
  monthofyear: part((time) => sql`toMonth(${time})`),
  getyear: part((time) => sql`toYear(${time})`),
  week_of_year: part((time) => sql`toISOWeek(${time})`),
  datetime_part: (call) => one('int', sql`toInt64(${PARTS.get(namedArgument(call, PARTS.keys()))!(call.time(1))})`),
  datetime_add: (call) =>
    later(call, call.time(2), namedArgument(call, [...MONTHS.keys(), ...UNITS.keys()]), call.int(1)),
  datetime_diff: difference,
  format_datetime: formatted,
  format_timespan: formattedSpan,
  make_datetime: made,
};

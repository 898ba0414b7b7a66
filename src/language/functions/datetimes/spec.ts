/** Functions of time, all in UTC. Weeks begin on Sunday, as in the public language; `week_of_year` counts as ISO 8601 does. */
import type { Period } from '../../../core/time/calendar.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const DATETIMES = {
  now: { syntax: 'now(offset)', doc: 'Returns the time at which the query began, plus the offset.', args: ['timespan'], optional: 1, returns: 'datetime' },
  ago: { syntax: 'ago(timespan)', doc: 'Returns the time that long before now().', args: ['timespan'], returns: 'datetime' },
  startofday: { syntax: 'startofday(datetime, offset)', doc: 'Returns the start of the day; with an offset, of the day that many days later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofday: { syntax: 'endofday(datetime, offset)', doc: 'Returns the last nanosecond of the day; with an offset, of the day that many days later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofweek: { syntax: 'startofweek(datetime, offset)', doc: 'Returns the start of the week; with an offset, of the week that many weeks later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofweek: { syntax: 'endofweek(datetime, offset)', doc: 'Returns the last nanosecond of the week; with an offset, of the week that many weeks later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofmonth: { syntax: 'startofmonth(datetime, offset)', doc: 'Returns the start of the month; with an offset, of the month that many months later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofmonth: { syntax: 'endofmonth(datetime, offset)', doc: 'Returns the last nanosecond of the month; with an offset, of the month that many months later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofyear: { syntax: 'startofyear(datetime, offset)', doc: 'Returns the start of the year; with an offset, of the year that many years later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofyear: { syntax: 'endofyear(datetime, offset)', doc: 'Returns the last nanosecond of the year; with an offset, of the year that many years later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  dayofweek: { syntax: 'dayofweek(datetime)', doc: 'Returns the days since Sunday, 0 to 6.', args: ['datetime'], returns: 'int' },
  dayofmonth: { syntax: 'dayofmonth(datetime)', doc: 'Returns the day of the month, from 1.', args: ['datetime'], returns: 'int' },
  dayofyear: { syntax: 'dayofyear(datetime)', doc: 'Returns the day of the year, from 1.', args: ['datetime'], returns: 'int' },
  hourofday: { syntax: 'hourofday(datetime)', doc: 'Returns the hour, 0 to 23.', args: ['datetime'], returns: 'int' },
  monthofyear: { aliases: ['getmonth'], syntax: 'monthofyear(datetime)', doc: 'Returns the month, 1 to 12.', args: ['datetime'], returns: 'int' },
  getyear: { syntax: 'getyear(datetime)', doc: 'Returns the year.', args: ['datetime'], returns: 'int' },
  week_of_year: { syntax: 'week_of_year(datetime)', doc: 'Returns the week of the year in ISO 8601, 1 to 53.', args: ['datetime'], returns: 'int' },
  datetime_part: { syntax: "datetime_part('part', datetime)", doc: 'Returns a part of the datetime as a number: year, quarter, month, week_of_year, day, dayofyear, hour, minute, second, millisecond, microsecond or nanosecond.', args: ['constant string', 'datetime'], returns: 'int' },
  datetime_add: { syntax: "datetime_add('unit', count, datetime)", doc: 'Adds so many units: month, quarter, year, nanosecond, microsecond, millisecond, second, minute, hour, day or week.', args: ['constant string', 'int', 'datetime'], returns: 'datetime' },
  datetime_diff: { syntax: "datetime_diff('unit', a, b)", doc: 'Counts the boundaries of a unit between b and a.', args: ['constant string', 'datetime', 'datetime'], returns: 'int' },
  format_datetime: { syntax: "format_datetime(datetime, 'yyyy-MM-dd HH:mm:ss')", doc: 'Formats a datetime: y, M, d, H (0 to 23), h (1 to 12), m, s are numbers, doubled with two digits; y and yy are the year without its century, `yyyy` is all of it; f to fffffff are digits of the second, F without zeros at the end; tt is AM or PM.', args: ['datetime', 'constant string'], returns: 'string' },
  format_timespan: { syntax: "format_timespan(timespan, 'd.HH:mm:ss')", doc: 'Formats a timespan: d days, H or h hours, m minutes, s seconds, with as many digits as there are letters; f to fffffff are digits of the second, F without zeros at the end. A minus comes first.', args: ['timespan', 'constant string'], returns: 'string' },
  make_datetime: { syntax: 'make_datetime(2026, 12, 31, 23, 59, 58.5)', doc: 'Makes a datetime of year, month and day, and of hour, minute and second where given; null if there is no such time.', args: ['int', 'int', 'int', 'int', 'int', 'number'], optional: 3, returns: 'datetime' },
  unixtime_seconds_todatetime: { syntax: 'unixtime_seconds_todatetime(number)', doc: 'Converts seconds since 1970 to a datetime.', args: ['number'], returns: 'datetime' },
  unixtime_milliseconds_todatetime: { syntax: 'unixtime_milliseconds_todatetime(number)', doc: 'Converts milliseconds since 1970 to a datetime.', args: ['number'], returns: 'datetime' },
  unixtime_microseconds_todatetime: { syntax: 'unixtime_microseconds_todatetime(number)', doc: 'Converts microseconds since 1970 to a datetime.', args: ['number'], returns: 'datetime' },
  unixtime_nanoseconds_todatetime: { syntax: 'unixtime_nanoseconds_todatetime(number)', doc: 'Converts nanoseconds since 1970 to a datetime.', args: ['number'], returns: 'datetime' },
} satisfies FunctionTable; // prettier-ignore

/** The builders of functions that differ in their period or unit alone. */
export const builtAlike = <Build>({ begin, end, unixtime }: Record<'begin' | 'end', (period: Period) => Build> & { unixtime: (unitNs: bigint) => Build }) => ({
  startofday: begin('day'), startofweek: begin('week'), startofmonth: begin('month'), startofyear: begin('year'),
  endofday: end('day'), endofweek: end('week'), endofmonth: end('month'), endofyear: end('year'),
  unixtime_seconds_todatetime: unixtime(1_000_000_000n), unixtime_milliseconds_todatetime: unixtime(1_000_000n),
  unixtime_microseconds_todatetime: unixtime(1000n), unixtime_nanoseconds_todatetime: unixtime(1n),
}); // prettier-ignore

/** `yyyy-MM-dd HH:mm:ss.fff`: its parts in order, texts among them in quotes. Undefined where a letter has no meaning. */
export function readTimeFormat(format: string): readonly string[] | undefined {
  const parts = format.match(/y{1,4}|M{1,2}|d{1,2}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|tt|[TZ]|[^A-Za-z]/g) ?? [];
  if (parts.join('') !== format) return undefined;
  return parts.map((part) => (/^(?:[TZ]|[^A-Za-z])$/.test(part) ? `'${part}` : part === 'yyy' ? 'yyyy' : part));
}

/** `d.HH:mm:ss.fff`: its parts in order, texts among them in quotes. Undefined where a letter has no meaning. */
export function readSpanFormat(format: string): readonly string[] | undefined {
  const parts = format.match(/d{1,8}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|[^A-Za-z]/g) ?? [];
  return parts.join('') === format
    ? parts.map((part) => (/^[^A-Za-z]$/.test(part) ? `'${part}` : part.replace(/^h/, 'H')))
    : undefined;
}

/** Each letter of a format: its unit in ns, and how many of it the next larger unit has. */
export const SPAN_PARTS: Readonly<Record<string, readonly [unit: number, most: number]>> = {
  d: [86_400e9, Number.MAX_SAFE_INTEGER],
  H: [3600e9, 24],
  m: [60e9, 60],
  s: [1e9, 60],
};

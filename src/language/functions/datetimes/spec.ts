/** Functions of time, all in UTC. Weeks begin on Sunday, as in the public language; `week_of_year` counts as ISO 8601 does. */
import type { FunctionTable } from '../../function-spec.ts';

export const DATETIMES = {
  now: { syntax: 'now(offset)', doc: 'The time at which the query began, offset later.', args: ['timespan'], optional: 1, returns: 'datetime' },
  ago: { syntax: 'ago(timespan)', doc: 'The time that long before now().', args: ['timespan'], returns: 'datetime' },
  startofday: { syntax: 'startofday(datetime, offset)', doc: 'The beginning of the day, offset days later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofday: { syntax: 'endofday(datetime, offset)', doc: 'The last nanosecond of the day, offset days later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofweek: { syntax: 'startofweek(datetime, offset)', doc: 'The beginning of the week, offset weeks later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofweek: { syntax: 'endofweek(datetime, offset)', doc: 'The last nanosecond of the week, offset weeks later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofmonth: { syntax: 'startofmonth(datetime, offset)', doc: 'The beginning of the month, offset months later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofmonth: { syntax: 'endofmonth(datetime, offset)', doc: 'The last nanosecond of the month, offset months later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  startofyear: { syntax: 'startofyear(datetime, offset)', doc: 'The beginning of the year, offset years later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  endofyear: { syntax: 'endofyear(datetime, offset)', doc: 'The last nanosecond of the year, offset years later.', args: ['datetime', 'int'], optional: 1, returns: 'datetime' },
  dayofweek: { syntax: 'dayofweek(datetime)', doc: 'Days since Sunday, 0 to 6.', args: ['datetime'], returns: 'int' },
  dayofmonth: { syntax: 'dayofmonth(datetime)', doc: 'The day of the month, from 1.', args: ['datetime'], returns: 'int' },
  dayofyear: { syntax: 'dayofyear(datetime)', doc: 'The day of the year, from 1.', args: ['datetime'], returns: 'int' },
  hourofday: { syntax: 'hourofday(datetime)', doc: 'The hour, 0 to 23.', args: ['datetime'], returns: 'int' },
  monthofyear: { aliases: ['getmonth'], syntax: 'monthofyear(datetime)', doc: 'The month, 1 to 12.', args: ['datetime'], returns: 'int' },
  getyear: { syntax: 'getyear(datetime)', doc: 'The year.', args: ['datetime'], returns: 'int' },
  week_of_year: { syntax: 'week_of_year(datetime)', doc: 'The week of ISO 8601, 1 to 53.', args: ['datetime'], returns: 'int' },
  datetime_part: { syntax: "datetime_part('part', datetime)", doc: 'A part of the time: year, quarter, month, week_of_year, day, dayofyear, hour, minute, second, millisecond, microsecond, nanosecond.', args: ['constant string', 'datetime'], returns: 'int' },
  datetime_add: { syntax: "datetime_add('unit', count, datetime)", doc: 'The time some units later: month, quarter, year, nanosecond, microsecond, millisecond, second, minute, hour, day, week.', args: ['constant string', 'int', 'datetime'], returns: 'datetime' },
  datetime_diff: { syntax: "datetime_diff('unit', a, b)", doc: 'How many ends of such units lie between b and a.', args: ['constant string', 'datetime', 'datetime'], returns: 'int' },
  format_datetime: { syntax: "format_datetime(datetime, 'yyyy-MM-dd HH:mm:ss')", doc: 'The time as text: y, M, d, H (0 to 23), h (1 to 12), m, s as numbers, doubled with two digits, `yyyy` with four; f to fffffff digits of the second, F without zeros at the end; tt AM or PM.', args: ['datetime', 'constant string'], returns: 'string' },
  format_timespan: { syntax: "format_timespan(timespan, 'd.HH:mm:ss')", doc: 'The timespan as text: d days, H or h hours, m minutes, s seconds, with as many digits as there are letters; f to fffffff digits of the second, F without zeros at the end. A minus comes first.', args: ['timespan', 'constant string'], returns: 'string' },
  make_datetime: { syntax: 'make_datetime(2026, 12, 31, 23, 59, 58.5)', doc: 'The time of year, month, day, and as far as they are given hour, minute, second; null where there is no such time.', args: ['int', 'int', 'int', 'int', 'int', 'number'], optional: 3, returns: 'datetime' },
  unixtime_seconds_todatetime: { syntax: 'unixtime_seconds_todatetime(number)', doc: 'The time that many seconds after 1970.', args: ['number'], returns: 'datetime' },
  unixtime_milliseconds_todatetime: { syntax: 'unixtime_milliseconds_todatetime(number)', doc: 'The time that many milliseconds after 1970.', args: ['number'], returns: 'datetime' },
  unixtime_microseconds_todatetime: { syntax: 'unixtime_microseconds_todatetime(number)', doc: 'The time that many microseconds after 1970.', args: ['number'], returns: 'datetime' },
  unixtime_nanoseconds_todatetime: { syntax: 'unixtime_nanoseconds_todatetime(number)', doc: 'The time that many nanoseconds after 1970.', args: ['number'], returns: 'datetime' },
} satisfies FunctionTable; // prettier-ignore

/** `yyyy-MM-dd HH:mm:ss.fff`: its parts in order, texts among them in quotes. Undefined where a letter has no meaning. */
export function readTimeFormat(format: string): readonly string[] | undefined {
  const parts = format.match(/y{1,4}|M{1,2}|d{1,2}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|tt|[TZ]|[^A-Za-z]/g) ?? [];
  if (parts.join('') !== format) return undefined;
  return parts.map((part) => (/^(?:[TZ]|[^A-Za-z])$/.test(part) ? `'${part}` : part === 'y' || part === 'yyy' ? 'yyyy' : part));
}

/** `d.HH:mm:ss.fff`: its parts in order, texts among them in quotes. Undefined where a letter has no meaning. */
export function readSpanFormat(format: string): readonly string[] | undefined {
  const parts = format.match(/d{1,8}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|[^A-Za-z]/g) ?? [];
  return parts.join('') === format ? parts.map((part) => (/^[^A-Za-z]$/.test(part) ? `'${part}` : part.replace(/^h/, 'H'))) : undefined;
}

/** What stands for each letter of a format: ns, and how many there are before the next larger unit. */
export const SPAN_PARTS: Readonly<Record<string, readonly [unit: number, most: number]>> = {
  d: [86_400e9, Number.MAX_SAFE_INTEGER],
  H: [3600e9, 24],
  m: [60e9, 60],
  s: [1e9, 60],
};

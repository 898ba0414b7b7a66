/**
 * `--start` and `--end` as people write them, to what the service takes: `1h`, `-1h`, `03:12`, `yesterday`, `yesterday 03:12`, `2026-11-25 03:12`.
 * Times without a zone are this machine's, as the lines of events show them.
 */
import { usageError } from '../output/say.ts';
import { formatDuration, parseDuration } from '../../config/fields/units.ts';
import { quote } from '../../config/quote.ts';

interface QueryTimes {
  readonly startTime?: string;
  readonly endTime?: string;
}

/** What `bound` reads: a time in ms since 1970, or a text that the service reads. */
type Bound = number | string;

const UNITS: readonly (readonly [RegExp, seconds: number])[] = [
  [/^(?:ms|milliseconds?)$/, 0.001],
  [/^(?:s|secs?|seconds?)$/, 1],
  [/^(?:m|mins?|minutes?)$/, 60],
  [/^(?:h|hrs?|hours?)$/, 3600],
  [/^(?:d|days?)$/, 86_400],
  [/^(?:w|weeks?)$/, 7 * 86_400],
];
const DAYS_BACK: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };

/** Throws `UsageError` for a text that is no time, and for an end before its start. `nowMs`: ms since 1970. */
export function rangeOf({ start, end }: { readonly start?: string; readonly end?: string }, nowMs: number): QueryTimes {
  const from = start === undefined ? undefined : bound('--start', start, nowMs, undefined);
  const to = end === undefined ? undefined : bound('--end', end, nowMs, from);
  const [fromMs, toMs] = [instantOf(from, nowMs), instantOf(to, nowMs)];
  if (fromMs !== undefined && toMs !== undefined && toMs < fromMs)
    throw usageError(
      `--end: "${quote(end ?? '')}" is before --start "${quote(start ?? '')}"`,
      'give the earlier time to --start; `2h` is two hours ago',
    );
  return { ...(from !== undefined && { startTime: textOf(from) }), ...(to !== undefined && { endTime: textOf(to) }) };
}

/** In ms since 1970, where this machine alone must tell. Throws `UsageError`. */
export function timeMsOf(option: string, text: string, nowMs: number): number {
  const ms = instantOf(bound(option, text, nowMs, undefined), nowMs);
  if (ms === undefined || !Number.isFinite(new Date(ms).getTime())) throw noTime(option, text);
  return ms;
}

const textOf = (bound: Bound): string => (typeof bound === 'string' ? bound : new Date(bound).toISOString());

/** In ms since 1970, where this can be computed here: the service reads other texts, too. */
function instantOf(bound: Bound | undefined, nowMs: number): number | undefined {
  if (typeof bound !== 'string') return bound;
  const [isRelative, sign, distance] = /^now(?:\(\))?\s*(?:([+-])\s*(\S+))?$/i.exec(bound) ?? [];
  if (isRelative === undefined) return /^\d{4}-/.test(bound) ? Date.parse(bound) || undefined : undefined;
  const read = parseDuration(distance ?? '0s');
  return 'value' in read ? nowMs + (sign === '-' ? -1 : 1) * read.value : undefined;
}

/** `after`: of the range's start, which its end follows. */
function bound(option: string, given: string, nowMs: number, after: Bound | undefined): Bound {
  const text = given.trim().toLowerCase();
  // The service reads these, with all their digits, and numbers since 1970.
  if (
    /^now(?:\(\))?(?:\s*[+-]\s*[\da-zµ.]+)?$|^\d{4}-\d\d-\d\dt\S+(?:z|[+-]\d\d:?\d\d)$|^[+-]?\d{5,}(?:\.\d+)?$/.test(
      text,
    )
  )
    return given.trim();
  const read = relative(text) ?? local(text, nowMs, typeof after === 'number' ? after : undefined);
  if (read !== undefined) return read;
  throw noTime(option, given);
}

const noTime = (option: string, given: string) =>
  usageError(
    `${option}: "${quote(given)}" is no time`,
    'write `1h` for an hour ago, `03:12`, `yesterday`, `yesterday 03:12`, `2026-11-25 03:12`, or RFC 3339 such as `2026-11-25T03:12:00Z`',
  );

/** `1h`, `-1h`, `now-1h`, `now() - 1 hour`, `1h30m ago`; `now+5m` lies ahead. */
function relative(text: string): string | undefined {
  const [, sign = '-', distance = ''] =
    /^(?:now(?:\(\))?\s*(?=[+-]))?([+-])?\s*(\d.{0,40}?)(?:\s+ago)?$/.exec(text) ?? [];
  let [seconds, at] = [0, 0];
  for (const [part, count = '', unit = ''] of distance.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy)) {
    const factor = UNITS.find(([names]) => names.test(unit))?.[1];
    if (factor === undefined) return undefined;
    seconds += Number(count) * factor;
    at += part.length;
  }
  return at === 0 || at < distance.length ? undefined : `now${sign}${formatDuration(Math.round(seconds * 1000))}`;
}

/** A day, a time of day, or both, in this machine's zone, or in UTC behind `Z`, or in the offset behind it, as lines of events have it. */
function local(text: string, nowMs: number, after: number | undefined): number | undefined {
  const form =
    /^(?:(today|yesterday|\d{4}-\d\d-\d\d)(?:[ t]+|$))?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(z|utc|[+-]\d\d(?::?\d\d)?)?)?$/.exec(
      text,
    );
  if (form === null || text === '') return undefined;
  const [, day, hour = '0', minute = '0', second = '0', fraction = '0', zone] = form;
  const clock = [Number(hour), Number(minute), Number(second), Number(`${fraction}000`.slice(0, 3))] as const;
  if (clock[0] > 23 || clock[1] > 59 || clock[2] > 59) return undefined;
  const offset = zone === undefined ? undefined : offsetMs(zone);
  /** That time on a day so many days from that of `ms`. */
  const near = (ms: number, days: number): number => {
    const date = new Date(ms + (offset ?? 0));
    if (offset !== undefined)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + days, ...clock) - offset;
    return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, ...clock).getTime();
  };
  const named = day === undefined ? undefined : DAYS_BACK[day];
  if (named !== undefined) return near(nowMs, -named);
  if (day !== undefined) {
    const noon = Date.parse(`${day}T12:00:00${zone === undefined ? '' : 'Z'}`) - (offset ?? 0);
    return Number.isNaN(noon) || !isOfMonth(day) ? undefined : near(noon, 0);
  }
  // The last such time; an end is the first one behind its start.
  if (after === undefined) return near(nowMs, 0) <= nowMs ? near(nowMs, 0) : near(nowMs, -1);
  return near(after, 0) > after ? near(after, 0) : near(after, 1);
}

/** Of `z`, `utc`, `-05`, `+05:30`. */
function offsetMs(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** JavaScript takes the 31st of February for a day in March. */
const isOfMonth = (day: string): boolean => new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(-2));

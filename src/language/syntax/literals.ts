/** Literals that are more than one token says: timespans with their units, `datetime(…)` and `dynamic(…)`. */
import { MONTH_NAMES } from '../../core/time/calendar.ts';
import { isUnixText, MAX_TIME_NS, MIN_TIME_NS, readIsoTime, readUnixTime } from '../../core/time/time-text.ts';

export const UNIT_NS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    tick: 100,
    ticks: 100,
    ns: 1,
    nanosecond: 1,
    nanoseconds: 1,
    us: 1e3,
    µs: 1e3,
    μs: 1e3,
    microsecond: 1e3,
    microseconds: 1e3,
    ms: 1e6,
    milli: 1e6,
    millis: 1e6,
    millisecond: 1e6,
    milliseconds: 1e6,
    s: 1e9,
    sec: 1e9,
    secs: 1e9,
    second: 1e9,
    seconds: 1e9,
    m: 60e9,
    min: 60e9,
    mins: 60e9,
    minute: 60e9,
    minutes: 60e9,
    h: 3600e9,
    hr: 3600e9,
    hrs: 3600e9,
    hour: 3600e9,
    hours: 3600e9,
    d: 86_400e9,
    day: 86_400e9,
    days: 86_400e9,
    w: 604_800e9,
    week: 604_800e9,
    weeks: 604_800e9,
  }),
);

const MAX_SPAN_NS = 2n ** 63n - 1n;

/** `1.5`, `h` → ns; undefined when the unit is not known or the span does not fit into 64 bits of ns (292 years). */
function readSpan(number: string, unit: string): bigint | undefined {
  const ns = UNIT_NS.get(unit) ?? UNIT_NS.get(unit.toLowerCase());
  const parts = /^(\d{1,19})(?:\.(\d+))?$/.exec(number);
  if (ns === undefined || !parts) return undefined;
  const span = BigInt(parts[1]!) * BigInt(ns) + BigInt(Math.round(Number(`0.${parts[2] ?? '0'}`) * ns));
  return span <= MAX_SPAN_NS ? span : undefined;
}

/** Text of a timespan: `2d`, `1h30m` as Go writes it, `-1.5h`, `1.02:03:04.5` (days, hours, minutes, seconds). */
export function readSpanText(text: string): bigint | undefined {
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text.trim()) ?? [];
  const clock = /^(?:(\d{1,6})\.)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/.exec(rest);
  let span: bigint;
  if (clock) {
    const [, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = clock;
    const whole = ((BigInt(days) * 24n + BigInt(hours)) * 60n + BigInt(minutes)) * 60n + BigInt(seconds);
    span = whole * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
  } else if (rest === '0') span = 0n;
  else {
    if (rest.length > 64 || !/^(?:\d+(?:\.\d+)?\s*[A-Za-zµμ]+)+$/.test(rest)) return undefined;
    span = 0n;
    for (const [, number, unit] of rest.matchAll(/(\d+(?:\.\d+)?)\s*([A-Za-zµμ]+)/gy)) {
      const part = readSpan(number!, unit!);
      if (part === undefined) return undefined;
      span += part;
    }
  }
  return span <= MAX_SPAN_NS ? (sign === '-' ? -span : span) : undefined;
}

/** `2024/01/15 12:35` and `14 jun 2025 12:35` with the date as ISO 8601 has it; any other text as it is. */
function withIsoDate(text: string): string {
  const slashed = /^(\d{4})\/(\d{2})\/(\d{2})(?=$|[ T])/.exec(text);
  if (slashed) return `${slashed.slice(1).join('-')}${text.slice(10)}`;
  const [date = '', day = '', name = '', year = ''] = /^(\d{1,2}) ([a-z]{3,9}) (\d{4})(?=$| )/i.exec(text) ?? [];
  const month =
    MONTH_NAMES.findIndex((full) => full === name.toLowerCase() || full.slice(0, 3) === name.toLowerCase()) + 1;
  return month === 0
    ? text
    : `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}${text.slice(date.length)}`;
}

/**
 * Text of a datetime in ISO 8601 and its relatives, or with slashes or a month's name, as ns since 1970; undefined if it is invalid or
 * cannot be stored.
 */
export function readDatetime(text: string): bigint | undefined {
  const trimmed = withIsoDate(text.trim());
  const time = isUnixText(trimmed) ? readUnixTime(trimmed, undefined) : readIsoTime(trimmed);
  return typeof time === 'bigint' && time >= MIN_TIME_NS && time <= MAX_TIME_NS ? time : undefined;
}

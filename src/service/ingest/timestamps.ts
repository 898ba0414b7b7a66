/**
 * When an event happened: reads the `_time` (or the field that `timestamp-field` names) of an event as nanoseconds since
 * 1970, exactly, or says why it cannot. Without a format: RFC 3339, ISO 8601, and numbers as Unix s, ms, µs or ns, told apart by
 * magnitude. With one: `unix`, `unixms`, `unixus`, `unixnano`, `rfc3339` or a Go layout.
 */
import { compileLayout } from '../../core/go-layout.ts';
import { JsonText } from './exact-json.ts';
import { daysOf, epochMs, parseLayout, type Instant } from './go-layout.ts';

/** Nanoseconds since 1970, or the reason why the value is no timestamp. */
export type TimeReader = (value: unknown) => bigint | string;

/** What the engine can hold: 1900-01-01 up to the last nanosecond of a signed 64-bit count. */
export const MIN_TIME_NS = -2_208_988_800_000_000_000n;
export const MAX_TIME_NS = 9_223_372_036_854_775_807n;

/** A reader for one request. `format` is the query parameter `timestamp-format`, empty for none. */
export function timeReader(format: string): TimeReader {
  const read = plainReader(format);
  // The lines of one read carry the same time: the last text is remembered.
  let lastText: string | undefined;
  let lastTime: bigint | string = '';
  return (value) => {
    if (typeof value !== 'string') return inRange(read(value), value);
    if (value === lastText) return lastTime;
    lastText = value;
    return (lastTime = inRange(read(value), value));
  };
}

function inRange(time: bigint | string, value: unknown): bigint | string {
  if (typeof time === 'string') return time;
  return time >= MIN_TIME_NS && time <= MAX_TIME_NS ? time : `time ${show(value)} is outside 1900-01-01 … 2262-04-11`;
}

function plainReader(format: string): TimeReader {
  switch (format.toLowerCase()) {
    case '':
      return (value) => (typeof value === 'string' && !DECIMAL.test(value) ? readIso(value) : readNumber(value, undefined));
    case 'rfc3339':
      return (value) => (typeof value === 'string' ? readIso(value) : unreadable(value, 'an RFC 3339 time'));
    case 'unix':
      return (value) => readNumber(value, 9);
    case 'unixms':
      return (value) => readNumber(value, 6);
    case 'unixus':
      return (value) => readNumber(value, 3);
    case 'unixnano':
    case 'unixns':
      return (value) => readNumber(value, 0);
  }
  const layout = compileLayout(format);
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return unreadable(value, `a time of the format ${show(format)}`);
    const time = parseLayout(layout, String(value));
    return typeof time === 'string' ? `${unreadable(value, `a time of the format ${show(format)}`)}: ${time}` : toNanos(time);
  };
}

const toNanos = (time: Instant): bigint => BigInt(time.ms) * 1_000_000n + BigInt(time.ns);

function unreadable(value: unknown, wanted: string): string {
  return `cannot read ${show(value)} as ${wanted}`;
}

/** Never the inside of an array or object: that may be long, deep, or hold integers that `JSON.stringify` refuses. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (value instanceof JsonText) return cut(value.text);
  if (typeof value === 'object' && value !== null) return 'an object';
  return cut(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

const DECIMAL = /^[+-]?\d{5,}(?:\.\d*)?$/;

/** A count of Unix units; `power` is the unit's power of ten in nanoseconds, undefined to tell it by magnitude. */
function readNumber(value: unknown, power: number | undefined): bigint | string {
  // A float's shortest text keeps what was written: 1700000000.123456 has no exact double.
  const text = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string' ? String(value).trim() : '';
  const found = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]\+?(\d{1,2}))?$/.exec(text);
  if (!found) return unreadable(value, 'a timestamp');
  const exponent = Number(found[4] ?? 0);
  const fraction = found[3] ?? '';
  const whole = found[2]! + fraction.slice(0, exponent).padEnd(exponent, '0');
  const digits = whole.replace(/^0+/, '').length;
  // The seconds of 2262 have 10 digits: below 10^10 it is seconds, below 10^13 ms, below 10^16 µs, else ns.
  const unit = power ?? (digits <= 10 ? 9 : digits <= 13 ? 6 : digits <= 16 ? 3 : 0);
  if (digits + unit > 25) return `time ${show(value)} is outside 1900-01-01 … 2262-04-11`;
  const nanos = BigInt(whole + fraction.slice(exponent, exponent + unit).padEnd(unit, '0'));
  return found[1] === '-' ? -nanos : nanos;
}

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[Tt ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,30}))?)?)?(?: ?([Zz]|[+-]\d{2}(?::?\d{2})?))?)?$/;

/** RFC 3339 and its ISO 8601 relatives: a space for the T, no colons, no seconds, no zone (UTC), a date alone. */
function readIso(text: string): bigint | string {
  const found = ISO.exec(text.trim());
  if (!found) return unreadable(text, 'a timestamp');
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const [hour, minute, second] = [Number(found[4] ?? 0), Number(found[5] ?? 0), Number(found[6] ?? 0)];
  // 60 is a leap second: the instant after 59.
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 60)
    return unreadable(text, 'a timestamp');
  const fraction = (found[7] ?? '').slice(0, 9).padEnd(9, '0');
  const zone = found[8] ?? 'Z';
  let offset = 0;
  if (zone.length > 1) {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)];
    if (hours > 23 || minutes > 59) return unreadable(text, 'a timestamp');
    offset = (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
  }
  return toNanos({
    ms: epochMs(year, month, day, hour, minute, second, Number(fraction.slice(0, 3))) - offset * 60_000,
    ns: Number(fraction.slice(3)),
  });
}

/** RFC 3339 in UTC with as many digits of the fraction as needed: `2026-01-02T03:04:05.000000006Z`. */
export function formatTime(ns: bigint): string {
  let ms = ns / 1_000_000n;
  let rest = ns % 1_000_000n;
  if (rest < 0n) {
    rest += 1_000_000n;
    ms -= 1n;
  }
  const iso = new Date(Number(ms)).toISOString();
  const fraction = (iso.slice(-4, -1) + String(rest).padStart(6, '0')).replace(/0+$/, '');
  return `${iso.slice(0, -5)}${fraction && '.'}${fraction}Z`;
}

/** Times as text and as counts of Unix units, in ns since 1970: RFC 3339, ISO 8601 and its relatives; exact, UTC. */

/** Times that can be stored: 1900-01-01 up to the last nanosecond of a signed 64-bit count. */
export const MIN_TIME_NS = -2_208_988_800_000_000_000n;
export const MAX_TIME_NS = 9_223_372_036_854_775_807n;

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[Tt ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,30}))?)?)?(?: ?([Zz]|[+-]\d{2}(?::?\d{2})?))?)?$/;

/** RFC 3339 and its ISO 8601 relatives: a space for the T, no colons, no seconds, no zone (UTC), a date alone. Undefined for any other text. */
export function readIsoTime(text: string): bigint | undefined {
  const found = ISO.exec(text.trim());
  if (!found) return undefined;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const [hour, minute, second] = [Number(found[4] ?? 0), Number(found[5] ?? 0), Number(found[6] ?? 0)];
  // 60 is a leap second: the instant after 59.
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 60)
    return undefined;
  const fraction = (found[7] ?? '').slice(0, 9).padEnd(9, '0');
  const zone = found[8] ?? 'Z';
  let offset = 0;
  if (zone.length > 1) {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)];
    if (hours > 23 || minutes > 59) return undefined;
    offset = (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
  }
  const ms = epochMs(year, month, day, hour, minute, second, Number(fraction.slice(0, 3))) - offset * 60_000;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.slice(3));
}

/** True for text that is a count of Unix units rather than a date. */
export const isUnixText = (text: string): boolean => /^[+-]?\d{5,}(?:\.\d*)?$/.test(text);

/** A count of Unix units; `power` is the unit's power of ten in ns, undefined to infer it from the magnitude. Undefined for any other text. */
export function readUnixTime(text: string, power: number | undefined): bigint | 'out of range' | undefined {
  const found = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]\+?(\d{1,2}))?$/.exec(text.trim());
  if (!found) return undefined;
  const exponent = Number(found[4] ?? 0);
  const fraction = found[3] ?? '';
  const whole = found[2]! + fraction.slice(0, exponent).padEnd(exponent, '0');
  const digits = whole.replace(/^0+/, '').length;
  // The seconds of 2262 have 10 digits: below 10^10 it is seconds, below 10^13 ms, below 10^16 µs, else ns.
  const unit = power ?? (digits <= 10 ? 9 : digits <= 13 ? 6 : digits <= 16 ? 3 : 0);
  if (digits + unit > 25) return 'out of range';
  const nanos = BigInt(whole + fraction.slice(exponent, exponent + unit).padEnd(unit, '0'));
  return found[1] === '-' ? -nanos : nanos;
}

const NANOS = { 9: 1_000_000_000n, 6: 1_000_000n, 3: 1000n, 0: 1n } as const;

/** Like `readUnixTime`, for a whole number from 0 to 2^53, without making it text. */
export function readUnixInteger(value: number, power: keyof typeof NANOS | undefined): bigint {
  return BigInt(value) * NANOS[power ?? (value < 1e10 ? 9 : value < 1e13 ? 6 : value < 1e16 ? 3 : 0)];
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
  const fraction = (iso.slice(-4, -1) + String(rest).padStart(6, '0')).replace(/0{1,9}$/, '');
  return `${iso.slice(0, -5)}${fraction && '.'}${fraction}Z`;
}

/** Days of a month (1…12). */
export function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Like Date.UTC, but the years 0…99 mean themselves. */
export function epochMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  ms: number,
): number {
  if (year >= 100) return Date.UTC(year, month - 1, day, hour, minute, second, ms);
  return new Date(Date.UTC(2000, month - 1, day, hour, minute, second, ms)).setUTCFullYear(year);
}

/** A time that is not set, as clients in Go write it. */
export const NO_TIME = '0001-01-01T00:00:00Z';

/**
 * Sizes and durations as people write them. Promises: what `formatSize` and `formatDuration` print is read back as the
 * same number, and nothing is ever guessed: a number without a unit is no duration, `64k` is no size.
 */

/** A read quantity, or the fault of the text and how to write it. */
export type ParsedQuantity =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const SIZE_UNITS = new Map([
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['GB', 1e9],
  ['MB', 1e6],
  ['KB', 1e3],
]);

const DURATION_UNITS = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]);

const QUANTITY = /^(\d{1,15})([A-Za-z]*)$/;
const SIZE_FIX = 'write a whole number of bytes, or one with KiB, MiB, GiB, KB, MB or GB, such as `64KiB`';
const DURATION_FIX = 'write a whole number with ms, s, m, h or d, such as `30s`';

/** Reads `512`, `64KiB`, `10MB` into bytes. KiB, MiB, GiB count in 1,024, KB, MB, GB in 1,000. */
export function parseSize(text: string): ParsedQuantity {
  const [, digits, unit] = QUANTITY.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return bad('is not a size', SIZE_FIX);
  const factor = unit === '' ? 1 : SIZE_UNITS.get(unit);
  if (factor === undefined) return bad('is not a size', meantSize(digits, unit) ?? SIZE_FIX);
  return bounded(Number(digits) * factor, 'is too large a size', SIZE_FIX);
}

/** Reads `250ms`, `1s`, `5m`, `1h`, `7d` into milliseconds. */
export function parseDuration(text: string): ParsedQuantity {
  const [, digits, unit] = QUANTITY.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return bad('is not a duration', DURATION_FIX);
  if (unit === '') return bad('has no unit', `write \`${digits}s\` for seconds or \`${digits}ms\` for milliseconds`);
  const factor = DURATION_UNITS.get(unit);
  if (factor === undefined) return bad('is not a duration', meantDuration(digits, unit) ?? DURATION_FIX);
  return bounded(Number(digits) * factor, 'is too long a duration', DURATION_FIX);
}

/** Bytes in the largest binary unit that is exact: 1048576 is `1MiB`, 1000 is `1000`. */
export function formatSize(bytes: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const factor = SIZE_UNITS.get(unit) ?? 1;
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}

/** Bytes as a person reads them at a glance: `1.5 MiB`, `0 B`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return step === 0 ? `${bytes} B` : `${(bytes / 2 ** (step * 10)).toFixed(1)} ${units[step]}`;
}

/** Whole milliseconds in the largest unit that is exact: 90000 is `90s`, 60000 is `1m`. */
export function formatDuration(ms: number): string {
  for (const [unit, factor] of DURATION_UNITS) {
    if (ms >= factor && ms % factor === 0) return `${ms / factor}${unit}`;
  }
  return `${ms}ms`;
}

/** `64kb` and `64k` are refused, because a K may be 1,000 or 1,024; the text says which is which. */
function meantSize(digits: string, unit: string): string | undefined {
  const lower = unit.toLowerCase();
  if (lower === 'b' || lower === 'byte' || lower === 'bytes') return `write \`${digits}\`: plain numbers are bytes`;
  for (const known of SIZE_UNITS.keys()) if (known.toLowerCase() === lower) return `write \`${digits}${known}\``;
  const letter = lower.toUpperCase();
  if (!['K', 'M', 'G'].includes(letter)) return undefined;
  return `write \`${digits}${letter}iB\` (counted in 1,024) or \`${digits}${letter}B\` (counted in 1,000)`;
}

function meantDuration(digits: string, unit: string): string | undefined {
  const lower = unit.toLowerCase();
  const known = [...DURATION_UNITS.keys()].find((name) => name === lower);
  if (known !== undefined) return `write \`${digits}${known}\``;
  const first = /^(ms|milli|s|m|h|d)/.exec(lower)?.[1];
  if (first === undefined || lower.startsWith('mo')) return undefined;
  return `write \`${digits}${first === 'milli' ? 'ms' : first}\``;
}

function bounded(value: number, message: string, fix: string): ParsedQuantity {
  return Number.isSafeInteger(value) ? { ok: true, value } : bad(message, fix);
}

function bad(message: string, fix: string): ParsedQuantity {
  return { ok: false, message, fix };
}

/** JSON with integers of any size: those that a double does not hold are `bigint`. */
import type { Value } from './value.ts';

/** Sixteen digits may be more than a double holds. */
const LONG_NUMBER = /\d{16}/;
const LONG_DIGITS = 16;
const INTEGER = /^-?\d+$/;

const exactly = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && INTEGER.test(source) ? BigInt(source) : value;

/** Undefined for what is no JSON. */
export function parseJson(text: string): Value | undefined {
  try {
    const isLong = text.length >= LONG_DIGITS && LONG_NUMBER.test(text);
    return (isLong ? JSON.parse(text, exactly as (key: string, value: unknown) => unknown) : JSON.parse(text)) as Value;
  } catch {
    return undefined;
  }
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
const raw = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? rawJSON(String(value)) : value);

export function writeJson(value: Value): string {
  if (typeof value === 'bigint') return String(value);
  // Events have such numbers, which stay as large.
  if (value === Infinity || value === -Infinity) return value > 0 ? '1e400' : '-1e400';
  if (typeof value !== 'object') return JSON.stringify(value);
  try {
    return JSON.stringify(value);
  } catch {
    // It holds a `bigint`. Asking for each value costs ten times as much.
    return JSON.stringify(value, raw);
  }
}

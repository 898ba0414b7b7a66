/**
 * JSON whose numbers keep their digits, where a JavaScript number would round them or print them another way: `1.0` stays `1.0`, an
 * integer beyond 2^53 keeps its digits. `exact-reader.ts` is for texts where `JSON.parse` itself errs.
 */
import type { JsonValue } from '../core/block.ts';

/** A number that is printed as it was read; `JSON.stringify` writes it so, too. */
export interface RawNumber {
  readonly rawJSON: string;
}

type Revive = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const json = JSON as unknown as {
  parse(text: string, revive?: Revive): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Sixteen digits may be more than a number holds. */
const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;

export const rawNumber = (digits: string): RawNumber & JsonValue => json.rawJSON(digits) as RawNumber & JsonValue;
export const isRawNumber = (value: unknown): value is RawNumber => json.isRawJSON(value);

export const mayRound = (text: string): boolean => LONG_NUMBER.test(text);

const keepDigits: Revive = (_key, value, { source }) =>
  typeof value !== 'number' || source === undefined || String(value) === source ? value : rawNumber(source);

/** Every number that JavaScript prints another way is a `RawNumber`. Undefined for invalid JSON. */
export function parseExactly(text: string): JsonValue | undefined {
  try {
    return json.parse(text, keepDigits) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Undefined for anything but a JSON object. `parse` may throw. */
export function parseObject(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): Record<string, JsonValue> | undefined {
  try {
    const value = parse(text) as JsonValue | undefined;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The same with exact numbers, for a text without blanks around it. */
export const parseExactObject = (text: string): Record<string, JsonValue> | undefined =>
  text.startsWith('{') && text.endsWith('}') ? parseObject(text, parseExactly) : undefined;

/** As `JSON.parse`, but integers beyond 2^53 are what `make` says. Throws a `SyntaxError`. */
export function parseLongIntegers(text: string, make: (digits: string) => unknown): unknown {
  // Looking at every value takes four times as long.
  if (!mayRound(text)) return json.parse(text);
  return json.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source) ? make(source) : value,
  );
}

const printLong = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? rawNumber(String(value)) : value;

/** JSON text of a value that may hold `bigint` and infinite numbers. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  // Events have such numbers, which stay as large.
  if (value === Infinity || value === -Infinity) return value > 0 ? '1e400' : '-1e400';
  if (typeof value !== 'object') return JSON.stringify(value);
  try {
    return JSON.stringify(value);
  } catch {
    // It holds a `bigint`. Asking for each value costs ten times as much.
    return JSON.stringify(value, printLong);
  }
}

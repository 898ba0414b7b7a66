/** JSON whose numbers are written again as they stand there: `1.0` stays `1.0`, a number beyond 2^53 keeps its digits. */
import type { JsonValue } from '../../core/block.ts';
import type { EventFields } from './fields.ts';

/** What JSON.rawJSON gives; JSON.stringify writes its text. */
export function exactNumber(text: string): JsonValue {
  const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): JsonValue };
  return rawJSON(text);
}

/** The text of a number that `exactNumber` made. */
export function digitsOf(value: JsonValue): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { isRawJSON } = JSON as unknown as { isRawJSON(this: void, value: unknown): boolean };
  return isRawJSON(value) ? (value as unknown as { rawJSON: string }).rawJSON : undefined;
}

const keepDigits = (...args: unknown[]): JsonValue => {
  const [, value, context] = args as [string, JsonValue, { readonly source?: string }];
  if (typeof value !== 'number' || context.source === undefined) return value;
  return String(value) === context.source ? value : exactNumber(context.source);
};

/** Undefined for invalid JSON. */
export function parseExactly(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text, keepDigits) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Undefined for anything but a JSON object. */
export function parseExactObject(text: string): EventFields | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined;
  const value = parseExactly(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** JSON whose whole numbers stay as they were written, also where a JavaScript number would round them. */

/** A number that is printed as it was read; `JSON.stringify` writes it so, too. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

const exact = JSON as unknown as ExactJson;
const LONG_NUMBER = /\d{16}/;

/** As `JSON.parse`, but for whole numbers over 2^53, which become a `RawNumber`. */
export function parseExactJson(text: string): unknown {
  // Looking at every value takes four times as long.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? exact.rawJSON(source) : value,
  );
}

export function isRawNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON(value);
}

/**
 * A JSON reader that loses nothing, for the few texts where `JSON.parse` does: integers beyond 2^53 come back as `bigint`,
 * numbers that no 64-bit integer or double holds as their text (`JsonText`; also what a double would make 0 of), and keys with escapes are read right (V8's JSON.parse
 * can take such a key for another one that it read before, when that one holds a backslash: after '{"\\\\":1}', '{"\\"":2}'
 * yields the key `\`). It is an order of magnitude slower, so `ingest/flatten` asks for it only where it is needed.
 */

/** A value kept as the JSON text it came as. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ExactValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | JsonText
  | ExactValue[]
  | { [key: string]: ExactValue };

/** Nesting over which the text is refused. */
const MAX_DEPTH = 1000;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const MAX_INT = 9_223_372_036_854_775_807n;
const MIN_INT = -9_223_372_036_854_775_808n;

/** Parses the whole text. Throws a `SyntaxError` with the place. Objects have no prototype. */
export function parseExact(text: string): ExactValue {
  let at = 0;

  const fail = (): never => {
    throw new SyntaxError(
      at < text.length ? `Unexpected ${JSON.stringify(text[at])} at position ${at}` : 'Unexpected end of JSON input',
    );
  };
  const skip = (): void => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  };
  const take = (pattern: RegExp): RegExpExecArray => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? fail();
    at = pattern.lastIndex;
    return found;
  };
  /** By hand: a regular expression's stack does not bear long strings. */
  const string = (): string => {
    let end = text.indexOf('"', at + 1);
    while (end > 0 && oddBackslashes(text, end)) end = text.indexOf('"', end + 1);
    if (end < 0) {
      at = text.length;
      return fail();
    }
    const raw = text.slice(at, end + 1);
    at = end + 1;
    // A string alone is safe with JSON.parse, which also refuses bad escapes and control characters.
    return JSON.parse(raw) as string;
  };
  const number = (): ExactValue => {
    const [all, fraction, exponent] = take(NUMBER);
    const value = Number(all);
    if (fraction === undefined && exponent === undefined && !Number.isSafeInteger(value)) {
      const big = all.length < 25 ? BigInt(all) : MAX_INT + 1n;
      return big >= MIN_INT && big <= MAX_INT ? big : new JsonText(all);
    }
    const isLost = !Number.isFinite(value) || (value === 0 && isTiny(all));
    return isLost ? new JsonText(all) : value;
  };
  const word = (wanted: string, value: boolean | null): boolean | null => {
    if (!text.startsWith(wanted, at)) fail();
    at += wanted.length;
    return value;
  };
  const value = (depth: number): ExactValue => {
    if (depth > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH}`);
    skip();
    let result: ExactValue;
    switch (text[at]) {
      case '"':
        result = string();
        break;
      case '{':
        result = object(depth);
        break;
      case '[':
        result = array(depth);
        break;
      case 't':
        result = word('true', true);
        break;
      case 'f':
        result = word('false', false);
        break;
      case 'n':
        result = word('null', null);
        break;
      default:
        result = number();
    }
    skip();
    return result;
  };
  const object = (depth: number): ExactValue => {
    const result = Object.create(null) as { [key: string]: ExactValue };
    at++;
    skip();
    if (text[at] === '}') return (at++, result);
    for (;;) {
      skip();
      if (text[at] !== '"') fail();
      const key = string();
      skip();
      if (text[at] !== ':') fail();
      at++;
      result[key] = value(depth + 1);
      if (text[at] === '}') return (at++, result);
      if (text[at] !== ',') fail();
      at++;
    }
  };
  const array = (depth: number): ExactValue => {
    const result: ExactValue[] = [];
    at++;
    skip();
    if (text[at] === ']') return (at++, result);
    for (;;) {
      result.push(value(depth + 1));
      if (text[at] === ']') return (at++, result);
      if (text[at] !== ',') fail();
      at++;
    }
  };

  const result = value(0);
  if (at < text.length) fail();
  return result;
}

/** The text of a number that a double makes 0 of, and that is another. */
export const isTiny = (text: string): boolean => /[1-9]/.test(text.split(/[eE]/, 1)[0]!);

function oddBackslashes(text: string, quote: number): boolean {
  let n = 0;
  while (text[quote - 1 - n] === '\\') n++;
  return n % 2 === 1;
}

/** JSON text of a value of either reader. The caller has bounded the nesting. */
export function writeExact(value: ExactValue): string {
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${writeExact(inner)}`)
    .join(',')}}`;
}

/** An object of the event's, not an array or a number kept as text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonText);
}

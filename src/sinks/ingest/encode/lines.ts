/**
 * The top-level members of a JSON object as byte ranges, found without parsing their values, so that they can be copied
 * exactly: numbers keep every digit, strings their escapes. The batcher only hands over valid objects.
 */

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Key and value as ranges `[from, to)`, both with their quotes. */
export type Visit = (keyFrom: number, keyTo: number, valueFrom: number, valueTo: number) => void;

/** Visits the members of the object in `bytes[from, to)`, in their order. Throws on bytes that are no object: a bug. */
export function visitMembers(bytes: Buffer, from: number, to: number, visit: Visit): void {
  let at = skipSpace(bytes, from);
  if (bytes[at] !== OPEN) throw new Error(`no JSON object at byte ${at}`);
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== CLOSE) {
    if (bytes[at] !== QUOTE) throw new Error(`no key at byte ${at}`);
    const keyFrom = at;
    const keyTo = stringEnd(bytes, at);
    at = skipSpace(bytes, keyTo);
    if (bytes[at] !== COLON) throw new Error(`no value at byte ${at}`);
    const valueFrom = skipSpace(bytes, at + 1);
    const valueTo = valueEnd(bytes, valueFrom);
    if (valueTo === valueFrom || valueTo > to) throw new Error(`no value at byte ${valueFrom}`);
    visit(keyFrom, keyTo, valueFrom, valueTo);
    at = skipSpace(bytes, valueTo);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== CLOSE) throw new Error(`the object does not end at byte ${at}`);
  }
}

/** Visits the lines of NDJSON, each one event, as ranges without their newline. */
export function visitLines(ndjson: Buffer, visit: (from: number, to: number) => void): void {
  for (let from = 0; from < ndjson.length;) {
    const found = ndjson.indexOf(LF, from);
    const to = found < 0 ? ndjson.length : found;
    visit(from, to);
    from = to + 1;
  }
}

/** The text of a JSON string with its quotes. */
export function textOf(bytes: Buffer, from: number, to: number): string {
  const raw = bytes.toString('utf8', from, to);
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

/** True when the JSON string holds an escape: only then does it differ from its text in quotes. */
export function hasEscape(bytes: Buffer, from: number, to: number): boolean {
  // A view costs more than to look at a few bytes.
  if (to - from > 128) return bytes.subarray(from, to).includes(BACKSLASH);
  for (let at = from; at < to; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

export function isString(bytes: Buffer, from: number): boolean {
  return bytes[from] === QUOTE;
}

export function isStructure(bytes: Buffer, from: number): boolean {
  return bytes[from] === OPEN || bytes[from] === OPEN_LIST;
}

/** The only value that begins with an `n`. */
export function isNull(bytes: Buffer, from: number): boolean {
  return bytes[from] === 0x6e;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === SPACE || byte === TAB || byte === CR || byte === LF; byte = bytes[at]) at++;
  return at;
}

/** Past the closing quote of the string that opens at `from`. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  throw new Error(`the string at byte ${from} does not end`);
}

function valueEnd(bytes: Buffer, from: number): number {
  if (isString(bytes, from)) return stringEnd(bytes, from);
  let at = from;
  if (isStructure(bytes, from)) {
    for (let depth = 0; at < bytes.length;) {
      const byte = bytes[at];
      if (byte === QUOTE) at = stringEnd(bytes, at);
      else {
        at++;
        if (byte === OPEN || byte === OPEN_LIST) depth++;
        else if (byte === CLOSE || byte === CLOSE_LIST) depth--;
        if (depth === 0) return at;
      }
    }
    throw new Error(`the value at byte ${from} does not end`);
  }
  for (let byte = bytes[at]; byte !== undefined && byte > SPACE && byte !== COMMA && byte !== CLOSE; byte = bytes[at]) at++;
  return at;
}

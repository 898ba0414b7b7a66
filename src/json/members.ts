/**
 * The members of a JSON object, found in its bytes: where each key and value begins and ends. Nothing is parsed, so that values can be
 * copied exactly: numbers keep every digit, strings their escapes. The bytes must be one valid object: the kernel or `JSON.parse` has
 * made sure of it.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const SPACE = 0x20;
/** From this length on, searching a string's end is faster than walking it. */
const WALK_BYTES = 48;

export class Members {
  bytes: Buffer = Buffer.alloc(0);
  /** Place of the opening brace. */
  from = 0;
  /** Place of the closing brace. */
  close = 0;
  count = 0;
  /** By member: places of the key's opening quote and after its closing one, and of the value. */
  readonly keyFrom: number[] = [];
  readonly keyTo: number[] = [];
  readonly valueFrom: number[] = [];
  readonly valueTo: number[] = [];
  readonly #names: (string | undefined)[] = [];

  /** Finds the members of the object that begins at `from`. */
  scan(bytes: Buffer, from: number): void {
    this.bytes = bytes;
    this.from = from;
    this.count = 0;
    let at = skipSpaces(bytes, from + 1);
    while (bytes[at] !== CLOSE_OBJECT) {
      const n = this.count++;
      this.keyFrom[n] = at;
      at = stringEnd(bytes, at);
      this.keyTo[n] = at;
      // Behind the colon.
      at = skipSpaces(bytes, skipSpaces(bytes, at) + 1);
      this.valueFrom[n] = at;
      at = valueEnd(bytes, at);
      this.valueTo[n] = at;
      this.#names[n] = undefined;
      at = skipSpaces(bytes, at);
      if (bytes[at] === COMMA) at = skipSpaces(bytes, at + 1);
    }
    this.close = at;
  }

  /** True where the key has escapes, so that its bytes are not its name. */
  isEscaped(member: number): boolean {
    return hasEscape(this.bytes, this.keyFrom[member]!, this.keyTo[member]!);
  }

  /** The member's name, decoded. */
  nameOf(member: number): string {
    return (this.#names[member] ??= readString(this.bytes, this.keyFrom[member]!, this.keyTo[member]!));
  }
}

/** The text of a JSON string in its quotes. */
export function readString(bytes: Buffer, from: number, to: number): string {
  let isAscii = true;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) return JSON.parse(bytes.toString('utf8', from, to)) as string;
    if (byte >= 0x80) isAscii = false;
  }
  return bytes.toString(isAscii ? 'latin1' : 'utf8', from + 1, to - 1);
}

/** True where the JSON string holds an escape: only then does it differ from its text in quotes. */
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
  return bytes[from] === OPEN_OBJECT || bytes[from] === OPEN_LIST;
}

/** The only value that begins with an `n`. */
export function isNull(bytes: Buffer, from: number): boolean {
  return bytes[from] === 0x6e;
}

/** The places of the items of the list that begins at `from`. */
export function itemsOf(bytes: Buffer, from: number): { readonly from: number; readonly to: number }[] {
  const items: { from: number; to: number }[] = [];
  let at = skipSpaces(bytes, from + 1);
  while (bytes[at] !== CLOSE_LIST) {
    const to = valueEnd(bytes, at);
    items.push({ from: at, to });
    at = skipSpaces(bytes, to);
    if (bytes[at] === COMMA) at = skipSpaces(bytes, at + 1);
  }
  return items;
}

function skipSpaces(bytes: Buffer, at: number): number {
  while (bytes[at]! <= SPACE) at++;
  return at;
}

/** Behind the closing quote of the string that begins at `at`. */
function stringEnd(bytes: Buffer, at: number): number {
  at++;
  for (const walkTo = at + WALK_BYTES; at < walkTo; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  // `at` may be after an escape that began the last step, never inside one.
  for (let from = at; ;) {
    const quote = bytes.indexOf(QUOTE, from);
    let escapes = 0;
    while (quote - 1 - escapes >= at && bytes[quote - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

function valueEnd(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at);
  if (isStructure(bytes, at)) return nestedEnd(bytes, at);
  for (;;) {
    const byte = bytes[at]!;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte <= SPACE) return at;
    at++;
  }
}

function nestedEnd(bytes: Buffer, at: number): number {
  let depth = 0;
  for (;;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      continue;
    }
    at++;
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at;
  }
}

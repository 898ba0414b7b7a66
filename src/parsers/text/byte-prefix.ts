/**
 * The classes of a line's first bytes that a regular expression demands, found once when it is compiled: most lines are decided by a few
 * table look-ups, without a string. If the whole pattern is such a beginning, nothing else is needed.
 */

export interface BytePrefix {
  /** For each byte in turn, 1 for the values that it may have. */
  readonly classes: readonly Uint8Array[];
  /** A line whose bytes are in the classes matches; else it only may. */
  readonly isWhole: boolean;
}

/** The longest prefix that is checked. */
const MAX_CLASSES = 64;

/** Undefined for a pattern whose beginning says nothing: not anchored by `^`, or with alternatives beside that. */
export function bytePrefixOf(pattern: string): BytePrefix | undefined {
  if (!pattern.startsWith('^') || hasAlternatives(pattern)) return undefined;
  const classes: Uint8Array[] = [];
  for (let at = 1; at < pattern.length;) {
    const atom = readAtom(pattern, at);
    if (atom === undefined || classes.length >= MAX_CLASSES) return prefix(classes, false);
    const { times, isExact, length } = readQuantifier(pattern, at + atom.length);
    if (times > MAX_CLASSES - classes.length) return prefix(classes, false);
    for (let n = 0; n < times; n += 1) classes.push(atom.bytes);
    at += atom.length + length;
    // A match of more bytes than its class, or of any number of them, leaves the place of the next one open.
    if (!isExact || !atom.isOneByte) return prefix(classes, at === pattern.length && (atom.isOneByte || times <= 1));
  }
  return prefix(classes, true);
}

/** True when the line's bytes `[start, end)` begin as the pattern demands. */
export function hasPrefix({ classes }: BytePrefix, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < classes.length) return false;
  for (let n = 0; n < classes.length; n += 1) if (classes[n]![bytes[start + n]!] === 0) return false;
  return true;
}

function prefix(classes: readonly Uint8Array[], isWhole: boolean): BytePrefix | undefined {
  return classes.length === 0 && !isWhole ? undefined : { classes, isWhole };
}

interface Atom {
  readonly bytes: Uint8Array;
  /** It matches one byte, always; else a character of one or more, of which `bytes` is the first. */
  readonly isOneByte: boolean;
  /** Characters of the pattern. */
  readonly length: number;
}

const DIGIT = bytesOf('0123456789');
const SPACE = bytesOf('\t\n\f\r ');
const WORD = bytesOf('0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const ESCAPED_CLASSES: Readonly<Record<string, Atom>> = {
  d: { bytes: DIGIT, isOneByte: true, length: 2 },
  s: { bytes: SPACE, isOneByte: true, length: 2 },
  w: { bytes: WORD, isOneByte: true, length: 2 },
  D: { bytes: inverted(DIGIT), isOneByte: false, length: 2 },
  S: { bytes: inverted(SPACE), isOneByte: false, length: 2 },
  W: { bytes: inverted(WORD), isOneByte: false, length: 2 },
  t: { bytes: bytesOf('\t'), isOneByte: true, length: 2 },
};
/** Characters that match themselves when escaped, and only then. */
const META = '\\.+*?()|[]{}^$';

function readAtom(pattern: string, at: number): Atom | undefined {
  const char = pattern[at]!;
  if (char === '[') return readClass(pattern, at);
  if (char === '\\') {
    const next = pattern[at + 1] ?? '';
    if (Object.hasOwn(ESCAPED_CLASSES, next)) return ESCAPED_CLASSES[next];
    return isPunctuation(next) ? { bytes: bytesOf(next), isOneByte: true, length: 2 } : undefined;
  }
  if (META.includes(char) || char > '~' || char < ' ') return undefined;
  return { bytes: bytesOf(char), isOneByte: true, length: 1 };
}

/** A bracketed class of ASCII characters, ranges and the escapes above; undefined for any other. */
function readClass(pattern: string, at: number): Atom | undefined {
  const isNegated = pattern[at + 1] === '^';
  const bytes = new Uint8Array(256);
  const from = at + (isNegated ? 2 : 1);
  for (let n = from; n < pattern.length;) {
    if (pattern[n] === ']' && n > from) {
      return { bytes: isNegated ? inverted(bytes) : bytes, isOneByte: !isNegated, length: n + 1 - at };
    }
    const low = readMember(pattern, n);
    if (low === undefined) return undefined;
    n += low.length;
    if (pattern[n] !== '-' || pattern[n + 1] === ']') {
      low.bytes.forEach((isIn, byte) => (bytes[byte]! |= isIn));
      continue;
    }
    const high = readMember(pattern, n + 1);
    const [first, last] = [onlyByte(low.bytes), high && onlyByte(high.bytes)];
    if (high === undefined || first === undefined || last === undefined) return undefined;
    bytes.fill(1, first, last + 1);
    n += 1 + high.length;
  }
  return undefined;
}

function readMember(pattern: string, at: number): Atom | undefined {
  const char = pattern[at];
  if (char === undefined || char === '[' || char > '~' || char < ' ') return undefined;
  if (char !== '\\') return { bytes: bytesOf(char), isOneByte: true, length: 1 };
  const atom = readAtom(pattern, at);
  return atom?.isOneByte ? atom : undefined;
}

function onlyByte(bytes: Uint8Array): number | undefined {
  const first = bytes.indexOf(1);
  return first >= 0 && bytes.lastIndexOf(1) === first ? first : undefined;
}

/** How often at least the atom before it must repeat, and whether no more is allowed. */
function readQuantifier(pattern: string, at: number): { times: number; isExact: boolean; length: number } {
  const char = pattern[at];
  const lazy = (length: number): number => (pattern[at + length] === '?' ? length + 1 : length);
  if (char === '*' || char === '?') return { times: 0, isExact: false, length: lazy(1) };
  if (char === '+') return { times: 1, isExact: false, length: lazy(1) };
  const [counted, least, comma] = /^\{(\d{1,4})(,\d{0,4})?\}/.exec(pattern.slice(at)) ?? [];
  if (counted === undefined) return { times: 1, isExact: true, length: 0 };
  return { times: Number(least), isExact: comma === undefined, length: lazy(counted.length) };
}

/** True for alternatives that are not inside of parentheses. */
function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') at += 1;
    else if (isInClass) isInClass = char !== ']';
    else if (char === '[') {
      isInClass = true;
      // A bracket that comes first is a member.
      if (pattern[at + 1] === '^') at += 1;
      if (pattern[at + 1] === ']') at += 1;
    } else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

function isPunctuation(char: string): boolean {
  return char !== '' && /^[!-/:-@[-`{-~]$/.test(char);
}

function bytesOf(characters: string): Uint8Array {
  const bytes = new Uint8Array(256);
  for (const char of characters) bytes[char.charCodeAt(0)] = 1;
  return bytes;
}

function inverted(bytes: Uint8Array): Uint8Array {
  return bytes.map((isIn) => 1 - isIn);
}

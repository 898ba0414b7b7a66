/**
 * Structured data of RFC 5424 that the kernel leaves to JavaScript: repeated or numeric names, ones beyond ASCII, more than 4 KiB, or
 * malformed data.
 */

const SPACE = 32;
const QUOTE = 34;
const DASH = 45;
const EQUALS = 61;
const OPEN = 91;
const BACKSLASH = 92;
const CLOSE = 93;

/** id → name → value; a list where a name is repeated. */
export type StructuredData = Record<string, Record<string, string | string[]>>;

export interface Elements {
  readonly elements: StructuredData | undefined;
  /** Where the message begins. */
  readonly end: number;
}

/** Check Point writes `[action:"Drop"; flags:"400644"]` in their place: text. */
const OTHER_DATA = /\[\w{1,64}:"/y;

/** Reads the elements at `start`; a string is the reason why it cannot. */
export function readStructuredData(text: string, start: number): Elements | string {
  OTHER_DATA.lastIndex = start;
  if (OTHER_DATA.test(text)) return { elements: undefined, end: start };
  const read = text.charCodeAt(start) === DASH ? { elements: undefined, end: start + 1 } : readElements(text, start);
  if (typeof read === 'string') return read;
  if (read.end < text.length && text.charCodeAt(read.end) !== SPACE)
    return 'RFC 5424 structured data is not followed by a space';
  const end = read.end + 1;
  return { ...read, end: text.charCodeAt(end) === 0xfeff ? end + 1 : end };
}

function readElements(text: string, start: number): Elements | string {
  if (text.charCodeAt(start) !== OPEN) return 'RFC 5424 structured data is missing';
  // Names are the sender's: no prototype that one of them could hit.
  const elements: StructuredData = Object.create(null);
  let at = start;
  while (text.charCodeAt(at) === OPEN) {
    const idEnd = nameEnd(text, at + 1);
    if (idEnd === at + 1) return 'RFC 5424 structured data has an element without an id';
    const parameters = (elements[text.slice(at + 1, idEnd)] ??= Object.create(null) as Record<
      string,
      string | string[]
    >);
    at = idEnd;
    while (text.charCodeAt(at) === SPACE) {
      while (text.charCodeAt(at) === SPACE) at += 1;
      if (text.charCodeAt(at) === CLOSE) break;
      const end = nameEnd(text, at);
      if (end === at || text.charCodeAt(end) !== EQUALS || text.charCodeAt(end + 1) !== QUOTE)
        return 'RFC 5424 structured data has a parameter without a value';
      const valueEnd = quoteEnd(text, end + 2);
      if (valueEnd === -1) return 'RFC 5424 structured data has a value without an end';
      addParameter(parameters, text.slice(at, end), text.slice(end + 2, valueEnd));
      at = valueEnd + 1;
    }
    if (text.charCodeAt(at) !== CLOSE) return 'RFC 5424 structured data has an element without an end';
    at += 1;
  }
  return { elements, end: at };
}

function nameEnd(text: string, start: number): number {
  let at = start;
  for (
    let code = text.charCodeAt(at);
    code > SPACE && code !== EQUALS && code !== CLOSE && code !== QUOTE;
    code = text.charCodeAt(at)
  )
    at += 1;
  return at;
}

/** The place of the quote that ends the value, or -1. A backslash escapes the character after it. */
function quoteEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

function addParameter(parameters: Record<string, string | string[]>, name: string, raw: string): void {
  const value = raw.includes('\\') ? raw.replace(/\\(["\\\]])/g, '$1') : raw;
  const present = parameters[name];
  if (present === undefined) parameters[name] = value;
  else if (Array.isArray(present)) present.push(value);
  else parameters[name] = [present, value];
}

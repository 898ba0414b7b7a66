/**
 * Fields out of messages, by the rules of `parse`: CEF, LEEF, and `key=value` pairs. Values stay text; a name that comes again gets a list. Promises: linear time in the
 * message, and no more fields than MAX_BODY_FIELDS.
 */
import { addField, emptyFields, type EventFields } from '../../../parsers/values/fields.ts';
import { MAX_BODY_FIELDS, MAX_BODY_PREFIX } from '../limits.ts';

export type ParseBody = 'none' | 'cef' | 'leef' | 'kv' | 'auto';

export interface Body {
  readonly fields: EventFields;
  /** Why it is not what it begins as. */
  readonly error?: string;
}

const CEF = /(?:^|\s)CEF: ?\d{1,2}\|/;
const LEEF = /(?:^|\s)LEEF: ?(\d)(?:\.\d)?\|/;
const CEF_NAMES = ['vendor', 'product', 'product_version', 'event_id', 'name', 'event_severity'];
const LEEF_NAMES = CEF_NAMES.slice(0, 4);
/** Up to a bar without a backslash before it. */
const HEADER_FIELD = /(?:[^|\\]|\\[^])*/y;
/** A value may have blanks: it ends where the next key begins. */
const CEF_KEY = /(?:^|\s)([\w.[\]-]{1,255})=/g;
/** The character itself, or its number in hexadecimal; none is a tab. */
const LEEF_DELIMITER = /(?:([^\w\s|])|(?:0|\\)?x([\da-f]{1,4})|\t|)\|/iy;
const KEY = /[\w.[\]@/-]{1,255}(?==)/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"?/y;
/** A comma or semicolon ends a value in front of a blank or of the next key. */
const BARE = /(?:[^\s,;|]|[,;](?!\s|$|[\w.-]{1,64}=))*/y;
const BETWEEN = /[\s,;|]+/y;
const WORD = /[^\s,;|]+/y;
/** `[action:"Drop"; flags:"400644"]` of Check Point. */
const COLON_PAIR = /([\w.-]{1,64}):"((?:[^"\\]|\\[^])*)"[;\s\]]*/y;
const BEGINS_AS_PAIR = /^(?:\[[^[\]]{0,64}\] ?)?[\w.[\]@/-]{1,255}=/;

/** Undefined where the message has none of these forms. */
export function bodyOf(message: string, which: ParseBody): Body | undefined {
  if (which === 'none') return undefined;
  const head = message.slice(0, MAX_BODY_PREFIX);
  const isAny = which === 'auto';
  const cef = isAny || which === 'cef' ? CEF.exec(head) : null;
  if (cef) return readCef(message, cef.index + cef[0].length);
  const leef = isAny || which === 'leef' ? LEEF.exec(head) : null;
  if (leef) return readLeef(message, leef.index + leef[0].length, leef[1] !== '1');
  if (which !== 'kv' && !isAny) return undefined;
  const fields = readPairs(message);
  const count = Object.keys(fields).length;
  return count === 0 || (isAny && (count < 2 || !(BEGINS_AS_PAIR.test(head) || head.startsWith('['))))
    ? undefined
    : { fields };
}

function readCef(text: string, start: number): Body {
  const fields = emptyFields();
  const at = readHeader(text, start, CEF_NAMES, fields);
  if (at === undefined) return { fields, error: 'CEF header ends early' };
  readExtension(text.slice(at), fields);
  return { fields };
}

/** Behind the header's fields; undefined where one is missing. The last bar may be missing. */
function readHeader(text: string, start: number, names: readonly string[], fields: EventFields): number | undefined {
  let at = start;
  for (const name of names) {
    if (at > text.length) return undefined;
    HEADER_FIELD.lastIndex = at;
    const value = HEADER_FIELD.exec(text)![0];
    at += value.length + 1;
    const plain = value.replace(/\\([|\\])/g, '$1').trim();
    if (plain !== '') fields[name] = plain;
  }
  return at;
}

function readExtension(text: string, fields: EventFields): void {
  let key: string | undefined;
  let from = 0;
  let count = 0;
  const add = (end: number): void => {
    const value = text.slice(from, end).trimEnd();
    if (key !== undefined)
      addField(
        fields,
        key,
        value.replace(/\\([=\\|nr])/g, (_all, c: string) => (c === 'n' ? '\n' : c === 'r' ? '\r' : c)),
      );
  };
  for (const match of text.matchAll(CEF_KEY)) {
    add(match.index);
    if (++count > MAX_BODY_FIELDS) return;
    key = match[1];
    from = match.index + match[0].length;
  }
  add(text.length);
}

function readLeef(text: string, start: number, mayHaveDelimiter: boolean): Body {
  const fields = emptyFields();
  let at = readHeader(text, start, LEEF_NAMES, fields);
  if (at === undefined || at > text.length) return { fields, error: 'LEEF header ends early' };
  let delimiter = '\t';
  LEEF_DELIMITER.lastIndex = at;
  const written = mayHaveDelimiter ? LEEF_DELIMITER.exec(text) : null;
  if (written) {
    at = LEEF_DELIMITER.lastIndex;
    delimiter = written[1] ?? (written[2] === undefined ? '\t' : String.fromCharCode(Number.parseInt(written[2], 16)));
  }
  const rest = text.slice(at);
  // rsyslog writes a tab so; some senders put blanks between.
  if (delimiter === '\t' && !rest.includes('\t')) delimiter = rest.includes('#011') ? '#011' : '';
  if (delimiter === '') readExtension(rest, fields);
  else readParted(rest, delimiter, fields);
  return { fields };
}

function readParted(text: string, delimiter: string, fields: EventFields): void {
  for (const part of text.split(delimiter, MAX_BODY_FIELDS)) {
    const equals = part.indexOf('=');
    if (equals > 0 && equals <= 255) addField(fields, part.slice(0, equals).trim(), part.slice(equals + 1));
  }
}

/** The pairs of a text; words between them are passed over. */
export function readPairs(text: string): EventFields {
  const fields = emptyFields();
  COLON_PAIR.lastIndex = 1;
  if (text.startsWith('[') && COLON_PAIR.test(text)) {
    COLON_PAIR.lastIndex = 1;
    let count = 0;
    for (let match = COLON_PAIR.exec(text); match && count++ < MAX_BODY_FIELDS; match = COLON_PAIR.exec(text))
      addField(fields, match[1]!, unescape(match[2]!));
    return fields;
  }
  // Check Point puts bars between, and blanks into values.
  if (/^[\w.-]{1,64}=[^\s|"]{0,255}\|[\w.-]{1,64}=/.test(text)) {
    readParted(text, '|', fields);
    return fields;
  }
  let at = endOf(BETWEEN, text, 0);
  for (let count = 0; at < text.length && count < MAX_BODY_FIELDS; at = endOf(BETWEEN, text, at)) {
    const key = endOf(KEY, text, at);
    if (key === at) {
      at = Math.max(endOf(WORD, text, at), at + 1);
      continue;
    }
    count += 1;
    const from = key + 1;
    const isQuoted = text[from] === '"';
    const end = endOf(isQuoted ? QUOTED : BARE, text, from);
    const value = isQuoted
      ? unescape(text.slice(from + 1, end > from + 1 && text[end - 1] === '"' ? end - 1 : end))
      : text.slice(from, end);
    addField(fields, text.slice(at, key), value);
    at = end;
  }
  return fields;
}

const unescape = (text: string): string => (text.includes('\\') ? text.replace(/\\(["\\])/g, '$1') : text);

/** Where the sticky pattern's match at `at` ends; `at` without a match. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

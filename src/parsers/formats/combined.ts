/**
 * The access log formats `common` and `combined` of Apache and nginx. A `-` is absent; status and size are numbers; the
 * request line is taken apart where it has three words.
 */
import type { FormatParser } from './line-parser.ts';
import { type EventFields, unparsed } from '../values/fields.ts';
import { closingQuote, unescapeQuoted } from './quoted.ts';

/** Up to the request's opening quote. */
const HEAD = /^(\S+) (\S+) ([^"]+?) \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "/;
/** Behind its closing quote. */
const RESULT = /^ (\d{3}) (\d{1,15}|-)(?= |$)/;
const TIME = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/;
const REQUEST = /^(\S+) (\S+) (\S+)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** The parts of a line before the request, none of them longer. */
const MAX_HEAD = 4096;

export const combinedParser: FormatParser = {
  parse: (text) => [parseLine(text) ?? unparsed(text, 'not in the combined log format')],
};

function parseLine(text: string): EventFields | undefined {
  const [head = '', client, ident, user, written = ''] = HEAD.exec(text.slice(0, MAX_HEAD)) ?? [];
  const time = readTime(written);
  const requestEnd = time === undefined ? -1 : closingQuote(text, head.length);
  if (time === undefined || client === undefined || requestEnd === -1) return undefined;
  const [result, status, size] = RESULT.exec(text.slice(requestEnd + 1, requestEnd + 32)) ?? [];
  if (result === undefined) return undefined;
  const event: EventFields = { _time: time, client };
  addText(event, 'ident', ident);
  addText(event, 'user', user);
  const request = unescapeBytes(text.slice(head.length, requestEnd));
  const [, method, path, protocol] = REQUEST.exec(request) ?? [];
  if (protocol === undefined) addText(event, 'request', request);
  else Object.assign(event, { method, path, protocol });
  event['status'] = Number(status);
  if (size !== '-') event['bytes'] = Number(size);
  addText(event, 'extra', text.slice(addQuoted(event, text, requestEnd + 1 + result.length)).trim());
  return event;
}

/** Referer and user agent, where they are there; returns where they end. */
function addQuoted(event: EventFields, text: string, from: number): number {
  for (const name of ['referer', 'user_agent']) {
    const end = text.startsWith(' "', from) ? closingQuote(text, from + 2) : -1;
    if (end === -1) return from;
    addText(event, name, unescapeBytes(text.slice(from + 2, end)));
    from = end + 1;
  }
  return from;
}

function addText(event: EventFields, name: string, value: string | undefined): void {
  if (value !== undefined && value !== '-' && value !== '') event[name] = value;
}

/** RFC 3339, with the zone it was written with. */
function readTime(text: string): string | undefined {
  const [, day, name = '', year, clock, hours, minutes] = TIME.exec(text) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  const time = `${year}-${String(month).padStart(2, '0')}-${day}T${clock}${hours}:${minutes}`;
  return month === 0 || Number.isNaN(Date.parse(time)) ? undefined : time;
}

/** Both write a byte beyond ASCII as `\xHH`: such bytes are put together as UTF-8. */
function unescapeBytes(text: string): string {
  const plain = unescapeQuoted(text);
  return /\\x[89a-fA-F]/.test(text) && /^[\0-\x7f]*$/.test(text) ? Buffer.from(plain, 'latin1').toString('utf8') : plain;
}

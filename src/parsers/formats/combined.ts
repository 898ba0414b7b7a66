/**
 * The access log formats `common` and `combined` of Apache and nginx, also with the virtual host, or the list of a proxy's clients, in front.
 * A `-` is absent; status, size and port are numbers; the request line is taken apart where it has three words.
 */
import { isIP } from 'node:net';
import type { FormatParser } from './line-parser.ts';
import { type EventFields, unparsed } from '../values/fields.ts';
import { closingQuote, unescapeBytes } from '../values/quoted.ts';

/** Up to the request's opening quote. Apache writes a name that is empty as two quotes. */
const HEAD = /^([^"]+?)(?: "")? \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "/;
const PORT = /^(.+):(\d{1,5})$/;
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
  const [head = '', before = '', written = ''] = HEAD.exec(text.slice(0, MAX_HEAD)) ?? [];
  const time = readTime(written);
  const who =
    head === ''
      ? undefined
      : readWho(
          before.split(' ').filter((word) => word !== ''),
          head.includes(' "" ['),
        );
  const requestEnd = time === undefined ? -1 : closingQuote(text, head.length);
  if (time === undefined || who === undefined || requestEnd === -1) return undefined;
  const [result, status, size] = RESULT.exec(text.slice(requestEnd + 1, requestEnd + 32)) ?? [];
  if (result === undefined) return undefined;
  const event: EventFields = { _time: time, ...who };
  const request = unescapeBytes(text.slice(head.length, requestEnd));
  const [, method, path, protocol] = REQUEST.exec(request) ?? [];
  if (protocol === undefined) addText(event, 'request', request);
  else Object.assign(event, { method, path, protocol });
  event['status'] = Number(status);
  if (size !== '-') event['bytes'] = Number(size);
  addText(event, 'extra', text.slice(addQuoted(event, text, requestEnd + 1 + result.length)).trim());
  return event;
}

/** Reads the words before the time: a virtual host, the client or several by commas, ident and user, which may hold blanks. */
function readWho(words: readonly string[], isUserEmpty: boolean): EventFields | undefined {
  const rest = isUserEmpty ? [...words, '-'] : [...words];
  const who: EventFields = {};
  if (hasHost(rest)) {
    const host = rest.shift()!;
    const [, name = host, port] = PORT.exec(host) ?? [];
    addText(who, 'vhost', name);
    if (port !== undefined) who['vhost_port'] = Number(port);
  }
  let list = rest.shift() ?? '';
  while (list.endsWith(',') && rest.length > 0) list += rest.shift();
  const [client = '', ...more] = list.split(',').filter((each) => each !== '');
  if (client === '' || rest.length < 2) return undefined;
  who['client'] = client;
  if (more.length > 0) who['clients'] = [client, ...more];
  addText(who, 'ident', rest[0]);
  if (rest.slice(1).some((word) => word !== '-')) addText(who, 'user', rest.slice(1).join(' '));
  return who;
}

/** A word in front of the client, by what follows: an address, or the dash of the ident where the first word is no address. */
function hasHost([first = '', second = '', third, ...more]: readonly string[]): boolean {
  if (first.endsWith(',') || second === '-' || third === undefined || more.length === 0) return false;
  return second.endsWith(',') || isIP(second) !== 0 || (isIP(first) === 0 && third === '-');
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

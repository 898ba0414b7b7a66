/** RFC 5424: version, time, host, application, process, message id, structured data, message. */
import type { Parsed, StructuredData } from './message.ts';
import { isTaken } from './sent-time.ts';
import { wallAsUtc } from '../../../core/time/zone.ts';

const LOOKS_LIKE = /\d{1,3} (?:- |\d{4}-\d)/y;
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/;
const SPACE = 32;
const QUOTE = 34;
const EQUALS = 61;
const OPEN = 91;
const BACKSLASH = 92;
const CLOSE = 93;

/** Whether the text at `at`, after the priority, claims to be RFC 5424. */
export function looksLikeRfc5424(text: string, at: number): boolean {
  LOOKS_LIKE.lastIndex = at;
  return LOOKS_LIKE.test(text);
}

/** Parses the text at `at`, after the priority; a string says why it is not RFC 5424. */
export function parseRfc5424(text: string, at: number, receivedAtMs: number): Parsed | string {
  const header: (string | undefined)[] = [];
  let from = at;
  for (let n = 0; n < 6; n += 1) {
    const end = text.indexOf(' ', from);
    if (end === -1) return 'RFC 5424 header ends early';
    if (end === from) return 'RFC 5424 header has an empty field';
    const field = text.slice(from, end);
    header.push(field === '-' ? undefined : field);
    from = end + 1;
  }
  const [version, time, host, appname, procid, msgid] = header;
  if (version !== '1') return `RFC 5424 version ${version} is not known`;
  const instant = time === undefined ? undefined : instantOf(time);
  if (time !== undefined && instant === undefined) return 'RFC 5424 timestamp is not valid';
  const data = readStructuredData(text, from);
  if (typeof data === 'string') return data;
  if (data.end < text.length && text.charCodeAt(data.end) !== SPACE) return 'RFC 5424 structured data is not followed by a space';
  const start = data.end + 1;
  const message = text.slice(text.charCodeAt(start) === 0xfeff ? start + 1 : start);
  const sent = instant === undefined || isTaken(instant, receivedAtMs) ? { time } : { timeError: time };
  return { ...sent, host, appname, procid, msgid, structuredData: data.elements, message };
}

/** The instant of a time as RFC 5424 wants it, up to nanoseconds, on a date that exists, in milliseconds of whole seconds; undefined: it is none. */
export function instantOf(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const [sign, zoneHour, zoneMinute] = [match[7] === '-' ? -1 : 1, Number(match[8] ?? 0), Number(match[9] ?? 0)];
  const wall = { year, month: month!, day: day!, hour: hour!, minute: minute!, second: second! };
  const wallMs = zoneHour < 24 && zoneMinute < 60 ? wallAsUtc(wall, year!) : undefined;
  return wallMs === undefined ? undefined : wallMs - sign * (zoneHour * 60 + zoneMinute) * 60_000;
}

interface Elements {
  readonly elements: StructuredData | undefined;
  /** Behind the last element. */
  readonly end: number;
}

function readStructuredData(text: string, start: number): Elements | string {
  if (text.charCodeAt(start) === 45) return { elements: undefined, end: start + 1 };
  if (text.charCodeAt(start) !== OPEN) return 'RFC 5424 structured data is missing';
  // Names are the sender's: no prototype that one of them could hit.
  const elements: StructuredData = Object.create(null);
  let at = start;
  while (text.charCodeAt(at) === OPEN) {
    const idEnd = nameEnd(text, at + 1);
    if (idEnd === at + 1) return 'RFC 5424 structured data has an element without an id';
    const parameters = (elements[text.slice(at + 1, idEnd)] ??= Object.create(null) as Record<string, string | string[]>);
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
  for (let code = text.charCodeAt(at); code > SPACE && code !== EQUALS && code !== CLOSE && code !== QUOTE; code = text.charCodeAt(at))
    at += 1;
  return at;
}

/** Where the quote stands that ends the value, or -1. A backslash escapes the character after it. */
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

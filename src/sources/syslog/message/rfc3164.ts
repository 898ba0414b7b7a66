/**
 * RFC 3164 as it is sent in the wild: a time in one of many forms, a host, a tag with a process id, a message; each of the
 * first three may be missing. Nothing after a valid priority is an error here: unrecognised parts stay in the message.
 */
import type { Parsed } from './message.ts';
import { instantOf } from './rfc5424.ts';
import { isTaken, MOST_AHEAD_WITHOUT_YEAR_MS } from './sent-time.ts';
import { LEVELS } from '../../../core/time/line-start.ts';
import type { WallTime, Zone } from '../../../core/time/zone.ts';
import { createZone } from '../../../core/time/zone.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/**
 * `Oct  1 22:14:15 `, with a year before or after the clock, a fraction, and Cisco's additions: a sequence number, the host
 * (`logging origin-id`), a mark for a clock that is not set, a zone (before `: %`, or it would be a tag), a colon that says
 * no host follows.
 */
const BSD_TIME =
  / *(?:\d{1,10}: )?(?:([\w.-]{1,255}): )?[*.]?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (?:(\d{4}) )?(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ((?:19|20)\d\d)(?=:?(?: |$)))?(?: (UTC|GMT|Z|[A-Z]{1,5}(?=: %))(?=:))?(?: |(:) ?|$)/y;
const ISO_TIME = / *(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:(Z)|([+-]\d\d):?(\d\d))?(?: |(:) ?|$)/y;
const ISO_DATE = /^ *\d{4}-/;
/** A level is no host. */
const ISO_DATE_AND_HOST = new RegExp(`^ *[\\d-]{10}T\\S+ (?!(?:${LEVELS})\\b)`, 'i');
const HOST = /^[\w:][\w.:-]*$/;
/** `name:`, `name[12]:` or `name[12]`. */
const TAG = /([^\s[\]:"'{}=,;<>|\\]{1,128})(?:\[([^\][\s]{0,128})\]:?|:(?=\s|$)) ?/y;
const UTC_NAMES = new Set(['UTC', 'GMT', 'Z']);
const utc = createZone('UTC');

/** Parses the text at `at`, after the priority. Times without a zone are in `zone`, without a year near `receivedAtMs`. */
export function parseRfc3164(text: string, at: number, receivedAtMs: number, zone: Zone): Parsed {
  const header = readBsdTime(text, at, receivedAtMs, zone) ?? readIsoTime(text, at, receivedAtMs, zone);
  if (header === undefined) return readTag(text, at, undefined);
  const { end } = header;
  if (header.isHostless) return readTag(text, end, header);
  const space = text.indexOf(' ', end);
  const token = text.slice(end, space === -1 ? end : space);
  if (!HOST.test(token) || token.endsWith(':')) return readTag(text, end, { ...header, host: undefined });
  // `host : %ASA-6-…`, as some firewalls write it.
  const rest = text.startsWith(': ', space + 1) ? space + 3 : space + 1;
  return readTag(text, rest, { ...header, host: token });
}

/**
 * A message that begins with its header: a time as above, which is enough in the form that only syslog has; behind one of ISO 8601, with a `T`,
 * there must be a host, as programs write such lines, too. Else why it is none.
 */
export function parseWithoutPriority(text: string, receivedAtMs: number, zone: Zone): Parsed | string {
  const parsed = parseRfc3164(text, 0, receivedAtMs, zone);
  const hasTime = parsed.time !== undefined || parsed.timeError !== undefined;
  const isHeader = hasTime && (!ISO_DATE.test(text) || (parsed.host !== undefined && ISO_DATE_AND_HOST.test(text)));
  return isHeader ? parsed : 'no <PRI> from 0 to 191 at the beginning';
}

/** What `Oct 11 22:14:15` or `2026-10-11T22:14:15` stands for, in the second form in UTC; undefined when there is no such time, or it is not taken. */
export function readLocalTime(text: string, receivedAtMs: number, zone: Zone): string | undefined {
  const header = readBsdTime(text, 0, receivedAtMs, zone) ?? readIsoTime(text, 0, receivedAtMs, zone);
  return header?.time?.slice(0, 19);
}

interface Header {
  readonly time?: string;
  /** The time as it was sent, where it is not taken. */
  readonly timeError?: string;
  readonly host: string | undefined;
  readonly isHostless: boolean;
  readonly end: number;
}

function readBsdTime(text: string, at: number, receivedAtMs: number, zone: Zone): Header | undefined {
  BSD_TIME.lastIndex = at;
  const match = BSD_TIME.exec(text);
  if (match === null) return undefined;
  const [, host, month, day, yearBefore, hour, minute, second, fraction, yearBehind, zoneName, colon] = match;
  const year = yearBefore ?? yearBehind;
  const wall: WallTime = {
    year: year === undefined ? undefined : Number(year),
    month: MONTHS.indexOf(month!) + 1,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const instant = (zoneName !== undefined && UTC_NAMES.has(zoneName) ? utc : zone).toInstant(
    wall,
    receivedAtMs,
    undefined,
    MOST_AHEAD_WITHOUT_YEAR_MS,
  );
  if (instant === undefined) return undefined;
  const sent = isTaken(instant, receivedAtMs)
    ? { time: writeTime(instant, fraction) }
    : { timeError: match[0].slice(match[0].indexOf(`${month} `)).replace(/:? ?$/, '') };
  return { ...sent, host, isHostless: host !== undefined || colon !== undefined, end: BSD_TIME.lastIndex };
}

function readIsoTime(text: string, at: number, receivedAtMs: number, zone: Zone): Header | undefined {
  ISO_TIME.lastIndex = at;
  const match = ISO_TIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, z, zoneHour, zoneMinute, colon] = match;
  const end = ISO_TIME.lastIndex;
  const isHostless = colon !== undefined;
  const sentText = match[0].trimStart().replace(/:? ?$/, '');
  if (z !== undefined || zoneHour !== undefined) {
    const clock = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`;
    const time = `${clock}${z ?? `${zoneHour}:${zoneMinute}`}`;
    const sent = instantOf(time);
    if (sent === undefined) return undefined;
    return { ...(isTaken(sent, receivedAtMs) ? { time } : { timeError: sentText }), host: undefined, isHostless, end };
  }
  const wall = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const instant = zone.toInstant(wall, receivedAtMs);
  if (instant === undefined) return undefined;
  const sent = isTaken(instant, receivedAtMs) ? { time: writeTime(instant, fraction) } : { timeError: sentText };
  return { ...sent, host: undefined, isHostless, end };
}

/** The instant, whole seconds, in UTC with the digits that were sent. */
function writeTime(instantMs: number, fraction: string | undefined): string {
  const seconds = new Date(instantMs).toISOString().slice(0, -5);
  return fraction === undefined ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

function readTag(text: string, at: number, header: Header | undefined): Parsed {
  const known = { time: header?.time, timeError: header?.timeError, host: header?.host };
  TAG.lastIndex = at;
  const match = TAG.exec(text);
  if (match === null) return { ...known, message: text.slice(at) };
  const procid = match[2] === '' ? undefined : match[2];
  return { ...known, appname: match[1], procid, message: text.slice(TAG.lastIndex) };
}

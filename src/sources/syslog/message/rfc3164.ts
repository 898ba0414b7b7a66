/**
 * RFC 3164 as it is sent in the wild: a time in one of many forms, a host, a tag with a process id, a message; each of the
 * first three may be missing. Nothing after a valid priority is an error here: unrecognised parts stay in the message.
 */
import type { Parsed } from './message.ts';
import { instantOf } from './rfc5424.ts';
import { isTaken, MOST_AHEAD_WITHOUT_YEAR_MS } from './sent-time.ts';
import { abbreviationOffset } from '../../../core/time/abbreviations.ts';
import { LEVELS } from '../../../core/time/line-start.ts';
import type { WallTime, Zone } from '../../../core/time/zone.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/**
 * `Oct  1 22:14:15 `, with a year before or after the clock, a fraction, AM or PM, and Cisco's additions: a sequence number, the host
 * (`logging origin-id`), a mark for a clock that is not set.
 */
const BSD_TIME =
  / *(?:\d{1,10}: )?(?:([\w.-]{1,255}): )?[*.]?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (?:(\d{4}) )?(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ([AP])M(?:\.(\d{1,9}))?(?=[ :]|$))?(?: ((?:19|20)\d\d)(?=:?(?: |$)))?/y;
const ISO_TIME = / *(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:(Z)|([+-]\d\d):?(\d\d))?/y;
/** Behind a time: a colon says that no host follows. */
const TIME_END = /(?:(:) ?| |$)/y;
const ZONE_END = /(?:(:) ?| (:) | |$)/y;
const YEAR_BEHIND = / ((?:19|20)\d\d)(?=:?(?: |$))/y;
const ZONE_NAME = / ([A-Z]{1,5})(?=[ :])/y;
/** A host, not a tag. */
const HOST_BEHIND = / \w[\w.-]{0,254} /y;
const ISO_DATE = /^ *\d{4}-/;
/** A level is no host. */
const ISO_DATE_AND_HOST = new RegExp(`^ *[\\d-]{10}T\\S+ (?!(?:${LEVELS})\\b)`, 'i');
const HOST = /^[\w:][\w.:-]*$/;
/** `name:`, `name[12]:` or `name[12]`. */
const TAG = /([^\s[\]:"'{}=,;<>|\\]{1,128})(?:\[([^\][\s]{0,128})\]:?|:(?=\s|$)) ?/y;
const UTC_NAMES = new Set(['UTC', 'GMT', 'Z']);

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
  const [all, host, month, day, yearBefore, hour, minute, second, fraction, half, laterFraction, yearBehind] = match;
  const year = yearBefore ?? yearBehind;
  const wall: WallTime = {
    year: year === undefined ? undefined : Number(year),
    month: MONTHS.indexOf(month!) + 1,
    day: Number(day),
    hour: half === undefined ? Number(hour) : hourOf(Number(hour), half),
    minute: Number(minute),
    second: Number(second),
  };
  const from = at + all.indexOf(`${month} `);
  return placed(text, { wall, from, end: at + all.length, host, fraction: fraction ?? laterFraction }, receivedAtMs, zone);
}

/** The hour of a clock with twelve; one that it has not makes no time. */
function hourOf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (half === 'P' ? 12 : 0);
}

interface Clock {
  readonly wall: WallTime;
  readonly from: number;
  readonly end: number;
  readonly host: string | undefined;
  readonly fraction: string | undefined;
}

/** With the zone behind it, if one is there. In front of a name whose offset cannot be told a time is not taken. */
function placed(text: string, { wall, from, end: clockEnd, host, fraction }: Clock, receivedAtMs: number, zone: Zone): Header | undefined {
  const name = zoneNameAt(text, clockEnd, zone);
  let end = clockEnd + (name === undefined ? 0 : name.length + 1);
  YEAR_BEHIND.lastIndex = end;
  const year = name !== undefined && wall.year === undefined ? YEAR_BEHIND.exec(text) : null;
  if (year) end = YEAR_BEHIND.lastIndex;
  const pattern = name === undefined ? TIME_END : ZONE_END;
  pattern.lastIndex = end;
  const behind = pattern.exec(text);
  if (!behind) return undefined;
  const offset = name === undefined ? undefined : name === 'Z' ? 0 : abbreviationOffset(name, zone.name);
  const offsetMs = typeof offset === 'number' ? offset * 1000 : undefined;
  const instant = zone.toInstant(year ? { ...wall, year: Number(year[1]) } : wall, receivedAtMs, offsetMs, MOST_AHEAD_WITHOUT_YEAR_MS);
  if (instant === undefined) return undefined;
  const isPlaced = name === undefined || offsetMs !== undefined;
  const sent = isPlaced && isTaken(instant, receivedAtMs) ? { time: writeTime(instant, fraction) } : { timeError: text.slice(from, end) };
  return { ...sent, host, isHostless: host !== undefined || (behind[1] ?? behind[2]) !== undefined, end: pattern.lastIndex };
}

/** Of Cisco's marks any name before `: %`; else one that is a zone's, in front of a colon or a host. Other words are a tag or a host. */
function zoneNameAt(text: string, at: number, zone: Zone): string | undefined {
  ZONE_NAME.lastIndex = at;
  const name = ZONE_NAME.exec(text)?.[1];
  if (name === undefined) return undefined;
  const end = at + name.length + 1;
  if (text[end] === ':') return UTC_NAMES.has(name) || text.startsWith(': %', end) ? name : undefined;
  if (text.startsWith(' : ', end)) return name;
  HOST_BEHIND.lastIndex = end;
  return (name === 'Z' || abbreviationOffset(name, zone.name) !== undefined) && HOST_BEHIND.test(text) ? name : undefined;
}

function readIsoTime(text: string, at: number, receivedAtMs: number, zone: Zone): Header | undefined {
  ISO_TIME.lastIndex = at;
  const match = ISO_TIME.exec(text);
  if (match === null) return undefined;
  const [all, year, month, day, hour, minute, second, fraction, z, zoneHour, zoneMinute] = match;
  const end = at + all.length;
  const from = at + all.length - all.trimStart().length;
  if (z !== undefined || zoneHour !== undefined) {
    const clock = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`;
    const time = `${clock}${z ?? `${zoneHour}:${zoneMinute}`}`;
    const sent = instantOf(time);
    TIME_END.lastIndex = end;
    const behind = TIME_END.exec(text);
    if (sent === undefined || !behind) return undefined;
    const isHostless = behind[1] !== undefined;
    const own = isTaken(sent, receivedAtMs) ? { time } : { timeError: text.slice(from, end) };
    return { ...own, host: undefined, isHostless, end: TIME_END.lastIndex };
  }
  const wall = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  return placed(text, { wall, from, end, host: undefined, fraction }, receivedAtMs, zone);
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

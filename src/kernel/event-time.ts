/**
 * The time that a line itself carries, in plain TypeScript: the oracle of assembly/time, and what formats with a parser of their
 * own use. Which forms there are is in docs/formats.md.
 */
import type { WallTime, Zone } from '../core/time/zone.ts';

/** An instant: whole seconds since 1970, and the digits of its fraction, at most nine. */
export interface EventTime {
  readonly second: number;
  readonly fraction: string;
}

/** The context of a time without a zone or a year. */
export interface TimeContext {
  readonly zone: Zone;
  /** Wall clock of the read. */
  readonly readAtMs: number;
}

/** Words for levels, as alternatives of a regular expression. */
export const LEVELS = 'trace|debug|info|notice|warn|warning|err|error|crit|critical|severe|fatal|alert|panic';
const HEAD = new RegExp(`\\[?(?:(?:${LEVELS})(?![A-Za-z])[ \\t]{0,4}\\]?:?[ \\t]{0,4}\\[?)?`, 'iy');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<name>${MONTHS.join('|')})`;
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const CLOCK = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
/** The last one has its year after the clock. */
const FORMS = [
  `(?<year>\\d{4})(?<separator>[-/])(?<month>\\d\\d)\\k<separator>(?<day>\\d\\d)[Tt ]${CLOCK}`,
  `(?:${WEEKDAY}, )?(?<day>\\d\\d?)(?<separator>[-/ ])${MONTH}\\k<separator>(?<year>\\d{4})[: ]${CLOCK}`,
  `${MONTH} (?<day>[ \\d]\\d) ${CLOCK}`,
  `[IWEF](?<year>\\d{4})?(?<month>\\d\\d)(?<day>\\d\\d) ${CLOCK}`,
  `${WEEKDAY} ${MONTH} (?<day>[ \\d]\\d) ${CLOCK}(?<follows>)`,
].map((source) => new RegExp(source, 'y'));
const FRACTION = /[.,](\d+)/y;
const ATTACHED_ZONE = /([Zz])|([+-])(?=\d)(?:(\d\d)(?::?(\d\d)(?![A-Za-z\d])|(?!:?\d|[A-Za-z])))?/y;
const SPACED_ZONE = / (?:([+-])(\d\d):?(\d\d)|(UTC|GMT|WET|WEST|CET|CEST|EET|EEST|MSK))(?![A-Za-z\d])/y;
const ZONE_HOURS: Readonly<Record<string, number>> = { UTC: 0, GMT: 0, WET: 0, WEST: 1, CET: 1, CEST: 2, EET: 2, EEST: 3, MSK: 3 };
const FOLLOWING_YEAR = / (\d{4})/y;
const COUNT = /^(\d{9,19})(?:\.(\d+))?$/;

const DAY_S = 86_400;
/** 2000-01-01. */
const EARLIEST_S = 946_684_800;

/** The time that a text begins with. `undefined` where it begins with none, or `isTaken` refuses it. */
export function leadingTime(text: string, context: TimeContext): EventTime | undefined {
  const found = readForm(text, matchAt(HEAD, text, 0)?.[0].length ?? 0, context);
  return found && isTaken(found.time, context) ? found.time : undefined;
}

/** The time that is the whole of a value: text, or a count of s, ms, µs or ns since 1970 by its magnitude. */
export function wholeTime(text: string, context: TimeContext): EventTime | undefined {
  const time = anyWholeTime(text, context);
  return time && isTaken(time, context) ? time : undefined;
}

/** The same from whatever year. */
export function anyWholeTime(text: string, context: TimeContext): EventTime | undefined {
  const counted = readCount(text);
  if (counted) return counted;
  const found = readForm(text, 0, context);
  return found?.end === text.length ? found.time : undefined;
}

/** A time before 2000, or more than a day ahead of the read, is likely none. */
export function isTaken({ second }: EventTime, { readAtMs }: TimeContext): boolean {
  return second >= EARLIEST_S && second <= Math.floor(readAtMs / 1000) + DAY_S;
}

/** RFC 3339 in UTC. For years from 0 to 9999. */
export function formatEventTime({ second, fraction }: EventTime): string {
  const whole = new Date(second * 1000).toISOString().slice(0, 19);
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

function readCount(text: string): EventTime | undefined {
  const [, whole, more = ''] = COUNT.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const tail = whole.length <= 10 ? 0 : whole.length <= 13 ? 3 : whole.length <= 16 ? 6 : 9;
  const at = whole.length - tail;
  return { second: Number(whole.slice(0, at)), fraction: (whole.slice(at) + more).slice(0, 9) };
}

interface Found {
  readonly time: EventTime;
  /** Behind the time. */
  readonly end: number;
}

function readForm(text: string, from: number, context: TimeContext): Found | undefined {
  for (const form of FORMS) {
    const match = matchAt(form, text, from);
    if (match) return finish(text, from + match[0].length, match.groups!, context);
  }
  return undefined;
}

/** Reads the text after the clock. */
function finish(text: string, from: number, groups: Readonly<Record<string, string | undefined>>, context: TimeContext): Found | undefined {
  let end = from;
  const [written = '', digits = ''] = matchAt(FRACTION, text, end) ?? [];
  end += written.length;
  const zone = readZone(text, end);
  if (!zone) return undefined;
  end = zone.end;
  let { year } = groups;
  if (groups['follows'] !== undefined) {
    const [following, found] = matchAt(FOLLOWING_YEAR, text, end) ?? [];
    if (following === undefined) return undefined;
    year = found;
    end += following.length;
  }
  if (/[A-Za-z\d]/.test(text[end] ?? '')) return undefined;
  const instant = instantOf(groups, year, zone.offset, context);
  return instant === undefined ? undefined : { time: { second: instant / 1000, fraction: digits.slice(0, 9) }, end };
}

function instantOf(
  groups: Readonly<Record<string, string | undefined>>,
  year: string | undefined,
  offset: number | undefined,
  { zone, readAtMs }: TimeContext,
): number | undefined {
  const [hour, minute, second] = [Number(groups['hour']), Number(groups['minute']), Number(groups['second'])];
  const month = groups['name'] === undefined ? Number(groups['month']) : MONTHS.indexOf(groups['name']) + 1;
  const wall: WallTime = { year: year === undefined ? undefined : Number(year), month, day: Number(groups['day']), hour, minute, second };
  return zone.toInstant(wall, readAtMs, offset);
}

/** The zone's offset in milliseconds, undefined where there is none. The result is undefined for an impossible zone. */
function readZone(text: string, at: number): { readonly end: number; readonly offset?: number } | undefined {
  const attached = matchAt(ATTACHED_ZONE, text, at);
  if (attached) {
    const [all, utc, sign, hours, minutes = '0'] = attached;
    if (utc !== undefined) return { end: at + 1, offset: 0 };
    const offset = hours === undefined ? undefined : offsetOf(sign, hours, minutes);
    return offset === undefined ? undefined : { end: at + all.length, offset };
  }
  const [all, sign, hours, minutes, name] = matchAt(SPACED_ZONE, text, at) ?? [];
  if (all === undefined) return { end: at };
  const offset = name === undefined ? offsetOf(sign, hours!, minutes!) : zoneOffset(name);
  return offset === undefined ? { end: at } : { end: at + all.length, offset };
}

/** The offset of a zone's name in milliseconds, where it has one everywhere. */
export function zoneOffset(name: string): number | undefined {
  return Object.hasOwn(ZONE_HOURS, name) ? ZONE_HOURS[name]! * 3_600_000 : undefined;
}

function offsetOf(sign: string | undefined, hours: string, minutes: string): number | undefined {
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/**
 * Times of senders. Which are taken: not before 1900, and at most a day ahead of the receipt, as for files. Clocks that were never set
 * say 0001 or 1900, broken ones 2099: such an event belongs to the time of its receipt. The kernel's bounds are the same (assembly/syslog/time.ts).
 */
import { countAt, formatEventTime, timeAt } from '../../../core/time/own-time.ts';
import type { Zone } from '../../../core/time/zone.ts';

const EARLIEST_S = -2_208_988_800;
const MOST_AHEAD_S = 86_400;
/** A date without a year that would be so far ahead comes from a clock that is ahead, not from last year: it is not taken. */
const MOST_AHEAD_WITHOUT_YEAR_MS = 31 * 86_400_000;
/** From a place up to the end of a clock. */
const CLOCK = /[^:]{0,40}\d:\d\d:\d\d(?:[.,]\d+)?/y;
const ZONE_WORD = / ([A-Z]{1,5})(?: \d{4})?$/;
const HALF = /^[AP]M$/;
/** Cisco's marks: any name there is a zone's. */
const MARKED_NAME = / [A-Z]{1,5}(?=: %| : )/y;
/** Behind the name of a zone. */
const BEHIND_ZONE = /: (?=%|[\w/.-]{1,64}(?:\[\d{1,10}\])?: )| : | \w[\w.-]{0,254} /y;
const UTC = /^(?:UTC|GMT|Z)$/;

/** It keeps its digits and its offset. */
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Sophos UTM writes `2026:07:10-10:59:59`, NetScaler `07/10/2026:10:59:59`, or day and month the other way round. */
const COLONS = /(\d{4}):(\d\d):(\d\d)-(?=\d\d:)/y;
const SLASHES = /(\d\d)\/(\d\d)\/(\d{4}):(?=\d\d:\d\d)/y;
const DAY_MS = 86_400_000;

export const TEXT_END = /$/y;

export interface SentTime {
  /** RFC 3339; undefined where it is not taken. */
  readonly time?: string;
  /** The time as it was sent, where it is not taken. */
  readonly timeError?: string;
  /** Behind it. */
  readonly end: number;
}

/**
 * The time at `at`, before the text that `behind` wants; undefined without one. Without a zone it is in `zone`. Text after the
 * clock that does not fit `behind` makes it no time.
 */
export function readSentTime(
  written: string,
  at: number,
  behind: RegExp,
  receivedAtMs: number,
  zone: Zone,
): SentTime | undefined {
  const text = asIso(written, at, receivedAtMs);
  let unknown: string | undefined;
  const unknownZone = (name: string): void => void (unknown = name);
  const context = { zone, readAtMs: receivedAtMs, mostAheadMs: MOST_AHEAD_WITHOUT_YEAR_MS };
  let found = countAt(text, at) ?? timeAt(text, at, { ...context, unknownZone });
  const name = unknown ?? ZONE_WORD.exec(text.slice(at, found?.end ?? at))?.[1];
  let end = found?.end ?? (unknown === undefined ? at : text.indexOf(` ${unknown}`, at) + unknown.length + 1);
  const isZone =
    name === undefined ||
    HALF.test(name) ||
    matches(BEHIND_ZONE, text, end) ||
    end === text.length ||
    (text[end] === ':' && UTC.test(name));
  // Behind an offset, a word is a tag.
  const isMarked = !RFC3339.test(text.slice(at, end)) && matches(MARKED_NAME, text, end);
  if (!isZone || isMarked || !matches(behind, text, end)) {
    if (!matches(CLOCK, text, at)) return undefined;
    found = timeAt(text.slice(0, CLOCK.lastIndex), at, context);
    if (found === undefined) return undefined;
    end = matches(MARKED_NAME, text, found.end) ? MARKED_NAME.lastIndex : found.end;
    if (!matches(behind, text, end)) return undefined;
    if (end > found.end) return { timeError: written.slice(at, end), end };
  }
  if (found === undefined) return { timeError: written.slice(at, end), end };
  const { second } = found.time;
  const isTaken = second >= EARLIEST_S && second <= Math.floor(receivedAtMs / 1000) + MOST_AHEAD_S;
  const sent = written.slice(at, end);
  return {
    ...(isTaken ? { time: RFC3339.test(sent) ? sent : formatEventTime(found.time) } : { timeError: sent }),
    end,
  };
}

/** The text with these two forms in that of ISO 8601, which is as long. Which number is the month the receipt tells: the one that puts it near. */
function asIso(text: string, at: number, receivedAtMs: number): string {
  const put = (year: string, month: string, day: string): string =>
    `${text.slice(0, at)}${year}-${month}-${day} ${text.slice(at + 11)}`;
  COLONS.lastIndex = SLASHES.lastIndex = at;
  const colons = COLONS.exec(text);
  if (colons) return put(colons[1]!, colons[2]!, colons[3]!);
  const [, first = '', second = '', year] = SLASHES.exec(text) ?? [];
  if (year === undefined) return text;
  const orders = [
    [first, second],
    [second, first],
  ].filter(([month]) => Number(month) <= 12);
  const isNear = ([month, day]: string[]): boolean =>
    Math.abs(Date.parse(`${year}-${month}-${day}T12:00:00Z`) - receivedAtMs) < 2 * DAY_MS;
  const order = orders.find(isNear) ?? (orders.length === 1 || first === second ? orders[0] : undefined);
  // A year that is never taken: which number is the month is ambiguous.
  return order ? put(year, order[0]!, order[1]!) : put('0001', '01', '01');
}

/**
 * The time of `Oct 11 22:14:15` or `2026-10-11T22:14:15`, in the second form in UTC; undefined when there is no such time, or it is not
 * taken.
 */
export function readLocalTime(text: string, receivedAtMs: number, zone: Zone): string | undefined {
  return readSentTime(text, 0, TEXT_END, receivedAtMs, zone)?.time?.slice(0, 19);
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

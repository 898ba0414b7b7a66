/**
 * Times of senders. Which are taken: not before 1900, and at most a day ahead of the receipt, as for files. Clocks that were never set
 * say 0001 or 1900, broken ones 2099: such an event belongs to the time of its receipt. The kernel's bounds are the same (assembly/syslog/time.ts).
 */
import { formatEventTime, timeAt } from '../../../core/time/own-time.ts';
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
const BEHIND_ZONE = /: %| : | \w[\w.-]{0,254} /y;
const UTC = /^(?:UTC|GMT|Z)$/;

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
 * The time at `at`, in front of what `behind` wants; undefined where there is none. Without a zone it is in `zone`. What stands behind the clock and does not
 * fit `behind` then is other text.
 */
export function readSentTime(text: string, at: number, behind: RegExp, receivedAtMs: number, zone: Zone): SentTime | undefined {
  let unknown: string | undefined;
  const unknownZone = (name: string): void => void (unknown = name);
  const context = { zone, readAtMs: receivedAtMs, mostAheadMs: MOST_AHEAD_WITHOUT_YEAR_MS };
  let found = timeAt(text, at, { ...context, unknownZone });
  const name = unknown ?? ZONE_WORD.exec(text.slice(at, found?.end ?? at))?.[1];
  let end = found?.end ?? (unknown === undefined ? at : text.indexOf(` ${unknown}`, at) + unknown.length + 1);
  const isZone = name === undefined || HALF.test(name) || matches(BEHIND_ZONE, text, end) || (text[end] === ':' && UTC.test(name));
  if (!isZone || matches(MARKED_NAME, text, end) || !matches(behind, text, end)) {
    if (!matches(CLOCK, text, at)) return undefined;
    found = timeAt(text.slice(0, CLOCK.lastIndex), at, context);
    if (found === undefined) return undefined;
    end = matches(MARKED_NAME, text, found.end) ? MARKED_NAME.lastIndex : found.end;
    if (!matches(behind, text, end)) return undefined;
    if (end > found.end) return { timeError: text.slice(at, end), end };
  }
  if (found === undefined) return { timeError: text.slice(at, end), end };
  const { second } = found.time;
  const isTaken = second >= EARLIEST_S && second <= Math.floor(receivedAtMs / 1000) + MOST_AHEAD_S;
  return { ...(isTaken ? { time: formatEventTime(found.time) } : { timeError: text.slice(at, end) }), end };
}

/** What `Oct 11 22:14:15` or `2026-10-11T22:14:15` stands for, in the second form in UTC; undefined when there is no such time, or it is not taken. */
export function readLocalTime(text: string, receivedAtMs: number, zone: Zone): string | undefined {
  return readSentTime(text, 0, TEXT_END, receivedAtMs, zone)?.time?.slice(0, 19);
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

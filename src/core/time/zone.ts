/**
 * Time zones: from a wall-clock time without a zone, and often without a year, to an instant. Offsets come from Intl and
 * are kept for each quarter of an hour (no zone changes in between), so that most messages cost a look into a map.
 */

import { daysOf, epochMs } from './time-text.ts';

export interface Zone {
  /** The IANA name that it was made of. */
  readonly name: string;
  /**
   * The instant of a wall-clock time, in milliseconds; of two (a clock set back) the one nearer to `nearMs`. Without
   * `year` it is the latest year that puts it at most `mostAheadMs` (a day) after `nearMs`: December's messages that arrive in January are
   * last year's, and a clock that is ahead at the turn of the year gives next year. Undefined when there is no such date.
   * `offsetMs`: of a time that names its own zone.
   */
  toInstant(wall: WallTime, nearMs: number, offsetMs?: number, mostAheadMs?: number): number | undefined;
  /** The offset in force at an instant, milliseconds. */
  offsetAt(instantMs: number): number;
}

export interface WallTime {
  readonly year: number | undefined;
  /** 1…12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const MAX_KEPT_OFFSETS = 4096;
/** Zones that logs name, and unknown names, to remember. */
const MAX_KEPT_ZONES = 256;
const kept = new Map<string, Zone | undefined>();
/** By the name that Intl gives them: there are about 450. */
const canonical = new Map<string, Zone>();

/** `name` is an IANA zone that Intl knows (the configuration checks it). */
export function createZone(name: string): Zone {
  const offsets = new Map<number, number>();
  if (name === 'UTC') return zoneOf(name, () => 0);
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });

  function offsetAt(instantMs: number): number {
    const quarter = Math.floor(instantMs / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      // `GMT`, `GMT+02:00`, or `GMT+01:34:52` before zones were set by law.
      const text = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(quarter * QUARTER_MS))!;
      const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = text;
      offset = Number(`${sign}1000`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds));
      if (offsets.size >= MAX_KEPT_OFFSETS) offsets.clear();
      offsets.set(quarter, offset);
    }
    return offset;
  }

  return zoneOf(name, offsetAt);
}

/** The zone of a name in a log; undefined if it is unknown. */
export function namedZone(name: string): Zone | undefined {
  if (kept.has(name)) return kept.get(name);
  let zone: Zone | undefined;
  try {
    // A name may be written in capitals and small letters in many ways, and a zone's offsets cost thousands of questions.
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    zone = canonical.get(timeZone) ?? createZone(timeZone);
    canonical.set(timeZone, zone);
  } catch {
    zone = undefined;
  }
  if (kept.size >= MAX_KEPT_ZONES) kept.clear();
  kept.set(name, zone);
  return zone;
}

function zoneOf(name: string, offsetAt: (instantMs: number) => number): Zone {
  function nearest(wallMs: number, nearMs: number): number {
    const before = offsetAt(wallMs - DAY_MS);
    const after = offsetAt(wallMs + DAY_MS);
    if (before === after) return wallMs - before;
    const valid = [wallMs - before, wallMs - after].filter((instant) => instant + offsetAt(instant) === wallMs);
    // A time that a clock set forward left out counts with the offset before the change.
    if (valid.length < 2) return valid[0] ?? wallMs - before;
    return valid.reduce((a, b) => (Math.abs(b - nearMs) < Math.abs(a - nearMs) ? b : a));
  }

  return {
    name,
    offsetAt,
    toInstant(wall, nearMs, offsetMs, mostAheadMs = DAY_MS) {
      const place = (wallMs: number): number => (offsetMs === undefined ? nearest(wallMs, nearMs) : wallMs - offsetMs);
      if (wall.year !== undefined) {
        const wallMs = wallAsUtc(wall, wall.year);
        return wallMs === undefined ? undefined : place(wallMs);
      }
      const yearNow = new Date(nearMs + offsetAt(nearMs)).getUTCFullYear();
      // Eight years back, for 29 February.
      for (let year = yearNow + 1; year >= yearNow - 8; year -= 1) {
        const wallMs = wallAsUtc(wall, year);
        if (wallMs === undefined) continue;
        const instant = place(wallMs);
        if (instant <= nearMs + mostAheadMs) return instant;
      }
      return undefined;
    },
  };
}

/** The inverse: the wall-clock time that was read as UTC, with the year 0 for a missing one. */
export function wallOf(ms: number): WallTime {
  const date = new Date(ms);
  const clock = { hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds() };
  return { year: date.getUTCFullYear() || undefined, month: date.getUTCMonth() + 1, day: date.getUTCDate(), ...clock };
}

/** The wall-clock time read as UTC, in milliseconds, or undefined when there is no such date or time. */
export function wallAsUtc(wall: WallTime, year: number): number | undefined {
  const { month, day, hour, minute, second } = wall;
  const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  return isDate && hour <= 23 && minute <= 59 && second <= 59
    ? epochMs(year, month, day, hour, minute, second, 0)
    : undefined;
}

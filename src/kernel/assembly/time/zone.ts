/** The zone of times that name none: its offsets, which JavaScript lays out as a table, and what follows from the read time. */
import { dateOf, daysOf, daysSince1970 } from '../calendar';

export const DAY: i64 = 86_400;
/** In a zone that a time names (zone-names.ts): where its table begins. */
const TABLE: usize = 64;
/** How far ahead of the read a date without a year may be, in milliseconds. */
const MOST_AHEAD: i64 = 86_400_000;
/** For a time that cannot be: before all that are taken. */
export const NEVER: i64 = i64.MIN_VALUE;

/** Entries of 16 bytes, i64 each: the second since 1970 from which an offset holds, and the offset in seconds. The first holds from ever. */
let table: usize = 0;
let last: u32 = 0;
/** The entry that was used last. */
let recent: u32 = 0;
/** Milliseconds since 1970. */
let readAt: i64 = 0;

export function setUpZone(at: usize): void {
  table = at;
}

/** Sets the number of entries in the table. */
export function useOffsets(count: u32): void {
  last = count - 1;
  recent = 0;
}

export function setReadAt(ms: i64): void {
  readAt = ms;
}

function beginOf(entry: u32): i64 {
  return load<i64>(table + (entry << 4));
}

/** The offset in force at a second since 1970. */
function offsetAt(second: i64): i64 {
  let entry = recent;
  while (entry < last && beginOf(entry + 1) <= second) entry++;
  while (entry > 0 && beginOf(entry) > second) entry--;
  recent = entry;
  return load<i64>(table + (entry << 4), 8);
}

/** Takes the table of the zone at `named` into use, until `useOwn`. */
function useNamed(named: usize): void {
  ownTable = table;
  ownLast = last;
  table = named + TABLE;
  last = load<u32>(named, 4) - 1;
  recent = last;
}

function useOwn(): void {
  table = ownTable;
  last = ownLast;
  recent = 0;
}

let ownTable: usize = 0;
let ownLast: u32 = 0;

/** As `localInstant` in the zone at `named`. */
export function namedInstant(named: usize, wall: i64): i64 {
  useNamed(named);
  const instant = localInstant(wall);
  useOwn();
  return instant;
}

/** As `inferredInstant` in the zone at `named`. */
export function inferredNamed(named: usize, month: u32, day: u32, clock: i64): i64 {
  useNamed(named);
  const instant = inferredInstant(month, day, clock, true, 0);
  useOwn();
  return instant;
}

/** The second since 1970 of a wall-clock time; of two (a clock set back) the one nearer to the read. */
export function localInstant(wall: i64): i64 {
  const before = offsetAt(wall - DAY);
  const after = offsetAt(wall + DAY);
  if (before == after) return wall - before;
  const early = wall - before;
  const late = wall - after;
  const isEarly = early + offsetAt(early) == wall;
  const isLate = late + offsetAt(late) == wall;
  // A time that a clock set forward left out counts with the offset before the change.
  if (!isLate) return early;
  if (!isEarly) return late;
  return abs(late * 1000 - readAt) < abs(early * 1000 - readAt) ? late : early;
}

/**
 * The instant in the latest year that puts it at most a day ahead of the read. `offset`: that of a time that names its zone, else `local`
 * is true.
 */
export function inferredInstant(month: u32, day: u32, clock: i64, local: bool, offset: i64): i64 {
  const second = readAt / 1000;
  const yearNow = dateOf(<i32>((second + offsetAt(second)) / DAY)) >> 16;
  // Eight years back, for 29 February.
  for (let year = yearNow + 1; year + 8 >= yearNow; year--) {
    if (day > daysOf(year, month)) continue;
    const wall = <i64>daysSince1970(year, month, day) * DAY + clock;
    const instant = local ? localInstant(wall) : wall - offset;
    if (instant * 1000 <= readAt + MOST_AHEAD) return instant;
  }
  return NEVER;
}

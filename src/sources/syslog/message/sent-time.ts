/**
 * Which times of senders are taken: not before 1900, and at most a day ahead of the receipt, as for files. Clocks that were never set
 * say 0001 or 1900, broken ones 2099: such an event belongs to the time of its receipt. The kernel's bounds are the same (assembly/syslog/time.ts).
 */
const EARLIEST_S = -2_208_988_800;
const MOST_AHEAD_S = 86_400;

/** A date without a year that would be so far ahead comes from a clock that is ahead, not from last year: it is not taken. */
export const MOST_AHEAD_WITHOUT_YEAR_MS = 31 * 86_400_000;

/** Whole seconds count. */
export function isTaken(instantMs: number, receivedAtMs: number): boolean {
  const second = Math.floor(instantMs / 1000);
  return second >= EARLIEST_S && second <= Math.floor(receivedAtMs / 1000) + MOST_AHEAD_S;
}

/** The result of one call of the kernel. The object is reused by the next call. */
export interface WrapResult {
  /** Input bytes used up: whole lines. */
  consumed: number;
  /** Output bytes written. */
  written: number;
  /** Events written (empty lines are skipped and are no events). */
  events: number;
  /** Empty lines skipped. */
  skipped: number;
  /** U+FFFD written for invalid UTF-8. */
  replaced: number;
  /** Events whose time is not taken because it precedes an unknown zone. */
  unknownZones: number;
  /**
   * `input`: all of it is used up. `output`: the next event does not fit in the bytes that are left, but fits a slot.
   * `events`: `maxEvents` reached. `too_large`: the next event alone would not fit an empty slot, that is `output.bytes[0,
   * limit)`: use `wrapLarge`. Whether something was written before, in this call or an earlier one, makes no difference,
   * so that the caller can close the batch or not; sizes are exact, a line is never called too large on an estimate.
   */
  stop: 'input' | 'output' | 'events' | 'too_large';
}

/**
 * How much of unfinished messages the connections of a source hold, and for how long. Every connection has a share of its own. One whose
 * message is longer reserves room for all of it before more is read; without room its sender waits. Promises: bounded memory; no message is
 * cut for another's sake while it comes at a fair pace; one that has room always comes to its end or its time; first come, first served,
 * whatever the address.
 */
import type { Clock } from '../../../core/time/clock.ts';
import {
  MAX_SYSLOG_UNFINISHED_BYTES,
  SYSLOG_OUT_OF_STEP_MS,
  SYSLOG_SHARE_BYTES,
  SYSLOG_SLOW_BYTES,
  SYSLOG_SLOW_MS,
  SYSLOG_UNFINISHED_MS,
} from '../limits.ts';

export interface UnfinishedLimits {
  readonly shareBytes: number;
  readonly allBytes: number;
  readonly unfinishedMs: number;
  readonly outOfStepMs: number;
  readonly slowMs: number;
  readonly slowBytes: number;
}

export const UNFINISHED_LIMITS: UnfinishedLimits = {
  shareBytes: SYSLOG_SHARE_BYTES,
  allBytes: MAX_SYSLOG_UNFINISHED_BYTES,
  unfinishedMs: SYSLOG_UNFINISHED_MS,
  outOfStepMs: SYSLOG_OUT_OF_STEP_MS,
  slowMs: SYSLOG_SLOW_MS,
  slowBytes: SYSLOG_SLOW_BYTES,
};

/** A connection, as far as its unfinished message goes. */
export interface UnfinishedHolder {
  readonly heldBytes: number;
  /** Bytes of the message so far, held or not. */
  readonly messageBytes: number;
  /** Bytes that the message may need until its end. */
  readonly mostBytes: number;
  /** When its first byte came; undefined: none is unfinished. */
  readonly sinceMs: number | undefined;
  readonly isOutOfStep: boolean;
  /** False while it is not read from for another reason: that time is not its own. */
  readonly isReading: boolean;
  /** Stops reading from the sender, or goes on. */
  setHeldBack(isHeldBack: boolean): void;
  /** The message's time is over: gives the bytes that came. */
  expire(): void;
}

interface Room {
  readonly bytes: number;
  readonly sinceMs: number;
}

export class UnfinishedMessages {
  readonly #clock: Clock;
  readonly #limits: UnfinishedLimits;
  #left: number;
  readonly #rooms = new Map<UnfinishedHolder, Room>();
  readonly #waiting = new Set<UnfinishedHolder>();

  constructor(clock: Clock, limits: UnfinishedLimits = UNFINISHED_LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.allBytes;
  }

  /** Called after each read. */
  note(holder: UnfinishedHolder): void {
    if (holder.heldBytes <= this.#limits.shareBytes) return this.#release(holder);
    if (this.#rooms.has(holder) || this.#waiting.has(holder)) return;
    this.#waiting.add(holder);
    this.#admit();
    if (this.#waiting.has(holder)) holder.setHeldBack(true);
  }

  /** The connection is over. */
  remove(holder: UnfinishedHolder): void {
    this.#waiting.delete(holder);
    this.#release(holder);
    this.#admit();
  }

  /** Ends the messages of these connections whose time is over; returns how many. */
  look(holders: Iterable<UnfinishedHolder>): number {
    const now = this.#clock.monotonic();
    let over = 0;
    for (const holder of holders) {
      // Those before it may have filled the window.
      if (!holder.isReading || now < this.#endOf(holder)) continue;
      over += 1;
      holder.expire();
      this.note(holder);
    }
    return over;
  }

  #endOf(holder: UnfinishedHolder): number {
    const { unfinishedMs, outOfStepMs, slowMs, slowBytes } = this.#limits;
    const { sinceMs } = holder;
    if (sinceMs === undefined || this.#waiting.has(holder)) return Infinity;
    if (holder.isOutOfStep) return sinceMs + outOfStepMs;
    const end = sinceMs + unfinishedMs + (slowMs * holder.messageBytes) / slowBytes;
    const room = this.#rooms.get(holder);
    if (room === undefined || this.#waiting.size === 0) return end;
    return Math.min(end, Math.max(sinceMs, room.sinceMs) + slowMs * (1 + holder.heldBytes / slowBytes));
  }

  #release(holder: UnfinishedHolder): void {
    const room = this.#rooms.get(holder);
    if (room === undefined) return;
    this.#rooms.delete(holder);
    this.#left += room.bytes;
    this.#admit();
  }

  #admit(): void {
    for (const holder of this.#waiting) {
      const bytes = Math.min(holder.mostBytes, this.#limits.allBytes);
      if (bytes > this.#left) return;
      this.#left -= bytes;
      this.#waiting.delete(holder);
      this.#rooms.set(holder, { bytes, sinceMs: this.#clock.monotonic() });
      holder.setHeldBack(false);
    }
  }
}

/**
 * Between listeners and the lane: events are written into one half of the window while the lane takes the other, so that
 * what arrives within a few milliseconds, or during an accept, becomes one block a stream. Promises: an event that was written
 * is handed over, or counted as lost when the lane gives up; memory is the window and no more.
 */
import type { Block, EventShape, Lane, Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { StoppedError } from '../../../core/errors.ts';
import {
  SYSLOG_EVENT_MARGIN_BYTES,
  SYSLOG_HAND_OVER_BYTES,
  SYSLOG_HAND_OVER_MS,
  SYSLOG_PARTS_BYTES,
  SYSLOG_PENDING_BYTES,
} from '../limits.ts';
import { tailOf } from '../../../core/sums.ts';

const NEWLINE = 10;

/** The position of a connection or listener: `offset` counts the bytes of JSON lines it wrote. */
export interface StreamPosition {
  readonly stream: string;
  offset: number;
}

interface EventRun {
  readonly stream: string;
  readonly start: number;
  end: number;
  readonly offset: number;
  events: number;
  /** Set when its one event is not to be sent: why it goes to the dead letters. */
  readonly refusal?: string;
  /** Where events begin that hold a part of a JSON object. */
  readonly unread: number[];
}

interface Half {
  readonly start: number;
  readonly limit: number;
  end: number;
  isClosed: boolean;
  runs: EventRun[];
}

/** Bytes that the kernel needs for an event beside six for each byte of the message. */
const KERNEL_EVENT_BYTES = 2048;

/** Bytes of the window: two halves, each with room for one event more than what makes it full, or for all parts of one message. */
export function collectorBytes(maxEventBytes: number, splits: boolean): number {
  return 2 * (SYSLOG_PENDING_BYTES + maxEventBytes + SYSLOG_EVENT_MARGIN_BYTES + (splits ? SYSLOG_PARTS_BYTES : 0));
}

export interface CollectorOptions {
  readonly lane: Lane;
  /** Has `collectorBytes`. */
  readonly window: Region;
  readonly maxEventBytes: number;
  readonly shape: EventShape;
  readonly clock: Clock;
  /** Called with what the lane refused. */
  readonly lost: (events: number, bytes: number) => void;
  /** Called when the window has space again after `isFull`. */
  readonly freed: () => void;
}

export class Collector {
  readonly #options: CollectorOptions;
  #filling: Half;
  #other: Half;
  #isHandingOver = false;
  /** Waits for more, while there is little. */
  #timer: NodeJS.Timeout | undefined;
  /** Nothing waits for more: someone wants all of it gone. */
  #isFlushing = false;
  readonly #failed = Promise.withResolvers<never>();
  /** The lane takes no more. */
  #isGivenUp = false;
  #waiters: (() => void)[] = [];

  constructor(options: CollectorOptions) {
    this.#options = options;
    // Heard of through `failed`, if anyone asks.
    this.#failed.promise.catch(() => {});
    const { length } = options.window.bytes;
    const middle = Math.floor(length / 2);
    this.#filling = { start: 0, limit: middle, end: 0, isClosed: false, runs: [] };
    this.#other = { start: middle, limit: 2 * middle, end: middle, isClosed: false, runs: [] };
  }

  get window(): Region {
    return this.#options.window;
  }

  /** Bytes of the longest event that always fits while it is not full, without its newline. */
  get longestEvent(): number {
    return this.#options.maxEventBytes + SYSLOG_EVENT_MARGIN_BYTES - 1;
  }

  /** Bytes of the longest message that surely fits an empty half. */
  get longestMessage(): number {
    return Math.floor((this.#filling.limit - this.#filling.start - KERNEL_EVENT_BYTES) / 6);
  }

  get isFull(): boolean {
    const { start, end, isClosed } = this.#filling;
    return isClosed || end - start >= SYSLOG_PENDING_BYTES;
  }

  /** Where events may be written now: an empty half takes a long one, too. */
  get space(): { readonly from: number; readonly to: number } {
    const { start, end, limit } = this.#filling;
    return { from: end, to: end === start ? limit : start + SYSLOG_PENDING_BYTES };
  }

  /** Up to where a single event may go. */
  get hardLimit(): number {
    return this.#filling.limit;
  }

  /** Closes this half: the next event does not fit. */
  close(): void {
    this.#filling.isClosed = true;
  }

  /** Notes that `events` were written into the space, `bytes` with their newlines. `isUnread`: its one event holds a part of a JSON object. */
  wrote(cursor: StreamPosition, bytes: number, events: number, refusal?: string, isUnread = false): void {
    if (this.#isGivenUp) return this.#options.lost(events, bytes);
    const half = this.#filling;
    const start = half.end;
    half.end += bytes;
    const last = half.runs.at(-1);
    if (last?.stream === cursor.stream && last.refusal === undefined && refusal === undefined) {
      last.end = half.end;
      last.events += events;
      if (isUnread) last.unread.push(start);
    } else {
      const unread = isUnread ? [start] : [];
      half.runs.push({
        stream: cursor.stream,
        start,
        end: half.end,
        offset: cursor.offset,
        events,
        unread,
        ...(refusal && { refusal }),
      });
    }
    cursor.offset += bytes;
    if (!this.#isHandingOver) this.#schedule();
  }

  /** Writes one event of at most `longestEvent` bytes. `refusal`: why it goes to the dead letters; `isUnread`: it holds a part of a JSON object. */
  append(cursor: StreamPosition, json: string, refusal?: string, isUnread = false): void {
    const { window } = this.#options;
    const { end } = this.#filling;
    const length = window.bytes.write(json, end);
    window.bytes[end + length] = NEWLINE;
    this.wrote(cursor, length + 1, 1, refusal, isUnread);
  }

  /** Rejects when the lane throws anything but `E_STOPPED`: a bug. Never resolves. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Resolves once everything was handed over. */
  async idle(): Promise<void> {
    this.#isFlushing = true;
    if (!this.#isHandingOver && this.#filling.runs.length > 0) this.#schedule();
    while (this.#isHandingOver) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    this.#isFlushing = false;
  }

  /** A block costs about the same at any size: it is worth waiting a few milliseconds. */
  get #isWorthwhile(): boolean {
    const { start, end, isClosed } = this.#filling;
    return this.#isFlushing || isClosed || end - start >= SYSLOG_HAND_OVER_BYTES;
  }

  #schedule(): void {
    if (!this.#isWorthwhile) {
      this.#timer ??= setTimeout(() => this.#begin(), SYSLOG_HAND_OVER_MS);
      return;
    }
    // After this turn, so that all it brings goes together.
    this.#isHandingOver = true;
    clearTimeout(this.#timer);
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#timer = undefined;
    this.#isHandingOver = true;
    void this.#handOver();
  }

  async #handOver(): Promise<void> {
    for (let isFirst = true; this.#filling.runs.length > 0 && (isFirst || this.#isWorthwhile); isFirst = false) {
      const half = this.#filling;
      const wasFull = this.isFull;
      this.#filling = this.#other;
      this.#other = half;
      if (wasFull) this.#options.freed();
      for (const run of half.runs) await this.#accept(run);
      half.end = half.start;
      half.isClosed = false;
      half.runs = [];
    }
    this.#isHandingOver = false;
    if (this.#filling.runs.length > 0) this.#schedule();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  async #accept(run: EventRun): Promise<void> {
    const { lane, shape, window, clock, lost } = this.#options;
    const { stream, start, end, offset, events, refusal, unread } = run;
    const block = {
      stream,
      shape,
      window,
      start,
      end,
      offset,
      ...(unread.length > 0 ? { unread } : {}),
      readAtMs: clock.now(),
    };
    let left = { events, bytes: end - start };
    try {
      if (!this.#isGivenUp)
        return await lane.accept(
          refusal === undefined ? block : { ...block, single: refused(window, start, end, refusal) },
        );
    } catch (error) {
      this.#isGivenUp = true;
      if (error instanceof StoppedError) left = this.#left(end, error.remainingBytes);
      else this.#failed.reject(error);
    }
    lost(left.events, left.bytes);
  }

  /** What of a run was not accepted any more. */
  #left(end: number, bytes: number): { events: number; bytes: number } {
    let events = 0;
    for (const byte of this.window.bytes.subarray(end - bytes, end)) if (byte === NEWLINE) events += 1;
    return { events, bytes };
  }
}

/** One event that is not to be sent. */
function refused(window: Region, start: number, end: number, refusal: string): NonNullable<Block['single']> {
  const bytes = window.bytes.subarray(start, end);
  // Sums are compared only for streams that can be read again.
  return { length: bytes.length, sum: 0, tail: tailOf(bytes), refusal };
}

/**
 * Between listeners and the lane: events are written into one half of the window while the lane takes the other, so that
 * what arrives in one turn, or during an accept, becomes one block a stream. Promises: an event that was appended is handed
 * over, or counted as lost when the lane gives up; memory is the window and no more.
 */
import type { EventShape, Lane, Region } from '../../core/block.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf } from '../../core/errors.ts';
import { SYSLOG_PENDING_BYTES } from '../../core/limits.ts';

/** Where a connection or listener stands: `offset` counts the bytes of JSON lines it wrote. */
export interface Cursor {
  readonly stream: string;
  offset: number;
}

interface Run {
  readonly stream: string;
  readonly start: number;
  end: number;
  readonly offset: number;
  events: number;
}

interface Half {
  readonly start: number;
  readonly limit: number;
  end: number;
  runs: Run[];
}

/** Bytes that one event may have, with its newline. */
export function halfBytes(maxEventBytes: number): number {
  return SYSLOG_PENDING_BYTES + maxEventBytes + 128 * 1024;
}

export class Collector {
  readonly #lane: Lane;
  readonly #window: Region;
  readonly #shape: EventShape;
  readonly #clock: Clock;
  readonly #onLost: (events: number, bytes: number) => void;
  #filling: Half;
  #other: Half;
  #isHandingOver = false;
  readonly #failed = Promise.withResolvers<never>();
  /** The lane takes no more. */
  #isGivenUp = false;
  #waiters: (() => void)[] = [];

  /** `window` has two `halfBytes`. `onLost` hears of what the lane did not take any more. */
  constructor(lane: Lane, window: Region, shape: EventShape, clock: Clock, onLost: (events: number, bytes: number) => void) {
    this.#lane = lane;
    this.#window = window;
    this.#shape = shape;
    this.#clock = clock;
    this.#onLost = onLost;
    // Heard of through `failed`, if anyone asks.
    this.#failed.promise.catch(() => {});
    const middle = Math.floor(window.bytes.length / 2);
    this.#filling = { start: 0, limit: middle, end: 0, runs: [] };
    this.#other = { start: middle, limit: window.bytes.length, end: middle, runs: [] };
  }

  /** Writes an event; false when there is no room now. Once the lane gave up, events are counted as lost. */
  append(cursor: Cursor, json: string): boolean {
    if (this.#isGivenUp) {
      this.#onLost(1, Buffer.byteLength(json) + 1);
      return true;
    }
    const half = this.#filling;
    const room = half.limit - half.end - 1;
    if (half.end - half.start >= SYSLOG_PENDING_BYTES || (3 * json.length > room && Buffer.byteLength(json) > room)) return false;
    const { bytes } = this.#window;
    const start = half.end;
    half.end += bytes.write(json, start);
    bytes[half.end] = 10;
    half.end += 1;
    const last = half.runs.at(-1);
    if (last?.stream === cursor.stream) {
      last.end = half.end;
      last.events += 1;
    } else {
      half.runs.push({ stream: cursor.stream, start, end: half.end, offset: cursor.offset, events: 1 });
    }
    cursor.offset += half.end - start;
    if (!this.#isHandingOver) {
      this.#isHandingOver = true;
      // After this turn, so that all it brings goes together.
      setImmediate(() => void this.#handOver());
    }
    return true;
  }

  /** Resolves when there may be room again. */
  async room(): Promise<void> {
    if (!this.#isGivenUp) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Rejects when the lane throws anything but `E_STOPPED`: a bug. Never resolves. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Resolves once everything was handed over. */
  async idle(): Promise<void> {
    while (this.#isHandingOver) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  async #handOver(): Promise<void> {
    while (this.#filling.runs.length > 0) {
      const half = this.#filling;
      this.#filling = this.#other;
      this.#other = half;
      this.#wake();
      for (const run of half.runs) await this.#accept(run);
      half.end = half.start;
      half.runs = [];
    }
    this.#isHandingOver = false;
    this.#wake();
  }

  async #accept(run: Run): Promise<void> {
    const { stream, start, end, offset, events } = run;
    try {
      if (!this.#isGivenUp)
        return await this.#lane.accept({
          stream,
          shape: this.#shape,
          window: this.#window,
          start,
          end,
          offset,
          readAtMs: this.#clock.now(),
        });
    } catch (error) {
      this.#isGivenUp = true;
      if (codeOf(error) !== 'E_STOPPED') this.#failed.reject(error);
    }
    this.#onLost(events, end - start);
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

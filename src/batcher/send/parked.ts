/**
 * Batches that wait and hold no worker: until their refused events can be kept as dead letters, or until an event that was refused alone
 * may be sent again. They leave their slots, so that other batches are made and sent meanwhile.
 */
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Batch } from '../batch.ts';
import type { BatchQueue } from '../queue.ts';

/** Why dead letters cannot be kept now. */
export interface UnkeptLetters {
  /** The events that are to be kept. */
  readonly events: number;
  /** `dead_letter.max_bytes` is reached; else the disk refuses. */
  readonly isFull: boolean;
  readonly reason: string;
  readonly fix: string;
}

export interface Wait {
  /** Monotonic milliseconds. */
  readonly untilMs: number;
  /** Set where it waits for the dead letters: it also ends when these have room. */
  readonly unkept?: UnkeptLetters | undefined;
}

/** The batches that wait for the dead letters, as telemetry shows them. */
export interface Blocked extends Omit<UnkeptLetters, 'events'> {
  readonly batches: number;
  readonly events: number;
}

export interface ParkedOptions {
  readonly sink: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly queue: BatchQueue;
}

export class Parked {
  readonly #options: ParkedOptions;
  readonly #waits = new Map<Batch, Wait>();
  /** Also of batches that are tried again at the moment, until they are settled. */
  readonly #unkept = new Map<Batch, UnkeptLetters>();
  #timer: AbortController | undefined;
  /** The log says once that batches wait for the dead letters, and once that none does any more. */
  #isBlocked = false;

  constructor(options: ParkedOptions) {
    this.#options = options;
  }

  add(batch: Batch, wait: Wait): void {
    this.#options.queue.note(batch, 'park');
    this.#waits.set(batch, wait);
    if (wait.unkept) this.#unkept.set(batch, wait.unkept);
    else this.#unkept.delete(batch);
    this.#noteBlocked();
    this.#arm();
  }

  /** The dead letters have room again: what waits for them is tried. */
  retryLetters(): void {
    this.#release((wait) => wait.unkept !== undefined);
  }

  /** The batch waits for nothing any more: the log says when it was the last that waited for the dead letters. */
  noteSettled(batch: Batch): void {
    if (this.#waits.delete(batch)) this.#arm();
    if (!this.#unkept.delete(batch) || this.#unkept.size > 0) return;
    this.#isBlocked = false;
    this.#options.log.info({ sink: this.#options.sink }, 'dead letters are kept again; no batch waits for them');
  }

  /** Undefined while none waits for the dead letters. */
  get blocked(): Blocked | undefined {
    const unkept = [...this.#unkept.values()];
    const shown = unkept.find(({ isFull }) => isFull) ?? unkept[0];
    if (!shown) return undefined;
    const { isFull, reason, fix } = shown;
    return { isFull, reason, fix, batches: unkept.length, events: unkept.reduce((sum, { events }) => sum + events, 0) };
  }

  #noteBlocked(): void {
    const { blocked } = this;
    if (!blocked || this.#isBlocked) return;
    this.#isBlocked = true;
    const { isFull, reason, fix } = blocked;
    this.#options.log.error(
      { sink: this.#options.sink, reason, fix },
      isFull
        ? 'dead letters are full: batches with refused events wait, all others are sent'
        : 'dead letters cannot be kept: batches with refused events wait, all others are sent',
    );
  }

  #release(isDue: (wait: Wait) => boolean): void {
    for (const batch of this.#options.queue.in('parked')) {
      if (!isDue(this.#waits.get(batch)!)) continue;
      this.#waits.delete(batch);
      this.#options.queue.note(batch, 'queue');
    }
    this.#arm();
  }

  /** One timer, for the wait that ends first. */
  #arm(): void {
    this.#timer?.abort();
    const { clock, queue } = this.#options;
    const { signal } = queue.halt;
    let nextMs = Infinity;
    for (const { untilMs } of this.#waits.values()) nextMs = Math.min(nextMs, untilMs);
    if (nextMs === Infinity || signal.aborted) return;
    const timer = new AbortController();
    this.#timer = timer;
    void clock.sleep(nextMs - clock.monotonic(), AbortSignal.any([signal, timer.signal])).then(() => {
      if (!timer.signal.aborted && !signal.aborted) this.#release(({ untilMs }) => untilMs <= clock.monotonic());
    });
  }
}

/**
 * Decides who reads while the collector is full: readers whose bytes did not fit wait in a queue, and resume in its order.
 * Promises: bounded waiting bytes; a sender that floods does not starve the others.
 */
import { MAX_SYSLOG_WAITING_READERS } from '../limits.ts';

/** A connection or a datagram socket, as far as its reading goes. */
export interface PausableReader {
  /** True while received bytes wait for the window. */
  readonly isWaiting: boolean;
  /** Stops reading from the sender until `resume`. Idempotent. */
  pause(): void;
  /** Takes the waiting bytes, and reads again if all of them fit. Idempotent. */
  resume(): void;
}

export class Flow {
  readonly #isFull: () => boolean;
  readonly #readers = new Set<PausableReader>();
  readonly #queue = new Set<PausableReader>();
  #isHalted = false;

  constructor(isFull: () => boolean) {
    this.#isFull = isFull;
  }

  get isFull(): boolean {
    return this.#isFull();
  }

  add(reader: PausableReader): void {
    this.#readers.add(reader);
    if (this.#isHalted) reader.pause();
  }

  remove(reader: PausableReader): void {
    this.#readers.delete(reader);
    this.#queue.delete(reader);
  }

  /** Queues a reader with waiting bytes: it stops reading, and is called when the window has space. */
  wait(reader: PausableReader): void {
    reader.pause();
    this.#queue.add(reader);
    if (this.#isHalted || this.#queue.size < MAX_SYSLOG_WAITING_READERS) return;
    this.#isHalted = true;
    for (const other of this.#readers) other.pause();
  }

  /** Called when the window has space again. */
  resume(): void {
    for (const reader of this.#queue) {
      if (this.#isFull()) return;
      this.#queue.delete(reader);
      reader.resume();
      if (reader.isWaiting) this.#queue.add(reader);
    }
    if (!this.#isHalted) return;
    this.#isHalted = false;
    for (const reader of this.#readers) if (!this.#queue.has(reader)) reader.resume();
  }
}

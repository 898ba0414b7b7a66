/**
 * Who may read and who waits, when the collector is full: those that received bytes which found no room wait in a queue, and
 * go on in its order. Promises: what waits is bounded; a sender that floods does not starve the others.
 */
import { MAX_SYSLOG_WAITING_READERS } from '../limits.ts';

/** A connection or a datagram socket, as far as its reading goes. */
export interface Reader {
  /** Whether bytes that were received wait for room. */
  readonly isWaiting: boolean;
  /** Stops reading from the sender until `resume`. Idempotent. */
  pause(): void;
  /** Takes what waits, and reads again if all of that found room. Idempotent. */
  resume(): void;
}

export class Flow {
  readonly #isFull: () => boolean;
  readonly #readers = new Set<Reader>();
  readonly #queue = new Set<Reader>();
  #isHalted = false;

  constructor(isFull: () => boolean) {
    this.#isFull = isFull;
  }

  get isFull(): boolean {
    return this.#isFull();
  }

  add(reader: Reader): void {
    this.#readers.add(reader);
    if (this.#isHalted) reader.pause();
  }

  remove(reader: Reader): void {
    this.#readers.delete(reader);
    this.#queue.delete(reader);
  }

  /** The reader has bytes that wait: it reads no more, and is called when there is room. */
  wait(reader: Reader): void {
    reader.pause();
    this.#queue.add(reader);
    if (this.#isHalted || this.#queue.size < MAX_SYSLOG_WAITING_READERS) return;
    this.#isHalted = true;
    for (const other of this.#readers) other.pause();
  }

  /** There is room again. */
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

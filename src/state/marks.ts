/**
 * Low-water marks: how far a stream is settled at one sink, without gaps. Batches settle in any order; the mark moves only
 * over what is settled from its beginning on. A batch that is not settled stops it.
 */
import type { Span, Tail } from '../core/block.ts';

export const NO_TAIL: Tail = { length: 0, crc: 0 };

interface Pending {
  readonly from: number;
  readonly to: number;
  readonly tail: Tail;
  readonly batch: number;
  settled: boolean;
}

export class Mark {
  settledTo: number;
  tail: Tail;
  /** End of the last span committed: where reading goes on. */
  committedTo: number;
  committedTail: Tail;
  readonly #pending: Pending[] = [];

  constructor(settledTo: number, tail: Tail) {
    this.settledTo = settledTo;
    this.tail = tail;
    this.committedTo = settledTo;
    this.committedTail = tail;
  }

  /** Notes a span that was committed to the database. Spans of a stream come in order, but for those of a batch that was divided. */
  commit(span: Span, batch: number): void {
    let at = this.#pending.length;
    while (at > 0 && this.#pending[at - 1]!.from > span.from) at -= 1;
    this.#pending.splice(at, 0, { from: span.from, to: span.to, tail: span.tail, batch, settled: false });
    if (span.to > this.committedTo) {
      this.committedTo = span.to;
      this.committedTail = span.tail;
    }
  }

  /** Settles the batch's spans of this stream; returns the batches that the mark has now passed, one entry for each span. */
  settle(batch: number): number[] {
    for (const entry of this.#pending) if (entry.batch === batch) entry.settled = true;
    const passed: number[] = [];
    let done = 0;
    for (const entry of this.#pending) {
      if (!entry.settled) break;
      if (entry.to > this.settledTo) {
        this.settledTo = entry.to;
        this.tail = entry.tail;
      }
      passed.push(entry.batch);
      done += 1;
    }
    this.#pending.splice(0, done);
    return passed;
  }

  get isSettled(): boolean {
    return this.#pending.length === 0;
  }
}

/**
 * The result of shaping for each event of a batch, in order: how many events it became, and what became of one that was not sent. Stored as runs of
 * equal results, of which most batches have few.
 */
import { DISPOSITIONS, type Disposition } from '../core/shaping.ts';

const NUMBERS = 3;

export class ShapingOutcomes {
  /** Three numbers a run: its events, how many are sent of each, and the place in DISPOSITIONS. No two neighbours are equal in the latter two. */
  #runs: Uint32Array;
  #length: number;

  /** Runs as `toStored` or a shaper gives them. A typed array has no room: it is copied when something is added. */
  constructor(runs: readonly number[] | Uint32Array = []) {
    this.#runs = runs instanceof Uint32Array ? runs : Uint32Array.from(runs);
    this.#length = runs.length;
  }

  /** Each event is sent as one. */
  get isPlain(): boolean {
    const runs = this.#runs;
    return this.#length === 0 || (this.#length === NUMBERS && runs[1] === 1 && runs[2] === 0);
  }

  get runCount(): number {
    return this.#length / NUMBERS;
  }

  add(events: number, sent: number, disposition: Disposition): void {
    this.#add(events, sent, DISPOSITIONS.indexOf(disposition));
  }

  #add(events: number, sent: number, kind: number): void {
    if (events === 0) return;
    this.#reserve(NUMBERS);
    const runs = this.#runs;
    const next = this.#length;
    if (next > 0 && runs[next - 2] === sent && runs[next - 1] === kind) {
      runs[next - NUMBERS]! += events;
      return;
    }
    runs[next] = events;
    runs[next + 1] = sent;
    runs[next + 2] = kind;
    this.#length += NUMBERS;
  }

  append(other: ShapingOutcomes): void {
    const [runs, length] = [other.#runs, other.#length];
    if (length === 0) return;
    // Only the first may be equal to the last one here.
    this.#add(runs[0]!, runs[1]!, runs[2]!);
    this.#reserve(length);
    this.#runs.set(runs.subarray(NUMBERS, length), this.#length);
    this.#length += length - NUMBERS;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#runs.length) return;
    const larger = new Uint32Array(2 * (this.#length + more));
    larger.set(this.#runs.subarray(0, this.#length));
    this.#runs = larger;
  }

  /** Calls `visit` for each run; `sent` is of each of its events. */
  walk(visit: (events: number, sent: number, disposition: Disposition) => void): void {
    for (let at = 0; at < this.#length; at += NUMBERS)
      visit(this.#runs[at]!, this.#runs[at + 1]!, DISPOSITIONS[this.#runs[at + 2]!]!);
  }

  /** As the disk buffer keeps them. */
  toStored(): readonly number[] {
    return [...this.#runs.subarray(0, this.#length)];
  }
}

/**
 * The result of shaping for each event of a batch, in order: how many events it became, and the fate of an unsent one. Stored as runs of
 * equal results, of which most batches have few.
 */
import { UNSENT, type Unsent } from '../core/shaping.ts';

const NUMBERS = 3;

export class Fates {
  /** Three numbers a run: its events, how many are sent of each, and the place in UNSENT. */
  readonly #runs: number[];

  constructor(stored: readonly number[] = []) {
    this.#runs = [...stored];
  }

  /** Each event is sent as one. */
  get isPlain(): boolean {
    const runs = this.#runs;
    return runs.length === 0 || (runs.length === NUMBERS && runs[1] === 1 && runs[2] === 0);
  }

  get runCount(): number {
    return this.#runs.length / NUMBERS;
  }

  add(events: number, sent: number, unsent: Unsent): void {
    this.#add(events, sent, UNSENT.indexOf(unsent));
  }

  #add(events: number, sent: number, kind: number): void {
    if (events === 0) return;
    const runs = this.#runs;
    const last = runs.length - NUMBERS;
    if (last >= 0 && runs[last + 1] === sent && runs[last + 2] === kind) runs[last]! += events;
    else runs.push(events, sent, kind);
  }

  append(other: Fates): void {
    const runs = other.#runs;
    for (let at = 0; at < runs.length; at += NUMBERS) this.#add(runs[at]!, runs[at + 1]!, runs[at + 2]!);
  }

  /** Calls `visit` for each run; `sent` is of each of its events. */
  walk(visit: (events: number, sent: number, unsent: Unsent) => void): void {
    for (let at = 0; at < this.#runs.length; at += NUMBERS)
      visit(this.#runs[at]!, this.#runs[at + 1]!, UNSENT[this.#runs[at + 2]!]!);
  }

  /** As the disk buffer keeps them. */
  toStored(): readonly number[] {
    return this.#runs;
  }
}

/**
 * Low-water marks: the end of the settled prefix of a stream at one sink. Batches settle in any order; an unsettled batch stops
 * the mark.
 */
import type { Behind, Span, Tail } from '../../core/block.ts';
import { addPoint, addSums, type ContentPoint, thinPoints } from '../../core/sums.ts';
import { MAX_MARK_POINTS } from '../limits.ts';

interface Pending {
  readonly from: number;
  readonly to: number;
  readonly tail: Tail;
  readonly sum: number;
  readonly behind: Behind | undefined;
  /** The checksum up to its end; undefined where an earlier part is unknown. */
  contentSum: number | undefined;
  readonly batch: number;
  settled: boolean;
}

export class Mark {
  settledTo: number;
  tail: Tail;
  /** Content sum of everything from the stream's beginning to `settledTo`; undefined where it is not known. */
  contentSum: number | undefined;
  /** Where the mark was before, with the checksums up to there. */
  readonly passed: ContentPoint[];
  /** End of the last span committed: where reading resumes. */
  committedTo: number;
  committedTail: Tail;
  /** The events of lines after `settledTo`, and after `committedTo`. */
  behind: Behind | undefined;
  committedBehind: Behind | undefined;
  readonly #pending: Pending[] = [];

  constructor(
    settledTo: number,
    tail: Tail,
    contentSum: number | undefined,
    passed: readonly ContentPoint[] = [],
    behind?: Behind,
  ) {
    this.settledTo = settledTo;
    this.tail = tail;
    this.contentSum = contentSum;
    this.passed = [...passed];
    thinPoints(this.passed, MAX_MARK_POINTS);
    this.committedTo = settledTo;
    this.committedTail = tail;
    this.behind = this.committedBehind = behind;
  }

  /** Like `contentSum`, up to `committedTo`. */
  get committedSum(): number | undefined {
    const last = this.#pending.at(-1);
    return last ? last.contentSum : this.contentSum;
  }

  /** The known points before `committedTo`, ascending. */
  get points(): readonly ContentPoint[] {
    const ends = [{ to: this.settledTo, contentSum: this.contentSum }, ...this.#pending];
    const known = ends.flatMap(({ to, contentSum }) =>
      contentSum === undefined || to >= this.committedTo ? [] : [{ at: to, sum: contentSum }],
    );
    return [...this.passed, ...known];
  }

  /** Notes a span that was committed to the database. Spans of a stream come in order, but for those of a batch that was divided. */
  commit(span: Span, batch: number): void {
    let at = this.#pending.length;
    while (at > 0 && this.#pending[at - 1]!.from > span.from) at -= 1;
    const { from, to, tail, sum } = span;
    const behind = span.groups?.after;
    this.#pending.splice(at, 0, { from, to, tail, sum, behind, contentSum: undefined, batch, settled: false });
    this.#sumUp(at);
    if (span.to > this.committedTo) {
      this.committedTo = span.to;
      this.committedTail = span.tail;
      this.committedBehind = behind;
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
        if (this.contentSum !== undefined)
          addPoint(this.passed, { at: this.settledTo, sum: this.contentSum }, MAX_MARK_POINTS);
        this.settledTo = entry.to;
        this.tail = entry.tail;
        this.contentSum = entry.contentSum;
        this.behind = entry.behind;
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

  /** Sums up the checksums from a pending span on; over a gap they are not known. */
  #sumUp(from: number): void {
    for (let index = from; index < this.#pending.length; index += 1) {
      const entry = this.#pending[index]!;
      const before = this.#pending[index - 1] ?? { to: this.settledTo, contentSum: this.contentSum };
      const isNext = before.to === entry.from && before.contentSum !== undefined;
      entry.contentSum = isNext ? addSums(before.contentSum!, entry.sum) : undefined;
    }
  }
}

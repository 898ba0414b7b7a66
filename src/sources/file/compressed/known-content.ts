/**
 * Which of the generations that are known an archive holds, and how much of it was read: told by the content, its first bytes
 * and the checksum of everything up to where the generation was read, never by names.
 */
import { MAX_KNOWN_CONTENTS } from '../limits.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import { addSums, subtractSums } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { ContentSum } from '../known/content-sum.ts';
import { hasFingerprint, isAtGap } from '../known/content.ts';
import type { Holdings } from '../known/holdings.ts';
import type { Stream } from '../known/stream.ts';

/** What is known of a generation. */
type Known = Pick<Stream, 'firstPath' | 'id' | 'identity' | 'startAt' | 'offset' | 'sum'>;

export interface ReadContent {
  /** Up to here it was read. */
  readonly at: number;
  readonly file: Known;
}

export class KnownContent {
  readonly #holdings: Holdings;
  /** By stream, also of files that are gone by now; what was known first goes first. */
  readonly #files = new Map<string, Known>();

  constructor(holdings: Holdings) {
    this.#holdings = holdings;
  }

  /** Takes note of what was read by earlier processes, whether its file is still there or not. */
  remember(records: readonly StreamRecord[]): void {
    for (const { id, path, identity, startAt, resumeAt, contentSum: sum } of records) {
      if (!identity || sum === undefined) continue;
      const content = new ContentSum(resumeAt, sum);
      this.#files.set(id, { firstPath: path, id, identity, startAt, offset: resumeAt, sum: content });
    }
  }

  /** Takes note of what is followed now. */
  note(): void {
    for (const file of this.#holdings.files) if (file.stream.id !== undefined) this.#files.set(file.stream.id, file.stream);
    for (const [stream, file] of this.#files) {
      if (this.#files.size <= MAX_KNOWN_CONTENTS) return;
      if (!this.isFollowed(file)) this.#files.delete(stream);
    }
  }

  /** True while the file is followed: what it holds is read from there. */
  isFollowed({ id }: Known): boolean {
    return id !== undefined && this.#holdings.byStream(id) !== undefined;
  }

  /**
   * The generation of which most was read among those that the content begins with; undefined where there is none. `pieces`
   * is the whole content; it is read as far as it takes. Only the generation of `stream` counts where that is given.
   */
  async find(pieces: AsyncIterable<Buffer>, stream?: string): Promise<ReadContent | undefined> {
    let candidates: Known[] | undefined;
    let found: ReadContent | undefined;
    let head = Buffer.alloc(0);
    let at = 0;
    let sum = 0;
    /** The checksum of what is before the beginning of a stream that was taken up at its end. */
    const before = new Map<Known, number>();
    for await (const piece of pieces) {
      if (candidates === undefined) {
        head = Buffer.concat([head, piece]);
        candidates = this.#beginningWith(head).filter((file) => stream === undefined || file.id === stream);
        // Nothing of it was read yet, and it will be.
        const unread = candidates.find((file) => file.offset === 0 && this.isFollowed(file));
        if (unread) return { at: 0, file: unread };
      }
      // Every place at which some candidate must be compared, or begins.
      const stops = candidates.flatMap((file) => [file.startAt, file.offset]).filter((stop) => stop > at && stop <= at + piece.length);
      let from = 0;
      for (const stop of [...new Set([...stops, at + piece.length])].sort((a, b) => a - b)) {
        sum = addSums(sum, contentSum(piece.subarray(from, stop - at), at + from));
        from = stop - at;
        for (const file of candidates) {
          if (file.startAt === stop) before.set(file, sum);
          if (isAtGap(file)) continue;
          if (file.offset === stop && this.#isRead(file, sum, before.get(file) ?? 0)) found = { at: stop, file };
        }
      }
      // Of a file of which nothing was read behind its hole, all that is known is where the hole ends.
      const hollow = candidates.filter((file) => isAtGap(file) && file.startAt >= at && piece[file.startAt - at]);
      for (const file of hollow) if (file.startAt > (found?.at ?? 0)) found = { at: file.startAt, file };
      at += piece.length;
      if (!candidates.some((file) => file.offset >= at)) break;
    }
    return found;
  }

  #beginningWith(head: Buffer): Known[] {
    return [...this.#files.values()].filter(({ identity }) => identity.headLength > 0 && hasFingerprint(identity, head));
  }

  #isRead({ sum: content, offset }: Known, sum: number, before: number): boolean {
    const point = content.upTo(offset);
    return point?.at === offset && point.sum === subtractSums(sum, before);
  }
}

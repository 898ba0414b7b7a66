/**
 * Which known stream a compressed file holds, and how much of that was read: by the fingerprint and the checksum of everything before
 * the stream's position, never by name.
 */
import { MAX_KNOWN_CONTENTS } from '../limits.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import { addSums, subtractSums } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { ContentSum, hasFingerprint, isAllNuls, isAtGap } from '../known/content.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { leadingNuls } from '../known/nul-runs.ts';
import type { Stream } from '../known/stream.ts';
import { isBehind } from '../known/tracked-file.ts';

/** The known facts about a stream. */
type KnownStream = Pick<Stream, 'firstPath' | 'id' | 'identity' | 'startAt' | 'offset' | 'sum'> & {
  readonly groups: Pick<Stream['groups'], 'behind'>;
};

export interface ReadBefore {
  /** Up to here it was read. */
  readonly at: number;
  readonly file: KnownStream;
}

export class KnownContent {
  readonly #knownFiles: KnownFiles;
  /** By stream, also of files that are gone; the oldest is evicted first. */
  readonly #files = new Map<string, KnownStream>();

  constructor(knownFiles: KnownFiles) {
    this.#knownFiles = knownFiles;
  }

  /** Records what earlier processes read. */
  remember(records: readonly StreamRecord[]): void {
    for (const { id, path, identity, startAt, resumeAt, contentSum: sum, behind } of records) {
      if (!identity || sum === undefined) continue;
      const content = new ContentSum(resumeAt, sum);
      this.#files.set(id, {
        firstPath: path,
        id,
        identity,
        startAt,
        offset: resumeAt,
        sum: content,
        groups: { behind },
      });
    }
  }

  /** Records the files followed now. */
  note(): void {
    for (const file of this.#knownFiles.files)
      if (file.stream.id !== undefined) this.#files.set(file.stream.id, file.stream);
    for (const [stream, file] of this.#files) {
      if (this.#files.size <= MAX_KNOWN_CONTENTS) return;
      if (!this.isFollowed(file)) this.#files.delete(stream);
    }
  }

  /** True while the file is followed: what it holds is read from there. */
  isFollowed({ id }: KnownStream): boolean {
    return id !== undefined && this.#knownFiles.byStream(id) !== undefined;
  }

  /**
   * The stream of which the content holds most; undefined if it holds none. Reads no more of `pieces`, the whole content, than it
   * needs. `stream` restricts the search to that one.
   */
  async find(pieces: AsyncIterable<Buffer>, stream?: string): Promise<ReadBefore | undefined> {
    let candidates: KnownStream[] | undefined;
    let isNuls = true;
    let found: ReadBefore | undefined;
    let head = Buffer.alloc(0);
    let at = 0;
    let sum = 0;
    /** The checksum of the bytes before a stream that begins inside its file. */
    const before = new Map<KnownStream, number>();
    for await (const piece of pieces) {
      if (candidates === undefined) {
        head = Buffer.concat([head, piece]);
        candidates = this.#beginningWith(head).filter((file) => stream === undefined || file.id === stream);
      }
      if (isNuls) {
        isNuls = leadingNuls(piece) === piece.length;
        const unread = isNuls ? undefined : candidates.find((file) => this.#mayBeUnread(file));
        if (unread) return { at: 0, file: unread };
      }
      // Every place at which some candidate must be compared, or begins.
      const stops = candidates
        .flatMap((file) => [file.startAt, file.offset])
        .filter((stop) => stop > at && stop <= at + piece.length);
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
      // Of a stream that was not read behind its NUL gap, only the end of the gap is known.
      const hollow = candidates.filter((file) => isAtGap(file) && file.startAt >= at && piece[file.startAt - at]);
      for (const file of hollow) if (file.startAt > (found?.at ?? 0)) found = { at: file.startAt, file };
      at += piece.length;
      if (!isNuls && !candidates.some((file) => file.offset >= at)) break;
    }
    return found;
  }

  /** The plain form of a content with text is followed, and nothing of it was read. A file that is nothing but NULs has other content. */
  #mayBeUnread({ id, offset, identity }: KnownStream): boolean {
    const file = offset === 0 && id !== undefined ? this.#knownFiles.byStream(id) : undefined;
    return file !== undefined && (isBehind(file) || !isAllNuls(identity));
  }

  #beginningWith(head: Buffer): KnownStream[] {
    return [...this.#files.values()].filter(
      ({ identity }) => identity.headLength > 0 && hasFingerprint(identity, head),
    );
  }

  #isRead({ sum: content, offset }: KnownStream, sum: number, before: number): boolean {
    const point = content.upTo(offset);
    return point?.at === offset && point.sum === subtractSums(sum, before);
  }
}

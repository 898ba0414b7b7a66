/**
 * Reads the content of compressed files, one after the other, through one line window. Skips members that were read before, and gives
 * nothing of a file whose fingerprint changed.
 */
import { codeOf, TailraceError } from '../../../core/errors.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { CompressedEnd, FileIdentity } from '../../../core/stream.ts';
import { tailOf } from '../../../core/sums.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import type { CompressedFile } from './compressed-files.ts';
import { ContentFeed } from './content-feed.ts';
import { CompressedRange, compressionOf, decompress } from './decompress.ts';
import { type FileSystem, isSameFile, leadsNowhere, readBefore, readHead } from '../scan/file-system.ts';
import { hasFingerprint } from '../known/content.ts';
import { learnSaved, restAt } from '../read/in-line.ts';
import { withoutTrailingNuls } from '../known/nul-runs.ts';
import { RECENT_TEXT_BYTES } from '../limits.ts';
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import type { ObjectRules } from '../../framing/cut-object.ts';
import type { RestState } from '../../framing/rests.ts';
import { LaneRefusal } from '../read/offer.ts';

export interface CompressedContentOptions {
  readonly fileSystem: FileSystem;
  readonly lines: Lines;
  readonly stats: SourceStats;
  isStopped(): boolean;
}

export interface ReadResult {
  /** All that was asked for was offered. */
  readonly isWhole: boolean;
  /** The content ends before the first byte wanted. */
  readonly isShorter: boolean;
  /** Where the compressed file ends; valid only if all of it was read. */
  readonly end: CompressedEnd;
  /** Its last line goes on, or may. */
  readonly endsInLine: boolean;
}

/** Facts about a content whose beginning, or old end, is inside a line, and about its headers. */
export type InLine = Pick<FileIdentity, 'beginsInLine' | 'endsInLine' | 'headers'>;

export interface ReadExtras {
  /** Offer an unfinished last line also where the file ends inside a member; else it waits for its rest. */
  readonly isOver: boolean;
  /** Set to how far the file was decompressed, also when reading throws. */
  readonly range: { consumedTo: number };
  /** Called when the lines were reset to where reading begins. */
  readonly begun?: () => void;
}

export class CompressedContent {
  readonly #options: CompressedContentOptions;

  constructor(options: CompressedContentOptions) {
    this.#options = options;
  }

  /** Offers the content's bytes `[from, to)`; undefined when the file is gone. Throws as `withPieces`. */
  read(
    compressed: CompressedFile,
    from: number,
    to: number,
    offer: (block: WindowBlock) => Promise<void>,
    inLine: InLine,
    { isOver, range: progress, begun }: ReadExtras = { isOver: true, range: { consumedTo: 0 } },
  ): Promise<ReadResult | undefined> {
    const { lines } = this.#options;
    const { end } = compressed;
    const isBehind = end?.contentSize !== undefined && end.contentSize <= from;
    const range = new CompressedRange(isBehind ? end.size : 0);
    return this.#withOpen(compressed, async (fd) => {
      const known = isBehind ? await this.#firstBytes(fd, end.size) : Buffer.alloc(0);
      const first: Buffer[] = [known];
      let tail = Buffer.alloc(0);
      let at = isBehind ? end.contentSize : 0;
      let isReset = false;
      const text = new RecentText(lines.objects, (isBehind ? inLine.endsInLine : inLine.beginsInLine) === true);
      const head = (): Buffer => Buffer.concat(first).subarray(0, lines.headBytes);
      const reset = (): void => {
        lines.reset(from, tail, head(), text.restBehind(lines.encodingOf(head())));
        learnSaved(lines, inLine, from);
        begun?.();
        isReset = true;
      };
      const feed = new ContentFeed({ lines, offer, head, stats: to === Infinity ? this.#options.stats : undefined });
      const result = (isWhole: boolean): ReadResult => ({
        isWhole: isWhole && at >= from,
        isShorter: isWhole && at < from,
        end: {
          size: range.readTo,
          contentSize: at,
          tail: tailOf(readBefore(this.#options.fileSystem, fd, range.readTo, TAIL_BYTES)),
        },
        endsInLine: text.restBehind(lines.encoding) !== false,
      });
      try {
        for await (const piece of this.#decompress(fd, range)) {
          if (this.#options.isStopped() && to < Infinity) throw new TailraceError('E_STOPPED', 'the source stops');
          if (this.#options.isStopped()) return result(false);
          if (!isBehind && at < Math.min(from, lines.headBytes)) first.push(Buffer.from(piece));
          const passed = Math.min(piece.length, Math.max(0, from - at));
          if (passed > 0) tail = Buffer.concat([tail, piece.subarray(0, passed)]).subarray(-TAIL_BYTES);
          text.pass(piece.subarray(0, passed));
          const rest = piece.subarray(passed, Math.max(passed, Math.min(piece.length, to - at)));
          at += piece.length;
          if (rest.length > 0 && !isReset) reset();
          text.pass(rest);
          await feed.add(rest);
          if (at >= to) break;
        }
      } catch (error) {
        progress.consumedTo = range.consumedTo;
        if (error instanceof LaneRefusal) throw error;
        if (isReset && (isOver || !isCut(error))) await feed.end();
        throw error;
      }
      if (isReset) await feed.end();
      return to === Infinity ? result(true) : { ...result(at >= to), isShorter: false };
    });
  }

  /** The content of the range; undefined when the file is gone or replaced. Throws the system's and the decompressor's errors. */
  withPieces<T>(
    compressed: CompressedFile,
    use: (pieces: AsyncIterable<Buffer>) => Promise<T>,
    range?: CompressedRange,
  ): Promise<T | undefined> {
    return this.#withOpen(compressed, (fd) => use(this.#decompress(fd, range)));
  }

  /** What became of a file that was read to its end. Throws system errors. */
  async changeOf(compressed: CompressedFile): Promise<'none' | 'grown' | 'replaced' | undefined> {
    const { fileSystem } = this.#options;
    const { size, tail } = compressed.end!;
    return this.#withOpen(compressed, async (fd) => {
      const now = fileSystem.fstat(fd).size;
      if (now < size || tailOf(readBefore(fileSystem, fd, size, tail.length)).crc !== tail.crc) return 'replaced';
      return now > size ? 'grown' : 'none';
    });
  }

  /** The encoding and format of the rest depend on them. Leaves out appended members, which may be damaged. */
  async #firstBytes(fd: number, size: number): Promise<Buffer> {
    for await (const piece of this.#decompress(fd, new CompressedRange(0, size))) return Buffer.from(piece);
    return Buffer.alloc(0);
  }

  #decompress(fd: number, range?: CompressedRange): AsyncGenerator<Buffer> {
    const { fileSystem } = this.#options;
    const compression = compressionOf(readHead(fileSystem, fd, HEAD_BYTES));
    if (!compression) throw new Error('it is not compressed with gzip or zstd');
    return decompress(fileSystem, fd, compression, range);
  }

  async #withOpen<T>(compressed: CompressedFile, use: (fd: number) => Promise<T>): Promise<T | undefined> {
    const { fileSystem } = this.#options;
    let fd: number | undefined;
    try {
      fd = fileSystem.open(compressed.path);
      if (
        !isSameFile(fileSystem.fstat(fd), compressed.stat) ||
        !hasFingerprint(compressed.identity, readHead(fileSystem, fd, HEAD_BYTES))
      )
        return undefined;
      return await use(fd);
    } catch (error) {
      if (fd === undefined && leadsNowhere(error)) return undefined;
      throw error;
    } finally {
      if (fd !== undefined) fileSystem.close(fd);
    }
  }
}

/** The file ends inside a member. */
export function isCut(error: unknown): boolean {
  return codeOf(error) === 'Z_BUF_ERROR';
}

/** The last text of a content that is passed over or read: it tells whether what follows is the rest of a line, or message, that began in it. */
class RecentText {
  readonly #objects: ObjectRules;
  #pieces: Buffer[] = [];
  #length = 0;
  /** The kept text may begin inside a line. */
  #beginsInLine: boolean;

  constructor(objects: ObjectRules, beginsInLine: boolean) {
    this.#objects = objects;
    this.#beginsInLine = beginsInLine;
  }

  pass(piece: Buffer): void {
    if (!this.#objects.isFollowed || piece.length === 0) return;
    this.#pieces.push(Buffer.from(piece));
    this.#length += piece.length;
    if (this.#length < 2 * RECENT_TEXT_BYTES) return;
    const all = Buffer.concat(this.#pieces);
    // Whole code units.
    this.#pieces = [all.subarray(all.length - RECENT_TEXT_BYTES - (all.length % 2))];
    this.#length = this.#pieces[0]!.length;
    this.#beginsInLine = true;
  }

  restBehind(encoding: TextEncoding): RestState {
    if (!this.#objects.isFollowed) return false;
    const all = Buffer.concat(this.#pieces);
    const peek = (_: number, into: Buffer, position: number): number => all.copy(into, 0, position);
    // NULs at the end are no text.
    const end = withoutTrailingNuls(all);
    const text = { fileSystem: { peek }, fd: 0, offset: end + (end % encoding.unitBytes), startAt: 0 };
    return restAt({ ...text, objects: this.#objects, encoding, beginsInLine: this.#beginsInLine });
  }
}

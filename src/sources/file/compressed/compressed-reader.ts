/**
 * Reads compressed files (`read_compressed`), one at a time, each once, from where its plain form was read. Positions count decompressed
 * bytes. Appended members are read on from the old end; after a restart in the middle, what was read is decompressed and skipped. A
 * file that is being written, or whose plain form is still followed, waits.
 */
import type { Behind, EventShape, Lane, Span } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { codeOf, messageOf, TailraceError } from '../../../core/errors.ts';
import { COMPRESSED_CUT_MS, COMPRESSED_SETTLES_MS } from '../limits.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import { type Lines, streamBytesOf } from '../../framing/lines.ts';
import { countLongLine } from '../../framing/long-line.ts';
import { CompressedContent, isCut, type ReadResult } from './compressed-content.ts';
import type { CompressedFile, CompressedFiles } from './compressed-files.ts';
import { CompressedRange, countBytes } from './decompress.ts';
import type { FileSystem } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { KnownContent } from './known-content.ts';
import type { LineEnds } from '../read/line-ends.ts';
import type { Notices } from '../scan/notices.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import { LaneRefusal, offerBlock, SerialQueue } from '../read/offer.ts';
import { readsOf } from '../read/span-reader.ts';
import { headersWith } from '../read/in-line.ts';
import { isGzipOrZstdName } from '../scan/rotated-names.ts';

export interface CompressedReaderOptions extends Losing {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly lines: Lines;
  readonly lane: Lane;
  /** Of the plain files' reader, which has the same lane. */
  readonly laneTurns: SerialQueue;
  readonly files: CompressedFiles;
  readonly known: KnownContent;
  readonly gaps: NulGaps;
  readonly lineEnds: LineEnds;
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  shapeOf(path: string): EventShape;
}

interface StreamHolder {
  readonly compressed: CompressedFile;
  readonly shape: EventShape;
  readonly headers: FileIdentity['headers'];
}

export class CompressedReader {
  readonly #options: CompressedReaderOptions;
  /** The content of the followed files, by which a compressed file of them is recognised once they are gone. */
  readonly known: KnownContent;
  readonly #content: CompressedContent;
  readonly #turns = new SerialQueue();
  #isStopped = false;

  constructor(options: CompressedReaderOptions) {
    this.#options = options;
    this.known = options.known;
    this.#content = new CompressedContent({ ...options, isStopped: () => this.#isStopped });
  }

  /** Records the compressed files that a scan found. */
  see(found: ReadonlyMap<string, FoundFile>): void {
    this.known.note();
    this.#options.files.see(found);
  }

  /** Reads every file that is ready, to its end. Rejects only as the lane does. */
  async readRound(): Promise<void> {
    for (const compressed of this.#options.files.present) {
      if (!this.#isStopped && this.#isReady(compressed)) await this.#turns.run(() => this.#readOne(compressed));
    }
  }

  /** True for the stream of a compressed file. */
  has(stream: string): boolean {
    return this.#options.files.byStream(stream) !== undefined;
  }

  /**
   * Offers the span's bytes again, of a compressed file or of one that was compressed since; resolves as `Source.reread`. Rejects
   * with `E_UNREADABLE` while they cannot be read.
   */
  reread(span: Span, lane: Lane): Promise<number> {
    const { files, lines } = this.#options;
    return this.#turns.run(async () => {
      const compressed = files.byStream(span.stream);
      const holder = compressed
        ? { compressed, shape: compressed.shape, headers: undefined }
        : await this.#findHolder(span.stream);
      if (!holder) return span.from;
      // Of a plain file that is gone it is not known any more how it begins.
      const inLine = compressed?.identity ?? {
        beginsInLine: true,
        ...(holder.headers ? { headers: holder.headers } : {}),
      };
      const offer = (block: WindowBlock): Promise<void> =>
        offerBlock(lane, { id: span.stream, shape: holder.shape }, block, lines.readAtMs);
      const { groups } = span;
      try {
        if (groups) {
          const { after } = groups;
          const begun = (): void => lines.replay(groups, span.to, span.reads ?? [], after);
          const extras = { isOver: true, range: { consumedTo: 0 }, begun };
          const read = await this.#content.read(
            holder.compressed,
            span.from,
            Math.max(span.to, after.gate),
            offer,
            inLine,
            extras,
          );
          return read?.isWhole ? span.to : span.from;
        }
        for (const { from, to, readAtMs } of readsOf(span)) {
          lines.setReadAt(readAtMs);
          if (!(await this.#content.read(holder.compressed, from, to, offer, inLine))?.isWhole) return span.from;
        }
        return span.to;
      } catch (error) {
        if (error instanceof LaneRefusal) throw error.cause;
        if (codeOf(error) === 'E_STOPPED') throw error;
        if (isDamage(error)) return span.from;
        throw new TailraceError('E_UNREADABLE', `cannot read "${holder.compressed.path}": ${messageOf(error)}`, {
          cause: error,
        });
      } finally {
        lines.setReadAt(undefined);
      }
    });
  }

  /** The compressed file that holds what was read of a file that is gone. Skips those that cannot be read. */
  async #findHolder(stream: string): Promise<StreamHolder | undefined> {
    const { files, known } = this.#options;
    for (const compressed of files.present) {
      const read = await this.#content
        .withPieces(compressed, (pieces) => known.find(pieces, stream))
        .catch(() => undefined);
      if (read)
        return { compressed, shape: this.#options.shapeOf(read.file.firstPath), headers: read.file.identity.headers };
    }
    return undefined;
  }

  /** What is known of the compressed file at this path. */
  explain(path: string): Pick<CompressedFile, 'state' | 'offset' | 'end'> | undefined {
    return this.#options.files.present.find((compressed) => compressed.path === path);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isReady({ stat, state, end, failedAt, isCut: mayGoOn }: CompressedFile): boolean {
    if (stat.size === 0 || (state !== 'waiting' && end?.size === stat.size)) return false;
    const { once, clock } = this.#options;
    const stillMs = clock.now() - stat.mtimeMs;
    if (failedAt && failedAt.size === stat.size && failedAt.mtimeMs === stat.mtimeMs)
      return mayGoOn && stillMs >= COMPRESSED_CUT_MS;
    return once || stillMs >= COMPRESSED_SETTLES_MS;
  }

  async #readOne(compressed: CompressedFile): Promise<void> {
    const { files, once, clock } = this.#options;
    /** Nobody finishes a file that ends inside a member. */
    const isOver = once || clock.now() - compressed.stat.mtimeMs >= COMPRESSED_CUT_MS;
    const range = { consumedTo: 0 };
    try {
      if (compressed.state !== 'waiting' && !(await this.#goOn(compressed))) return;
      if (compressed.stream === undefined) {
        if (!files.identify(compressed))
          return this.#fail(
            compressed,
            'file is named like a compressed file but is not compressed with gzip or zstd; it is left out',
          );
        const read = await this.#findRead(compressed);
        if (read === 'later') return;
        files.mint(compressed, read.at, read);
      }
      const result = await this.#readRest(compressed, isOver, range);
      if (result?.isWhole) this.#accept(compressed, result);
      else if (result?.isShorter) await this.#readReplaced(compressed);
    } catch (error) {
      if (error instanceof LaneRefusal) throw error.cause;
      const isUnfinished = isCut(error);
      compressed.isCut = isUnfinished && !isOver;
      compressed.failedAt = compressed.stat;
      if (compressed.isCut) return;
      if (isDamage(error) && !isUnfinished) return this.#logDamage(compressed, range.consumedTo, messageOf(error));
      this.#fail(
        compressed,
        'compressed file is damaged: what can be read of it was read, and it is tried again when it changes',
        isUnfinished ? 'it ends too soon' : messageOf(error),
      );
    }
  }

  #accept(compressed: CompressedFile, { end, endsInLine }: ReadResult): void {
    const { files } = this.#options;
    if (endsInLine !== (compressed.identity.endsInLine === true)) files.noteLines(compressed, { endsInLine });
    files.accept(compressed, end);
  }

  /** Reads what was not read yet; `isOver`: also an unfinished last line. */
  #readRest(
    compressed: CompressedFile,
    isOver: boolean,
    range: { consumedTo: number },
  ): Promise<ReadResult | undefined> {
    const { lane, laneTurns, lines, stats, notices, files, lineEnds } = this.#options;
    const offer = async (block: WindowBlock): Promise<void> => {
      const length = block.single?.length ?? streamBytesOf(block).length;
      if (compressed.offset === 0) notices.event('info', { path: compressed.path }, 'reading a compressed file');
      const headers = headersWith(compressed.identity, lines, block, length);
      if (headers) files.noteLines(compressed, { headers });
      // No block of a plain file may wait behind this one: were its file deleted, the block could not go to the disk buffer.
      await laneTurns.run(() =>
        offerBlock(lane, { id: compressed.stream, shape: compressed.shape }, block, lines.readAtMs),
      );
      compressed.offset = block.offset + length;
      compressed.behind = block.groups?.after(block.ends!.length - 1);
      stats.readBytes += length;
      countLongLine(stats, block);
    };
    if (compressed.offset === 0 && lineEnds.goesOn(compressed, compressed.family, compressed.stat.mtimeMs))
      files.noteLines(compressed, { beginsInLine: true });
    const { behind, offset: to } = compressed;
    const begun = (): void => lines.goOn({ behind, held: { reads: [], to }, cuts: [] });
    return this.#content.read(compressed, to, Infinity, offer, compressed.identity, { isOver, range, begun });
  }

  /** A file that was read to its end has another size: true if it is to be read on. Throws the system's and the decompressor's errors. */
  async #goOn(compressed: CompressedFile): Promise<boolean> {
    const { files } = this.#options;
    const change = await this.#content.changeOf(compressed);
    if (change === 'replaced') await this.#readReplaced(compressed);
    if (change !== 'grown') return false;
    const { size, contentSize, tail } = compressed.end!;
    if (contentSize === undefined) {
      const skipped = await this.#content.withPieces(compressed, countBytes, new CompressedRange(0, size));
      if (skipped === undefined) return false;
      files.mint(compressed, skipped);
      compressed.end = { size, contentSize: skipped, tail };
    }
    files.goOn(compressed);
    return true;
  }

  /** It holds other content now. */
  #readReplaced(compressed: CompressedFile): Promise<void> {
    const { notices, files } = this.#options;
    notices.event(
      'info',
      { path: compressed.path, offset: compressed.offset },
      'compressed file was replaced, reading it from its beginning',
    );
    return this.#readOne(files.replace(compressed));
  }

  /** How much of the content was read in its plain form; `later` while that is still followed. */
  async #findRead(compressed: CompressedFile): Promise<FoundRead | 'later'> {
    const { known, notices, gaps } = this.#options;
    const found = await this.#content.withPieces(compressed, async (pieces) => ({ read: await known.find(pieces) }));
    if (!found) return 'later';
    const { read } = found;
    if (!read) {
      const at = await this.#content.withPieces(compressed, (pieces) => gaps.passOver(compressed.path, pieces));
      return at === undefined ? 'later' : { at };
    }
    if (known.isFollowed(read.file) && !this.#options.once) return 'later';
    notices.event(
      'debug',
      { path: compressed.path, file: read.file.firstPath, offset: read.at },
      'compressed file holds what was read in its plain form',
    );
    const { identity, groups } = read.file;
    return { at: read.at, ...(identity.headers ? { headers: identity.headers } : {}), behind: groups.behind };
  }

  #logDamage(compressed: CompressedFile, consumedTo: number, reason: string): void {
    const { path, offset, stat, stream: id } = compressed;
    const lostBytes = Math.max(0, stat.size - consumedTo - compressed.lostBytes);
    compressed.lostBytes += lostBytes;
    countLost(this.#options, { id, firstPath: path }, lostBytes, offset + lostBytes, 'damaged');
    this.#options.notices.event(
      'warn',
      { path, offset, compressedOffset: consumedTo, size: stat.size, lostBytes, reason },
      'compressed file is damaged: what is behind the damage cannot be read, lostBytes counts it compressed; it is tried again when it changes',
    );
  }

  #fail(compressed: CompressedFile, text: string, reason?: string): void {
    compressed.failedAt = compressed.stat;
    const fields = { path: compressed.path, offset: compressed.offset, ...(reason === undefined ? {} : { reason }) };
    this.#options.notices.event('warn', fields, text);
  }
}

/** How much of a content was read in its plain form. */
interface FoundRead extends Pick<FileIdentity, 'headers'> {
  readonly at: number;
  readonly behind?: Behind | undefined;
}

/** An error of the decompressor, which stays; the system's may pass. */
function isDamage(error: unknown): boolean {
  return /^Z(?:STD)?_/.test(codeOf(error));
}

/** Removes the compressed files from `found`, and returns them. */
export function takeCompressed(found: Map<string, FoundFile>): Map<string, FoundFile> {
  const compressed = new Map<string, FoundFile>();
  for (const [path, each] of found) {
    if (!isGzipOrZstdName(path)) continue;
    compressed.set(path, each);
    found.delete(path);
  }
  return compressed;
}

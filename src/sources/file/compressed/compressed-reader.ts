/**
 * Reads compressed files (`read_compressed`), one at a time, each once, from where its plain form was read. Positions count decompressed
 * bytes. Appended members are read on from the old end; after a restart in the middle, what was read is decompressed and skipped. A
 * file that is being written, or whose plain form is still followed, waits.
 */
import type { EventShape, Lane, Span } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { codeOf, messageOf, TailraceError } from '../../../core/errors.ts';
import { ARCHIVE_CUT_MS, ARCHIVE_SETTLES_MS } from '../limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { WindowBlock } from '../../framing/byte-window.ts';
import { type Lines, streamBytesOf } from '../../framing/lines.ts';
import { countLongLine } from '../../framing/long-line.ts';
import { ArchiveContent, isCut, type ReadResult } from './compressed-content.ts';
import type { Archive, ArchiveFiles } from './compressed-files.ts';
import { CompressedRange, countBytes } from './decompress.ts';
import type { FileSystem } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { KnownContent } from './known-content.ts';
import type { Notices } from '../scan/notices.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import { LaneRefusal, offerBlock } from '../read/offer.ts';
import { readsOf } from '../read/reads-of.ts';
import { isArchiveName } from '../scan/rotated-names.ts';
import { Turns } from '../read/turns.ts';

export interface ArchivesOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly stats: SourceStats;
  readonly lines: Lines;
  readonly lane: Lane;
  readonly files: ArchiveFiles;
  readonly known: KnownContent;
  readonly gaps: NulGaps;
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  shapeOf(path: string): EventShape;
}

export class Archives {
  readonly #options: ArchivesOptions;
  readonly #content: ArchiveContent;
  readonly #turns = new Turns();
  #isStopped = false;

  constructor(options: ArchivesOptions) {
    this.#options = options;
    this.#content = new ArchiveContent({ ...options, isStopped: () => this.#isStopped });
  }

  /** Records the content of the followed files, to recognise a compressed file of them once they are gone. */
  note(): void {
    this.#options.known.note();
  }

  /** Records the compressed files that a scan found. */
  see(found: ReadonlyMap<string, FoundFile>): void {
    this.note();
    this.#options.files.see(found);
  }

  /** Reads every file that is ready, to its end. Rejects only as the lane does. */
  async readRound(): Promise<void> {
    for (const archive of this.#options.files.present) {
      if (!this.#isStopped && this.#isReady(archive)) await this.#turns.take(() => this.#readOne(archive));
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
    return this.#turns.take(async () => {
      const archive = files.byStream(span.stream);
      const holder = archive ? { archive, shape: archive.shape } : await this.#findHolder(span.stream);
      if (!holder) return span.from;
      const offer = (block: WindowBlock): Promise<void> =>
        offerBlock(lane, { id: span.stream, shape: holder.shape }, block, lines.readAtMs);
      try {
        for (const { from, to, readAtMs } of readsOf(span)) {
          lines.setReadAt(readAtMs);
          if (!(await this.#content.read(holder.archive, from, to, offer))?.isWhole) return span.from;
        }
        return span.to;
      } catch (error) {
        if (error instanceof LaneRefusal) throw error.cause;
        if (codeOf(error) === 'E_STOPPED') throw error;
        if (isDamage(error)) return span.from;
        throw new TailraceError('E_UNREADABLE', `cannot read "${holder.archive.path}": ${messageOf(error)}`, { cause: error });
      } finally {
        lines.setReadAt(undefined);
      }
    });
  }

  /** The compressed file that holds what was read of a file that is gone. Skips those that cannot be read. */
  async #findHolder(stream: string): Promise<{ readonly archive: Archive; readonly shape: EventShape } | undefined> {
    const { files, known } = this.#options;
    for (const archive of files.present) {
      const read = await this.#content.withPieces(archive, (pieces) => known.find(pieces, stream)).catch(() => undefined);
      if (read) return { archive, shape: this.#options.shapeOf(read.file.firstPath) };
    }
    return undefined;
  }

  /** What is known of the compressed file at this path. */
  explain(path: string): Pick<Archive, 'state' | 'offset' | 'end'> | undefined {
    return this.#options.files.present.find((archive) => archive.path === path);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isReady({ stat, state, end, failedAt, isCut: mayGoOn }: Archive): boolean {
    if (stat.size === 0 || (state !== 'waiting' && end?.size === stat.size)) return false;
    const { once, clock } = this.#options;
    const stillMs = clock.now() - stat.mtimeMs;
    if (failedAt && failedAt.size === stat.size && failedAt.mtimeMs === stat.mtimeMs) return mayGoOn && stillMs >= ARCHIVE_CUT_MS;
    return once || stillMs >= ARCHIVE_SETTLES_MS;
  }

  async #readOne(archive: Archive): Promise<void> {
    const { files, once, clock } = this.#options;
    /** Nobody finishes a file that ends inside a member. */
    const isOver = once || clock.now() - archive.stat.mtimeMs >= ARCHIVE_CUT_MS;
    const range = { consumedTo: 0 };
    try {
      if (archive.state !== 'waiting' && !(await this.#goOn(archive))) return;
      if (archive.stream === undefined) {
        if (!files.identify(archive)) return this.#fail(archive, 'file has the name of a compressed one and is none; it is left out');
        const read = await this.#findRead(archive);
        if (read === 'later') return;
        files.mint(archive, read);
      }
      const result = await this.#readOn(archive, isOver, range);
      if (result?.isWhole) files.accept(archive, result.end);
      else if (result?.isShorter) await this.#readReplaced(archive);
    } catch (error) {
      if (error instanceof LaneRefusal) throw error.cause;
      const isUnfinished = isCut(error);
      archive.isCut = isUnfinished && !isOver;
      archive.failedAt = archive.stat;
      if (archive.isCut) return;
      if (isDamage(error) && !isUnfinished) return this.#logDamage(archive, range.consumedTo, messageOf(error));
      this.#fail(
        archive,
        'compressed file is damaged: what can be read of it was read, and it is tried again when it changes',
        isUnfinished ? 'it ends too soon' : messageOf(error),
      );
    }
  }

  /** Reads what was not read yet; `isOver`: also an unfinished last line. */
  #readOn(archive: Archive, isOver: boolean, range: { consumedTo: number }): Promise<ReadResult | undefined> {
    const { lane, lines, stats, notices } = this.#options;
    const offer = async (block: WindowBlock): Promise<void> => {
      const length = block.single?.length ?? streamBytesOf(block).length;
      if (archive.offset === 0) notices.event('info', { path: archive.path }, 'reading a compressed file');
      await offerBlock(lane, { id: archive.stream, shape: archive.shape }, block, lines.readAtMs);
      archive.offset = block.offset + length;
      stats.readBytes += length;
      countLongLine(stats, block);
    };
    return this.#content.read(archive, archive.offset, Infinity, offer, { isOver, range });
  }

  /** A file that was read to its end has another size: true if it is to be read on. Throws the system's and the decompressor's errors. */
  async #goOn(archive: Archive): Promise<boolean> {
    const { files } = this.#options;
    const change = await this.#content.changeOf(archive);
    if (change === 'replaced') await this.#readReplaced(archive);
    if (change !== 'grown') return false;
    const { size, contentSize, tail } = archive.end!;
    if (contentSize === undefined) {
      const skipped = await this.#content.withPieces(archive, countBytes, new CompressedRange(0, size));
      if (skipped === undefined) return false;
      files.mint(archive, skipped);
      archive.end = { size, contentSize: skipped, tail };
    }
    files.goOn(archive);
    return true;
  }

  /** It holds other content now. */
  #readReplaced(archive: Archive): Promise<void> {
    const { notices, files } = this.#options;
    notices.event('info', { path: archive.path, offset: archive.offset }, 'compressed file was replaced, reading it from its beginning');
    return this.#readOne(files.replace(archive));
  }

  /** How much of the content was read in its plain form; `later` while that is still followed. */
  async #findRead(archive: Archive): Promise<number | 'later'> {
    const { known, notices, gaps } = this.#options;
    const found = await this.#content.withPieces(archive, async (pieces) => ({ read: await known.find(pieces) }));
    if (!found) return 'later';
    const { read } = found;
    if (!read) return (await this.#content.withPieces(archive, (pieces) => gaps.passOver(archive.path, pieces))) ?? 'later';
    if (known.isFollowed(read.file) && !this.#options.once) return 'later';
    notices.event(
      'debug',
      { path: archive.path, file: read.file.firstPath, offset: read.at },
      'compressed file holds what was read in its plain form',
    );
    return read.at;
  }

  #logDamage(archive: Archive, consumedTo: number, reason: string): void {
    const { stats, notices } = this.#options;
    const { path, offset, stat } = archive;
    const lostBytes = Math.max(0, stat.size - consumedTo - archive.lostBytes);
    archive.lostBytes += lostBytes;
    stats.lostBytes += lostBytes;
    notices.event(
      'warn',
      { path, offset, compressedOffset: consumedTo, size: stat.size, lostBytes, reason },
      'compressed file is damaged: what is behind the damage cannot be read, lostBytes counts it compressed; it is tried again when it changes',
    );
  }

  #fail(archive: Archive, text: string, reason?: string): void {
    archive.failedAt = archive.stat;
    const fields = { path: archive.path, offset: archive.offset, ...(reason === undefined ? {} : { reason }) };
    this.#options.notices.event('warn', fields, text);
  }
}

/** An error of the decompressor, which stays; the system's may pass. */
function isDamage(error: unknown): boolean {
  return /^Z(?:STD)?_/.test(codeOf(error));
}

/** Removes the compressed files from `found`, and returns them. */
export function takeArchives(found: Map<string, FoundFile>): Map<string, FoundFile> {
  const archives = new Map<string, FoundFile>();
  for (const [path, each] of found) {
    if (!isArchiveName(path)) continue;
    archives.set(path, each);
    found.delete(path);
  }
  return archives;
}

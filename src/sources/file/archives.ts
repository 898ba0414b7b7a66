/**
 * Compressed files (`read_compressed`): each that holds what was not read in its plain form is read once, one after the other,
 * with a window of its own. Positions count decompressed bytes; after a restart what was read is decompressed and passed over.
 * An archive that is being written, or whose plain form is still followed, waits.
 */
import type { EventShape, Lane, Span } from '../../core/block.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { ARCHIVE_SETTLES_MS, HEAD_BYTES, TAIL_BYTES } from '../../core/limits.ts';
import type { SourceStats } from '../../core/source.ts';
import type { WindowBlock } from '../byte-window.ts';
import { type Lines, streamBytesOf } from '../lines.ts';
import { countLongLine } from '../long-line.ts';
import { type Archive, type ArchiveFiles, beginsAs } from './archive-files.ts';
import { compressionOf, decompress } from './decompress.ts';
import { type FileSystem, isSameFile, leadsNowhere } from './file-system.ts';
import type { FoundFile } from './finder.ts';
import type { KnownContent } from './known-content.ts';
import type { Notices } from './notices.ts';
import type { Holes } from './hole.ts';
import { LaneRefusal, offerBlock } from './offer.ts';
import { readHead } from './sample.ts';
import { isArchiveName } from './siblings.ts';
import { Turns } from './turns.ts';

export interface ArchivesOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly stats: SourceStats;
  readonly lines: Lines;
  readonly lane: Lane;
  readonly files: ArchiveFiles;
  readonly known: KnownContent;
  readonly holes: Holes;
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  shapeOf(path: string): EventShape;
}

export class Archives {
  readonly #options: ArchivesOptions;
  readonly #turns = new Turns();
  #isStopped = false;

  constructor(options: ArchivesOptions) {
    this.#options = options;
  }

  /** Takes note of the files that are followed now: an archive of them may be found once they are gone. */
  note(): void {
    this.#options.known.note();
  }

  /** Takes note of the archives that a scan found. */
  see(found: ReadonlyMap<string, FoundFile>): void {
    this.note();
    this.#options.files.see(found);
  }

  /** Reads every archive that can be read now, to its end. Rejects only with what the lane rejected with. */
  async readRound(): Promise<void> {
    for (const archive of this.#options.files.present) {
      if (!this.#isStopped && this.#isReady(archive)) await this.#turns.take(() => this.#readOne(archive));
    }
  }

  /** True when the span is one of an archive. */
  has(stream: string): boolean {
    return this.#options.files.byStream(stream) !== undefined;
  }

  /**
   * Offers the span's bytes again, of an archive or of a file that is in one by now; resolves as `Source.reread`. Rejects with
   * `E_UNREADABLE` when they cannot be told now.
   */
  reread(span: Span, lane: Lane): Promise<number> {
    const { files, clock } = this.#options;
    return this.#turns.take(async () => {
      const archive = files.byStream(span.stream);
      const holder = archive ? { archive, shape: archive.shape } : await this.#findHolder(span.stream);
      if (!holder) return span.from;
      const offer = (block: WindowBlock): Promise<void> =>
        offerBlock(lane, { stream: span.stream, shape: holder.shape }, block, clock.now());
      try {
        return (await this.#readRange(holder.archive, span.from, span.to, offer)) === true ? span.to : span.from;
      } catch (error) {
        if (error instanceof LaneRefusal) throw error.cause;
        if (codeOf(error) === 'E_STOPPED') throw error;
        if (isDamage(error)) return span.from;
        throw new TailraceError('E_UNREADABLE', `cannot read "${holder.archive.path}": ${messageOf(error)}`, { cause: error });
      }
    });
  }

  /** The archive that holds what was read of a file that is gone. One that cannot be read holds nothing that is known. */
  async #findHolder(stream: string): Promise<{ readonly archive: Archive; readonly shape: EventShape } | undefined> {
    const { files, known } = this.#options;
    for (const archive of files.present) {
      const read = await this.#withContent(archive, (pieces) => known.find(pieces, stream)).catch(() => undefined);
      if (read) return { archive, shape: this.#options.shapeOf(read.file.firstPath) };
    }
    return undefined;
  }

  /** What is known of the archive at this path. */
  explain(path: string): { readonly state: string; readonly offset: number } | undefined {
    for (const { path: at, state, offset } of this.#options.files.present) if (at === path) return { state, offset };
    return undefined;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isReady({ stat, state, failedAt }: Archive): boolean {
    if (state !== 'waiting' || stat.size === 0) return false;
    if (failedAt && failedAt.size === stat.size && failedAt.mtimeMs === stat.mtimeMs) return false;
    return this.#options.once || this.#options.clock.now() - stat.mtimeMs >= ARCHIVE_SETTLES_MS;
  }

  async #readOne(archive: Archive): Promise<void> {
    const { notices, stats, files, lane, clock } = this.#options;
    try {
      if (archive.stream === undefined) {
        if (!files.identify(archive)) return this.#fail(archive, 'file has the name of a compressed one and is none; it is left out');
        const read = await this.#findRead(archive);
        if (read === 'later') return;
        files.mint(archive, read);
        notices.event('info', { path: archive.path, offset: read }, 'reading a compressed file');
      }
      const isWhole = await this.#readRange(archive, archive.offset, Infinity, async (block) => {
        const length = block.single?.length ?? streamBytesOf(block).length;
        await offerBlock(lane, archive, block, clock.now());
        archive.offset = block.offset + length;
        stats.readBytes += length;
        countLongLine(stats, block);
      });
      archive.state = isWhole ? 'accepted' : 'waiting';
    } catch (error) {
      if (error instanceof LaneRefusal) throw error.cause;
      const isCut = codeOf(error) === 'Z_BUF_ERROR';
      const reason = isCut ? 'it ends too soon' : messageOf(error);
      this.#fail(archive, 'compressed file is damaged: what can be read of it was read, and it is tried again when it changes', reason);
    }
  }

  /** How much of the content was read in its plain form; `later` while that is still followed. */
  async #findRead(archive: Archive): Promise<number | 'later'> {
    const { known, notices, holes } = this.#options;
    const found = await this.#withContent(archive, async (pieces) => ({ read: await known.find(pieces) }));
    if (!found) return 'later';
    const { read } = found;
    if (!read) return (await this.#withContent(archive, (pieces) => holes.passOver(archive.path, pieces))) ?? 'later';
    if (known.isFollowed(read.file) && !this.#options.once) return 'later';
    notices.event(
      'info',
      { path: archive.path, file: read.file.firstPath, offset: read.at },
      'compressed file holds what was read in its plain form',
    );
    return read.at;
  }

  /** Offers the content's bytes `[from, to)`; false when it is shorter, or the source stops, undefined when it is gone. */
  #readRange(archive: Archive, from: number, to: number, offer: (block: WindowBlock) => Promise<void>): Promise<boolean | undefined> {
    const { lines } = this.#options;
    return this.#withContent(archive, async (pieces) => {
      const first: Buffer[] = [];
      let tail = Buffer.alloc(0);
      let at = 0;
      let isReset = false;
      const reset = (): void => {
        lines.reset(from, tail, Buffer.concat(first).subarray(0, lines.headBytes));
        isReset = true;
      };
      const offerAll = async (next: () => WindowBlock | undefined): Promise<void> => {
        for (let block = next(); block; block = next()) await offer(block);
      };
      try {
        for await (const piece of pieces) {
          if (this.#isStopped && to < Infinity) throw new TailraceError('E_STOPPED', 'the source stops');
          if (this.#isStopped) return false;
          if (at < Math.min(from, lines.headBytes)) first.push(Buffer.from(piece));
          const passed = Math.min(piece.length, Math.max(0, from - at));
          if (passed > 0) tail = Buffer.concat([tail, piece.subarray(0, passed)]).subarray(-TAIL_BYTES);
          let rest = piece.subarray(passed, Math.max(passed, Math.min(piece.length, to - at)));
          at += piece.length;
          if (rest.length > 0 && !isReset) reset();
          while (rest.length > 0) {
            const count = rest.copy(lines.free());
            lines.commit(count);
            rest = rest.subarray(count);
            await offerAll(() => lines.next());
          }
          if (at >= to) break;
        }
      } catch (error) {
        if (error instanceof LaneRefusal) throw error;
        if (isReset) await offerAll(() => lines.flush());
        throw error;
      }
      if (isReset) await offerAll(() => lines.flush());
      return to === Infinity ? true : at >= to;
    });
  }

  /** Undefined where the archive is gone, or another one is in its place. Throws system errors, and the decompressor's. */
  async #withContent<T>(archive: Archive, use: (pieces: AsyncIterable<Buffer>) => Promise<T>): Promise<T | undefined> {
    const { fileSystem } = this.#options;
    let fd: number | undefined;
    try {
      fd = fileSystem.open(archive.path);
      const head = readHead(fileSystem, fd, HEAD_BYTES);
      if (!isSameFile(fileSystem.fstat(fd), archive.stat) || !beginsAs(archive.identity, head)) return undefined;
      const compression = compressionOf(head);
      if (!compression) throw new Error('it is not compressed with gzip or zstd');
      return await use(decompress(fileSystem, fd, compression));
    } catch (error) {
      if (fd === undefined && leadsNowhere(error)) return undefined;
      throw error;
    } finally {
      if (fd !== undefined) fileSystem.close(fd);
    }
  }

  #fail(archive: Archive, text: string, reason?: string): void {
    archive.failedAt = archive.stat;
    const fields = { path: archive.path, offset: archive.offset, ...(reason === undefined ? {} : { reason }) };
    this.#options.notices.event('warn', fields, text);
  }
}

/** The decompressor's, not the system's: it will not pass. */
function isDamage(error: unknown): boolean {
  return /^Z(?:STD)?_/.test(codeOf(error));
}

/** Takes the archives out of what was found. */
export function takeArchives(found: Map<string, FoundFile>): Map<string, FoundFile> {
  const archives = new Map<string, FoundFile>();
  for (const [path, each] of found) {
    if (!isArchiveName(path)) continue;
    archives.set(path, each);
    found.delete(path);
  }
  return archives;
}

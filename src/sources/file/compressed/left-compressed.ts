/**
 * Accounts for saved streams whose files a start did not find. Logs compressed files that are left out and hold unread bytes of one:
 * logrotate makes them with `compress`, or `delaycompress` and two rotations, while no agent runs. Counts seen bytes that no compressed
 * file holds as lost. Recognises files by content, beside the reading of others.
 */
import { HEAD_BYTES } from '../../../core/limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { StreamRecord, StreamStore } from '../../../core/stream.ts';
import { compressionOf, countBytes, decompress } from './decompress.ts';
import { type FileSystem, pathIn } from '../scan/file-system.ts';
import { parentOf } from '../scan/finder.ts';
import { hasFingerprint } from '../known/content.ts';
import type { KnownContent } from './known-content.ts';
import type { Notices } from '../scan/notices.ts';
import { readHead, withOpen } from '../scan/peek.ts';
import { isGzipOrZstdName, isRotatedName } from '../scan/rotated-names.ts';
import { lagOf, type TrackedFile } from '../known/tracked-file.ts';

const NOT_FOUND = 'file of a checkpoint is gone or has other content now';
const SAVED = 'what was written after its size was last saved, about a second before the agent stopped, is not counted';
const LOST = `${NOT_FOUND}, and was not read to its end; lostBytes is what is known of it, ${SAVED}`;
/** Normal after a rotation while no agent runs. */
const NOT_KNOWN_TO_BE_LOST = `${NOT_FOUND}; nothing of it is known to be unread, ${SAVED}`;

export interface LeftCompressedOptions {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly known: KnownContent;
  readonly stats: SourceStats;
  readonly streams: StreamStore;
  /** True for a compressed file that is read. */
  isRead(path: string): boolean;
}

export class LeftCompressed {
  readonly #options: LeftCompressedOptions;
  #records: readonly StreamRecord[] = [];
  /** Resolves once all that was asked for is done; undefined before `name`. */
  #working: Promise<void> | undefined;
  readonly #unfound: TrackedFile[] = [];
  #isStopped = false;

  constructor(options: LeftCompressedOptions) {
    this.#options = options;
  }

  /** Takes the streams whose files were not found. */
  expect(records: readonly StreamRecord[]): void {
    this.#records = records;
  }

  /** Accounts for a saved file of which neither it nor a copy was found. */
  giveUp(file: TrackedFile): void {
    if (lagOf(file) === 0) return this.#log(file, 0);
    this.#unfound.push(file);
    this.#working &&= this.#working.then(() => this.#countUnfound());
  }

  /** Resolves when all are logged, or once stopped. Never rejects. */
  name(): Promise<void> {
    return (this.#working = this.#name().then(() => this.#countUnfound()));
  }

  /** Resolves once no compressed file is open. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
  }

  async #name(): Promise<void> {
    const { known, notices } = this.#options;
    const compressed = this.#records.flatMap(({ path, identity }) => this.#compressedOf(path, identity?.path));
    for (const path of new Set(compressed.filter((each) => !this.#options.isRead(each)))) {
      // Files that cannot be read are not logged: nothing is lost by that.
      const read = await this.#withContent(path, (pieces) => known.find(pieces)).catch(() => undefined);
      if (!read || known.isFollowed(read.file) || this.#isStopped) continue;
      const bytes = await this.#withContent(path, countBytes).catch(() => undefined);
      if (bytes !== undefined && bytes > read.at && !this.#isStopped)
        notices.event(
          'warn',
          { path, file: read.file.firstPath, offset: read.at, unreadBytes: bytes - read.at },
          'file was compressed before it was read to its end, and the compressed file is left out; `read_compressed: true` and an include that matches it read it',
        );
    }
  }

  async #countUnfound(): Promise<void> {
    for (let file = this.#unfound.shift(); file && !this.#isStopped; file = this.#unfound.shift()) {
      const lostBytes = Math.max(0, file.size - Math.max(file.stream.offset, await this.#heldOf(file)));
      if (this.#isStopped) return;
      // Counted once: a later start goes by what is saved.
      this.#options.streams.see(file.stream.id!, file.stream.offset);
      this.#options.stats.lostBytes += lostBytes;
      this.#log(file, lostBytes);
    }
  }

  #log({ disk, stream, size }: TrackedFile, lostBytes: number): void {
    const fields = { path: disk.path, offset: stream.offset, seenSize: size, lostBytes };
    this.#options.notices.event(lostBytes > 0 ? 'warn' : 'info', fields, lostBytes > 0 ? LOST : NOT_KNOWN_TO_BE_LOST);
  }

  /** How many bytes of the file another file holds; Infinity while that is unknown. */
  async #heldOf(file: TrackedFile): Promise<number> {
    const { fileSystem, known } = this.#options;
    const { firstPath, identity, offset, startAt, id } = file.stream;
    let held = 0;
    try {
      // Where inodes are not stable, it may be at its path, as a file that is read from its beginning.
      for (const path of new Set([firstPath, identity.path ?? firstPath])) {
        const stat = fileSystem.stat(path);
        if (
          stat?.kind === 'file' &&
          hasFingerprint(
            identity,
            withOpen(fileSystem, path, (fd) => readHead(fileSystem, fd, HEAD_BYTES)),
          )
        )
          held = Math.max(held, stat.size);
      }
      for (const path of this.#compressedOf(firstPath, identity.path)) {
        const isIt = await this.#withContent(path, async (pieces) => {
          if (offset > startAt) return (await known.find(pieces, id)) !== undefined;
          for await (const piece of pieces) return hasFingerprint(identity, piece);
          return false;
        });
        if (isIt) held = Math.max(held, (await this.#withContent(path, countBytes)) ?? 0);
      }
    } catch {
      return Infinity;
    }
    return held;
  }

  #compressedOf(path: string, lastPath = path): string[] {
    const folders = new Set([parentOf(path), parentOf(lastPath)]);
    return [...folders].flatMap((folder) => {
      try {
        const paths = this.#options.fileSystem.readdir(folder).map(({ name }) => pathIn(folder, name));
        return paths.filter((each) => {
          const plain = each.replace(/\.[^.]+$/, '');
          return isGzipOrZstdName(each) && (plain === path || isRotatedName(plain, path));
        });
      } catch {
        return [];
      }
    });
  }

  async #withContent<T>(path: string, use: (pieces: AsyncIterable<Buffer>) => Promise<T>): Promise<T | undefined> {
    const { fileSystem } = this.#options;
    const fd = fileSystem.open(path);
    try {
      const compression = compressionOf(readHead(fileSystem, fd, HEAD_BYTES));
      return compression && (await use(this.#untilStopped(decompress(fileSystem, fd, compression))));
    } finally {
      fileSystem.close(fd);
    }
  }

  async *#untilStopped(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const piece of pieces) {
      if (this.#isStopped) return;
      yield piece;
    }
  }
}

/**
 * Accounts for streams whose content no file has any more: counts seen bytes that no compressed file holds as lost. After a start, also
 * logs compressed files that are left out and hold unread bytes: logrotate makes them with `compress`, or `delaycompress` and two
 * rotations, while no agent runs. Recognises files by content, beside the reading of others.
 */
import { HEAD_BYTES } from '../../../core/limits.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import type { StreamRecord, StreamStore } from '../../../core/stream.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import { compressionOf, countBytes, decompress } from './decompress.ts';
import { type FileSystem, NO_FILE, parentOf, pathIn, readHead, withOpen } from '../scan/file-system.ts';
import { hasFingerprint } from '../known/content.ts';
import type { KnownContent } from './known-content.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import { isGzipOrZstdName, isRotatedName } from '../scan/rotated-names.ts';
import { lagOf, type TrackedFile } from '../known/tracked-file.ts';

const NOT_FOUND = 'file of a checkpoint is gone or has other content now';
const SAVED = 'what was written after its size was last saved, about a second before the agent stopped, is not counted';
const LOST = `${NOT_FOUND}, and was not read to its end; lostBytes is what is known of it, ${SAVED}`;
/** Normal after a rotation while no agent runs. */
const NOT_KNOWN_TO_BE_LOST = `${NOT_FOUND}; nothing of it is known to be unread, ${SAVED}`;
/** What a scan saw happen to the file of a stream. */
const CHANGED = {
  replaced: `file is gone, and its inode is that of another one${LOWER_BOUND}`,
  truncated: `file was truncated or replaced, reading it from its beginning${LOWER_BOUND}`,
} as Readonly<Partial<Record<string, string>>>;

export interface UnreadCompressedOptions extends Losing {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly known: KnownContent;
  readonly streams: StreamStore;
  /** True for a compressed file that is read. */
  isRead(path: string): boolean;
}

export class UnreadCompressed {
  readonly #options: UnreadCompressedOptions;
  #records: readonly StreamRecord[] = [];
  /** Resolves once all that was asked for is done; undefined before `name`. */
  #working: Promise<void> | undefined;
  readonly #unfound: TrackedFile[] = [];
  #isStopped = false;

  constructor(options: UnreadCompressedOptions) {
    this.#options = options;
  }

  /** Takes the streams whose files were not found. */
  expect(records: readonly StreamRecord[]): void {
    this.#records = records;
  }

  /** Accounts for a stream of which neither its file nor a copy was found. */
  giveUp(file: TrackedFile): void {
    if (unreadOf(file) === 0 || !this.#mayBeHeld(file)) return this.#count(file, 0);
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
    const compressed = this.#records.flatMap(({ path, identity }) =>
      this.#compressedOf([path, identity?.realPath], identity?.path),
    );
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
      const heldBytes = await this.#heldOf(file);
      if (this.#isStopped) return;
      this.#count(file, heldBytes);
    }
  }

  /** Counts bytes of the file that were seen, not read, and are beyond the first `heldBytes`. */
  #count(file: TrackedFile, heldBytes: number): void {
    const { streams, notices } = this.#options;
    const { disk, stream, size } = file;
    const lostBytes = Math.min(unreadOf(file), Math.max(0, stream.endIn(size) - heldBytes));
    // Counted once: a later start goes by the saved count.
    if (stream.id !== undefined) streams.see(stream.id, stream.offset + stream.offeredBytes);
    countLost(
      this.#options,
      stream,
      lostBytes,
      stream.offset + lagOf(file),
      disk.lastChange === 'truncated' ? 'truncated' : 'deleted',
    );
    const fields = { path: disk.path, offset: stream.offset, seenSize: size, lostBytes };
    const text = CHANGED[disk.lastChange] ?? (lostBytes > 0 ? LOST : NOT_KNOWN_TO_BE_LOST);
    notices.event(lostBytes > 0 ? 'warn' : 'info', fields, text);
  }

  /** A file that changed while it was followed counts as lost at once where no compressed file beside it is read. */
  #mayBeHeld({ disk, stream }: TrackedFile): boolean {
    return (
      !(disk.lastChange in CHANGED) ||
      this.#compressedOf([stream.firstPath, stream.realPath], disk.path).some((path) => this.#options.isRead(path))
    );
  }

  /** How many bytes of the file another file holds; Infinity while that is unknown. */
  async #heldOf(file: TrackedFile): Promise<number> {
    const { fileSystem, known } = this.#options;
    const { firstPath, realPath, identity, offset, startAt, id, createdMs } = file.stream;
    const isFollowed = file.disk.lastChange in CHANGED;
    let held = 0;
    try {
      // Where inodes are not stable, it may be at its path, as a file that is read from its beginning.
      for (const path of isFollowed ? [] : new Set([firstPath, realPath, identity.path ?? firstPath])) {
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
      for (const path of this.#compressedOf([firstPath, realPath], identity.path)) {
        if (isFollowed && !this.#options.isRead(path)) continue;
        const { bornMs, mtimeMs } = fileSystem.stat(path) ?? NO_FILE;
        // Where a file system keeps no birth times, they equal the times of the last write.
        const isOlder = bornMs !== mtimeMs && bornMs <= createdMs - BIRTH_SLACK_MS;
        const isIt = await this.#withContent(path, async (pieces) => {
          if (offset > startAt) return (await known.find(pieces, id)) !== undefined;
          // Its beginning alone may be that of any file.
          if (isOlder) return false;
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

  /** `bases`: where the file was first, as matched and without links. */
  #compressedOf(bases: readonly (string | undefined)[], lastPath: string | undefined): string[] {
    const known = new Set(bases.filter((base) => base !== undefined));
    const { fileSystem } = this.#options;
    // Of two names of one folder, the first one: a pattern may lead there.
    const folders = new Map<string, string>();
    for (const folder of [...known, ...(lastPath === undefined ? [] : [lastPath])].map(parentOf)) {
      const real = fileSystem.realPath(folder) ?? folder;
      if (!folders.has(real)) folders.set(real, folder);
    }
    return [...folders.values()].flatMap((folder) => {
      try {
        const paths = fileSystem.readdir(folder).map(({ name }) => pathIn(folder, name));
        return paths.filter((each) => {
          const plain = each.replace(/\.[^.]+$/, '');
          return isGzipOrZstdName(each) && [...known].some((base) => plain === base || isRotatedName(plain, base));
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

/** Bytes that were seen, and that the lane neither took nor is taking. */
function unreadOf(file: TrackedFile): number {
  return Math.max(0, lagOf(file) - file.stream.offeredBytes);
}

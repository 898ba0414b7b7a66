/**
 * At start-up: names the archives that are left out and hold more of a file than was read of it before the agent stopped.
 * logrotate makes such with `compress`, or with `delaycompress` and two rotations, while no agent runs. Only looks, beside the reading of
 * files; which file it was is told by content.
 */
import { HEAD_BYTES } from '../../core/limits.ts';
import type { StreamRecord } from '../../core/stream.ts';
import { compressionOf, decompress } from './decompress.ts';
import { type FileSystem, pathIn } from './file-system.ts';
import { parentOf } from './finder.ts';
import type { KnownContent } from './known-content.ts';
import type { Notices } from './notices.ts';
import { readHead } from './sample.ts';
import { isArchiveName, isRotatedName } from './siblings.ts';

export interface LeftArchivesOptions {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly known: KnownContent;
  /** True for an archive that is read. */
  isRead(path: string): boolean;
}

export class LeftArchives {
  readonly #options: LeftArchivesOptions;
  #records: readonly StreamRecord[] = [];
  #naming: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: LeftArchivesOptions) {
    this.#options = options;
  }

  /** Takes the streams whose files were not found. */
  expect(records: readonly StreamRecord[]): void {
    this.#records = records;
  }

  /** Resolves when all are named, or once stopped. Never rejects. */
  name(): Promise<void> {
    return (this.#naming = this.#name());
  }

  /** Resolves once no archive is open. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#naming;
  }

  async #name(): Promise<void> {
    const { known, notices } = this.#options;
    for (const path of new Set(this.#records.flatMap((record) => this.#archivesOf(record)))) {
      // What cannot be read now is not named: nothing is lost by it.
      const read = await this.#withContent(path, (pieces) => known.find(pieces)).catch(() => undefined);
      if (!read || known.isFollowed(read.file) || this.#isStopped) continue;
      const bytes = await this.#withContent(path, count).catch(() => undefined);
      if (bytes !== undefined && bytes > read.at && !this.#isStopped)
        notices.event(
          'warn',
          { path, file: read.file.firstPath, offset: read.at, unreadBytes: bytes - read.at },
          'file was compressed before it was read to its end, and its archive is left out; `read_compressed: true` and an include that matches the archive read it',
        );
    }
  }

  #archivesOf({ path, identity }: StreamRecord): string[] {
    const folders = new Set([parentOf(path), parentOf(identity?.path ?? path)]);
    return [...folders].flatMap((folder) => {
      try {
        const paths = this.#options.fileSystem.readdir(folder).map(({ name }) => pathIn(folder, name));
        return paths.filter((each) => {
          const plain = each.replace(/\.[^.]+$/, '');
          return isArchiveName(each) && (plain === path || isRotatedName(plain, path)) && !this.#options.isRead(each);
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

async function count(pieces: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const { length } of pieces) bytes += length;
  return bytes;
}

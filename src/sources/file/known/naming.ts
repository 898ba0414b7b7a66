/**
 * What is kept of a generation beyond its file: its stream, minted with the first bytes that it is known by, where it is by now, and
 * whether its bytes can be read again, or must go to the disk buffer.
 */
import { HEAD_BYTES } from '../../../core/limits.ts';
import type { Rescue } from '../../../core/source.ts';
import type { StreamStore } from '../../../core/stream.ts';
import type { FileSystem } from '../scan/file-system.ts';
import type { NulGaps } from './nul-gap.ts';
import { fingerprintOf } from './content.ts';
import type { Notices } from '../scan/notices.ts';
import { readHead } from '../scan/peek.ts';
import { isGone, type TrackedFile } from './tracked-file.ts';

export interface NamingOptions {
  /** The source's id. */
  readonly source: string;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly rescue: Rescue | undefined;
  readonly gaps: NulGaps;
  readonly notices: Notices;
}

export class Naming {
  readonly #options: NamingOptions;

  constructor(options: NamingOptions) {
    this.#options = options;
  }

  /** Gives an open file its stream. False where there is no byte that it could be known by. Throws system errors. */
  mint(file: TrackedFile): boolean {
    const { fileSystem, streams, source, notices } = this.#options;
    const head = readHead(fileSystem, file.disk.fd!, HEAD_BYTES);
    if (head.length === 0) return false;
    this.#options.gaps.passInHead(file, head);
    file.stream.identity = { ...file.stream.identity, ...fingerprintOf(head) };
    if (file.disk.path !== file.stream.firstPath) file.stream.identity = { ...file.stream.identity, path: file.disk.path };
    const { id, createdMs } = streams.mint(source, file.stream.firstPath, file.stream.identity, file.stream.offset);
    file.stream.id = id;
    file.stream.createdMs = createdMs;
    file.nextBornMs ??= createdMs;
    if (isGone(file)) this.#options.rescue?.keep(id);
    if (file.isNews) notices.event('info', { path: file.disk.path, size: file.size }, 'new file');
    file.isNews = false;
    return true;
  }

  /** Has the file's present inode and path kept with its stream. */
  identify(file: TrackedFile): void {
    if (file.stream.id === undefined) return;
    const { path: _, ...identity } = file.stream.identity;
    file.stream.identity = file.disk.path === file.stream.firstPath ? identity : { ...identity, path: file.disk.path };
    this.#options.streams.identify(file.stream.id, file.stream.identity);
  }

  /** The last name of the file is gone, or its content. What is held of it and what is still to be read goes to the disk buffer. */
  noteDeleted(file: TrackedFile): void {
    if (file.stream.id !== undefined) this.#options.rescue?.keep(file.stream.id);
  }

  /** Takes that back: its content was found under some name. */
  noteFound({ stream: { id } }: TrackedFile): void {
    if (id !== undefined) this.#options.rescue?.release(id);
  }
}

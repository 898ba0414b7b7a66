/**
 * Persists a stream's identity: minted with its fingerprint, updated with inode and path. Says whether its bytes can be read again, or
 * must be spooled.
 */
import { HEAD_BYTES } from '../../../core/limits.ts';
import type { Rescue } from '../../../core/source.ts';
import type { FileIdentity, StreamStore } from '../../../core/stream.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';
import type { NulGaps } from './nul-gap.ts';
import { fingerprintOfText } from './content.ts';
import type { KeptStretch } from './kept-content.ts';
import type { Notices } from '../scan/notices.ts';
import { isGone, type TrackedFile } from './tracked-file.ts';

export interface StreamIdentitiesOptions {
  /** The source's id. */
  readonly source: string;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly rescue: Rescue | undefined;
  readonly gaps: NulGaps;
  readonly notices: Notices;
}

export class StreamIdentities {
  readonly #options: StreamIdentitiesOptions;

  constructor(options: StreamIdentitiesOptions) {
    this.#options = options;
  }

  /** Gives an open file its stream; false while it is empty. `kept`: what another stream read before it. Throws system errors. */
  mint(file: TrackedFile, kept?: KeptStretch): boolean {
    const { fileSystem, streams, source, notices } = this.#options;
    const head = readHead(fileSystem, file.disk.fd!, HEAD_BYTES);
    if (head.length === 0) return false;
    this.#options.gaps.beginBehind(file, head);
    file.stream.identity = { ...locatedIdentity(file), ...fingerprintOfText(head) };
    const { id, createdMs } = streams.mint(source, file.stream.firstPath, file.stream.identity, file.stream.offset);
    file.stream.id = id;
    if (kept) streams.begin(id, kept.from, file.stream.tail, kept.points);
    // Else its NUL gap would count as unread text, and as lost once the file is gone.
    else this.#options.gaps.pass(file);
    file.stream.createdMs = createdMs;
    file.nextBornMs ??= createdMs;
    if (isGone(file)) this.#options.rescue?.keep(id);
    if (file.isNews) notices.event('info', { path: file.disk.path, size: file.size }, 'new file');
    file.isNews = false;
    return true;
  }

  /** Nothing that was seen behind its position is lost: another stream reads it. */
  noteRead({ stream }: TrackedFile): void {
    if (stream.id !== undefined) this.#options.streams.see(stream.id, stream.offset);
  }

  /** Saves the file's present inode and path. */
  save(file: TrackedFile): void {
    if (file.stream.id === undefined) return;
    file.stream.identity = locatedIdentity(file);
    this.#options.streams.identify(file.stream.id, file.stream.identity);
  }

  /** The file has no name, or no longer its content: what is held of it, and what is read of it, is spooled. */
  spoolUnlinked(file: TrackedFile): void {
    if (file.stream.id !== undefined) this.#options.rescue?.keep(file.stream.id);
  }

  /** Reverts that: its content was found under some name. */
  stopSpooling({ stream: { id } }: TrackedFile): void {
    if (id !== undefined) this.#options.rescue?.release(id);
  }
}

/** The identity with the file's present inode and paths. */
function locatedIdentity({ disk, stream: { firstPath, realPath, identity } }: TrackedFile): FileIdentity {
  const { path: _, realPath: __, ...rest } = { ...identity, device: String(disk.device), inode: String(disk.inode) };
  return {
    ...rest,
    ...(disk.path === firstPath ? {} : { path: disk.path }),
    ...(realPath === firstPath ? {} : { realPath }),
  };
}

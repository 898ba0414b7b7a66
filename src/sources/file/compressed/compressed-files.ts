/**
 * The compressed files, each one stream, recognised by inode and fingerprint over renames and restarts. The same inode with another
 * fingerprint is another file. A missing one is kept for a while, as a plain file is.
 */
import type { EventShape, Tail } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { Rescue } from '../../../core/source.ts';
import { FORGET_AFTER_MS } from '../limits.ts';
import type { ArchiveEnd, FileIdentity, StreamRecord, StreamStore } from '../../../core/stream.ts';
import { NO_TAIL, tailOf } from '../../../core/tail.ts';
import { compressionOf } from './decompress.ts';
import { type FileStat, type FileSystem, inodeKey } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { hasFingerprint, fingerprintOf, NO_FINGERPRINT } from '../known/content.ts';
import { readBefore, readHead, withOpenIfReadable } from '../scan/peek.ts';

export interface ArchiveFilesOptions {
  /** The source's id. */
  readonly source: string;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
  shapeOf(path: string): EventShape;
  readonly rescue: Rescue | undefined;
  /** Expires a stream whose file is gone. */
  expire(stream: string): void;
}

export interface Archive {
  path: string;
  /** What the last scan that found it saw. */
  stat: FileStat;
  /** Monotonic, since when no scan finds it; undefined while it is there. */
  missingSinceMs: number | undefined;
  stream: string | undefined;
  readonly shape: EventShape;
  identity: FileIdentity;
  /** Everything before was accepted by the lane; decompressed bytes. */
  offset: number;
  /** Where it ended when all of its content was read; undefined before, and in rows of earlier versions. */
  end: ArchiveEnd | undefined;
  /** Wall clock, when its stream was made. */
  createdMs: number;
  /** What the last failed try saw: retried once that differs. */
  failedAt: FileStat | undefined;
  /** That try ended inside a member that may still be written: its last line was not sent. */
  isCut: boolean;
  /** Bytes of the compressed file that were counted as lost. */
  lostBytes: number;
  /** `accepted`: to its end, not all of it settled yet. `done`: nothing of it is to be read any more. */
  state: 'waiting' | 'accepted' | 'done';
}

/** Prefix of `headHash` in rows of earlier versions for a file that was read to its end. */
const DONE = 'done ';
/** A record without a file. */
const NO_FILE: FileStat = { kind: 'file', device: 0, inode: 0, size: 0, mtimeMs: 0, bornMs: 0, links: 0 };

export class ArchiveFiles {
  readonly #options: ArchiveFilesOptions;
  readonly #byInode = new Map<string, Archive>();

  constructor(options: ArchiveFilesOptions) {
    this.#options = options;
  }

  /** Restores the saved ones. `isSkipped`: files that are there and not known are not read. */
  open(records: readonly StreamRecord[], found: ReadonlyMap<string, FoundFile>, isSkipped: boolean): void {
    const now = this.#options.clock.monotonic();
    // The newest first: an older one of the same inode is gone.
    for (const { id, path, identity: saved, resumeAt, archiveEnd, createdMs } of [...records].reverse()) {
      const identity = saved && { ...saved, headHash: saved.headHash.replace(DONE, '') };
      if (!identity || this.#byInode.has(inodeKey(identity))) {
        this.#options.expire(id);
        continue;
      }
      const state = archiveEnd || saved.headHash.startsWith(DONE) ? 'done' : 'waiting';
      const known = { missingSinceMs: now, stream: id, identity, offset: resumeAt, end: archiveEnd, createdMs, state } as const;
      this.#byInode.set(inodeKey(identity), { ...this.#newArchive({ path, stat: NO_FILE }), ...known });
    }
    for (const archive of this.see(found)) if (isSkipped && this.identify(archive)) this.#skip(archive);
  }

  /** Records the compressed files that a scan found. Returns the new ones. */
  see(found: ReadonlyMap<string, FoundFile>): Archive[] {
    const seen = new Set<Archive>();
    const added: Archive[] = [];
    const byPath = new Map([...this.#byInode.values()].map((archive) => [archive.path, archive]));
    for (const each of found.values()) {
      const holder = this.#byInode.get(inodeKey(each.stat));
      const known = [holder, this.#movedUnder(each, byPath.get(each.path))].find((archive) => archive && this.#isStill(archive, each));
      if (known) {
        seen.add(known);
        continue;
      }
      if (holder) this.#drop(holder);
      const archive = this.#newArchive(each);
      this.#byInode.set(inodeKey(each.stat), archive);
      seen.add(archive);
      added.push(archive);
    }
    for (const archive of this.#byInode.values()) this.#keep(archive, seen.has(archive));
    return added;
  }

  /** Those that are there, the oldest first. */
  get present(): Archive[] {
    const present = [...this.#byInode.values()].filter(({ missingSinceMs }) => missingSinceMs === undefined);
    return present.sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs);
  }

  byStream(stream: string): Archive | undefined {
    for (const archive of this.#byInode.values()) if (archive.stream === stream) return archive;
    return undefined;
  }

  /** Takes the file's fingerprint; false if it is not compressed, or cannot be read now. */
  identify(archive: Archive): boolean {
    const head = this.#headOf(archive.path);
    if (!head || !compressionOf(head)) return false;
    archive.identity = { ...archive.identity, ...fingerprintOf(head) };
    return true;
  }

  /** Gives the file a stream that begins at `offset`. */
  mint(archive: Archive, offset: number): void {
    const { streams, source } = this.#options;
    if (archive.stream !== undefined) this.#options.expire(archive.stream);
    archive.offset = offset;
    const { id, createdMs } = streams.mint(source, archive.path, archive.identity, offset);
    Object.assign(archive, { stream: id, createdMs });
  }

  /** All of the file was accepted: once that is settled, it is not read again, also after a restart. */
  accept(archive: Archive, end: ArchiveEnd): void {
    Object.assign(archive, { state: 'accepted', end, failedAt: undefined, isCut: false });
  }

  /** The file grew: it is read on, also after a restart. */
  goOn(archive: Archive): void {
    archive.state = 'waiting';
    this.#options.streams.noteArchiveEnd(archive.stream!, undefined);
  }

  /** Another file took the place of this one. */
  replace(archive: Archive): Archive {
    this.#drop(archive);
    const next = this.#newArchive(archive);
    this.#byInode.set(inodeKey(archive.stat), next);
    return next;
  }

  #finish(archive: Archive): void {
    archive.state = 'done';
    this.#options.streams.noteArchiveEnd(archive.stream!, archive.end);
  }

  #skip(archive: Archive): void {
    this.mint(archive, 0);
    archive.end = { size: archive.stat.size, contentSize: undefined, tail: this.#tailOf(archive) };
    this.#finish(archive);
  }

  /** Earlier versions did not save where a file ended: at its present end, unless it was written to since. */
  #oldEnd(archive: Archive): ArchiveEnd | undefined {
    const { stat, createdMs, offset } = archive;
    if (offset > 0 && stat.mtimeMs > createdMs) return undefined;
    return { size: stat.size, contentSize: offset > 0 ? offset : undefined, tail: this.#tailOf(archive) };
  }

  #newArchive({ path, stat }: FoundFile): Archive {
    return {
      path,
      stat,
      missingSinceMs: undefined,
      stream: undefined,
      shape: this.#options.shapeOf(path),
      identity: { device: String(stat.device), inode: String(stat.inode), ...NO_FINGERPRINT },
      offset: 0,
      end: undefined,
      createdMs: 0,
      failedAt: undefined,
      isCut: false,
      lostBytes: 0,
      state: 'waiting',
    };
  }

  /** The file known under the path, if its device or inode may have changed: by a reboot, or where inodes are not stable. */
  #movedUnder({ stat }: FoundFile, known: Archive | undefined): Archive | undefined {
    return known && (!this.#options.stableInodes || known.identity.inode === String(stat.inode)) ? known : undefined;
  }

  /** True if the found file is the known one, which is updated. True also while its fingerprint cannot be read. */
  #isStill(known: Archive, { path, stat }: FoundFile): boolean {
    const { size, mtimeMs, bornMs } = known.stat;
    if (stat.size !== size || stat.mtimeMs !== mtimeMs || stat.bornMs !== bornMs) {
      const head = this.#headOf(path);
      if (!head) return true;
      if (!hasFingerprint(known.identity, head)) return false;
    }
    if (known.missingSinceMs !== undefined && known.stream !== undefined) this.#options.rescue?.release(known.stream);
    Object.assign(known, { path, stat, missingSinceMs: undefined });
    if (inodeKey(known.identity) === inodeKey(stat)) return true;
    this.#byInode.delete(inodeKey(known.identity));
    known.identity = { ...known.identity, device: String(stat.device), inode: String(stat.inode) };
    this.#byInode.set(inodeKey(stat), known);
    if (known.stream !== undefined) this.#options.streams.identify(known.stream, known.identity);
    return true;
  }

  #keep(archive: Archive, isThere: boolean): void {
    const { streams, clock } = this.#options;
    if (archive.state === 'accepted' && streams.isSettled(archive.stream!)) this.#finish(archive);
    if (isThere && archive.state === 'done' && !archive.end) {
      archive.end = this.#oldEnd(archive);
      if (archive.end) this.#finish(archive);
      else this.goOn(archive);
    }
    if (isThere) return;
    if (archive.missingSinceMs === undefined) this.#spool(archive);
    archive.missingSinceMs ??= clock.monotonic();
    if (clock.monotonic() - archive.missingSinceMs >= FORGET_AFTER_MS) this.#drop(archive);
  }

  #drop(archive: Archive): void {
    this.#byInode.delete(inodeKey(archive.identity));
    if (archive.stream === undefined) return;
    this.#spool(archive);
    this.#options.expire(archive.stream);
  }

  /** What is held of it cannot be read again. */
  #spool({ stream }: Archive): void {
    if (stream !== undefined) this.#options.rescue?.keep(stream);
  }

  #headOf(path: string): Buffer | undefined {
    const { fileSystem } = this.#options;
    return withOpenIfReadable(fileSystem, path, (fd) => readHead(fileSystem, fd, HEAD_BYTES));
  }

  /** NO_TAIL if it cannot be read now: the next look then takes it for another file. */
  #tailOf({ path, stat }: Archive): Tail {
    const { fileSystem } = this.#options;
    return withOpenIfReadable(fileSystem, path, (fd) => tailOf(readBefore(fileSystem, fd, stat.size, TAIL_BYTES))) ?? NO_TAIL;
  }
}

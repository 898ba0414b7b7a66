/**
 * The compressed files, each one stream, recognised by inode and fingerprint over renames and restarts. The same inode with another
 * fingerprint is another file. A missing one is kept for a while, as a plain file is.
 */
import type { Behind, EventShape, Tail } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { Rescue } from '../../../core/source.ts';
import { FORGET_AFTER_MS } from '../limits.ts';
import type { CompressedEnd, FileIdentity, StreamRecord, StreamStore } from '../../../core/stream.ts';
import { NO_TAIL, tailOf } from '../../../core/sums.ts';
import { compressionOf } from './decompress.ts';
import {
  type FileStat,
  type FileSystem,
  inodeKey,
  NO_FILE,
  readBefore,
  readHead,
  withOpenIfReadable,
} from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { EndedFile } from '../read/line-ends.ts';
import { familyOf } from '../scan/rotated-names.ts';
import { hasFingerprint, fingerprintOf, NO_FINGERPRINT } from '../known/content.ts';

export interface CompressedFilesOptions {
  /** The source's id. */
  readonly source: string;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  /** False where a file may have another inode at every scan. */
  readonly stableInodes: boolean;
  shapeOf(path: string): EventShape;
  readonly rescue: Rescue | undefined;
  /** Expires a stream whose file is gone. */
  expire(stream: string): void;
}

export interface CompressedFile {
  path: string;
  /** What files have in common that may go on with each other. */
  readonly family: string;
  /** What the last scan that found it saw. */
  stat: FileStat;
  /** Monotonic, since when no scan finds it; undefined while it is there. */
  missingSinceMs: number | undefined;
  stream: string | undefined;
  readonly shape: EventShape;
  identity: FileIdentity;
  /** Everything before was accepted by the lane; decompressed bytes. */
  offset: number;
  /** What lines behind `offset` belong to, where events interleave. */
  behind: Behind | undefined;
  /** Where it ended when all of its content was read; undefined before, and in rows of earlier versions. */
  end: CompressedEnd | undefined;
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

export class CompressedFiles {
  readonly #options: CompressedFilesOptions;
  readonly #byInode = new Map<string, CompressedFile>();

  constructor(options: CompressedFilesOptions) {
    this.#options = options;
  }

  /** Restores the saved ones. `isSkipped`: files that are there and not known are not read. */
  open(records: readonly StreamRecord[], found: ReadonlyMap<string, FoundFile>, isSkipped: boolean): void {
    const now = this.#options.clock.monotonic();
    // The newest first: an older one of the same inode is gone.
    for (const { id, path, identity: saved, resumeAt, behind, compressedEnd, createdMs } of [...records].reverse()) {
      const identity = saved && { ...saved, headHash: saved.headHash.replace(DONE, '') };
      if (!identity || this.#byInode.has(inodeKey(identity))) {
        this.#options.expire(id);
        continue;
      }
      const state = compressedEnd || saved.headHash.startsWith(DONE) ? 'done' : 'waiting';
      const known = {
        missingSinceMs: now,
        stream: id,
        identity,
        offset: resumeAt,
        behind,
        end: compressedEnd,
        createdMs,
        state,
      } as const;
      this.#byInode.set(inodeKey(identity), { ...this.#newFile({ path, stat: NO_FILE }), ...known });
    }
    for (const compressed of this.see(found)) if (isSkipped && this.identify(compressed)) this.#skip(compressed);
  }

  /** Records the compressed files that a scan found. Returns the new ones. */
  see(found: ReadonlyMap<string, FoundFile>): CompressedFile[] {
    const seen = new Set<CompressedFile>();
    const added: CompressedFile[] = [];
    const byPath = new Map([...this.#byInode.values()].map((compressed) => [compressed.path, compressed]));
    for (const each of found.values()) {
      const holder = this.#byInode.get(inodeKey(each.stat));
      const known = [holder, this.#movedUnder(each, byPath.get(each.path))].find(
        (compressed) => compressed && this.#isStill(compressed, each),
      );
      if (known) {
        seen.add(known);
        continue;
      }
      if (holder) this.#drop(holder);
      const compressed = this.#newFile(each);
      this.#byInode.set(inodeKey(each.stat), compressed);
      seen.add(compressed);
      added.push(compressed);
    }
    for (const compressed of this.#byInode.values()) this.#keep(compressed, seen.has(compressed));
    return added;
  }

  /** Those that are there, the oldest first. */
  get present(): CompressedFile[] {
    const present = [...this.#byInode.values()].filter(({ missingSinceMs }) => missingSinceMs === undefined);
    return present.sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs);
  }

  /** How all of them end. */
  *ends(): Generator<EndedFile> {
    for (const compressed of this.#byInode.values()) {
      const { family, stat, state, identity } = compressed;
      yield {
        file: compressed,
        family,
        mtimeMs: stat.mtimeMs,
        endsInLine: state === 'waiting' ? undefined : identity.endsInLine === true,
      };
    }
  }

  /** Saves whether its first line began in another file, or its last one goes on in another, and its headers. */
  noteLines(compressed: CompressedFile, lines: Pick<FileIdentity, 'beginsInLine' | 'endsInLine' | 'headers'>): void {
    compressed.identity = { ...compressed.identity, ...lines };
    this.#options.streams.identify(compressed.stream!, compressed.identity);
  }

  byStream(stream: string): CompressedFile | undefined {
    for (const compressed of this.#byInode.values()) if (compressed.stream === stream) return compressed;
    return undefined;
  }

  /** Takes the file's fingerprint; false if it is not compressed, or cannot be read now. */
  identify(compressed: CompressedFile): boolean {
    const head = this.#headOf(compressed.path);
    if (!head || !compressionOf(head)) return false;
    compressed.identity = { ...compressed.identity, ...fingerprintOf(head) };
    return true;
  }

  /** Gives the file a stream that begins at `offset`, behind these headers. */
  mint(
    compressed: CompressedFile,
    offset: number,
    { headers, behind }: Pick<FileIdentity, 'headers'> & { readonly behind?: Behind | undefined } = {},
  ): void {
    const { streams, source } = this.#options;
    if (compressed.stream !== undefined) this.#options.expire(compressed.stream);
    Object.assign(compressed, { offset, behind });
    const { headers: _, ...identity } = compressed.identity;
    compressed.identity = headers ? { ...identity, headers } : identity;
    const { id, createdMs } = streams.mint(source, compressed.path, compressed.identity, offset);
    Object.assign(compressed, { stream: id, createdMs });
  }

  /** All of the file was accepted: once that is settled, it is not read again, also after a restart. */
  accept(compressed: CompressedFile, end: CompressedEnd): void {
    Object.assign(compressed, { state: 'accepted', end, failedAt: undefined, isCut: false });
  }

  /** The file grew: it is read on, also after a restart. */
  goOn(compressed: CompressedFile): void {
    compressed.state = 'waiting';
    this.#options.streams.noteCompressedEnd(compressed.stream!, undefined);
  }

  /** Another file took the place of this one. */
  replace(compressed: CompressedFile): CompressedFile {
    this.#drop(compressed);
    const next = this.#newFile(compressed);
    this.#byInode.set(inodeKey(compressed.stat), next);
    return next;
  }

  #finish(compressed: CompressedFile): void {
    compressed.state = 'done';
    this.#options.streams.noteCompressedEnd(compressed.stream!, compressed.end);
  }

  #skip(compressed: CompressedFile): void {
    this.mint(compressed, 0);
    compressed.end = { size: compressed.stat.size, contentSize: undefined, tail: this.#tailOf(compressed) };
    this.#finish(compressed);
  }

  /** Earlier versions did not save where a file ended: at its present end, unless it was written to since. */
  #oldEnd(compressed: CompressedFile): CompressedEnd | undefined {
    const { stat, createdMs, offset } = compressed;
    if (offset > 0 && stat.mtimeMs > createdMs) return undefined;
    return { size: stat.size, contentSize: offset > 0 ? offset : undefined, tail: this.#tailOf(compressed) };
  }

  #newFile({ path, stat }: FoundFile): CompressedFile {
    return {
      path,
      family: familyOf(path),
      stat,
      missingSinceMs: undefined,
      stream: undefined,
      shape: this.#options.shapeOf(path),
      identity: { device: String(stat.device), inode: String(stat.inode), ...NO_FINGERPRINT },
      offset: 0,
      behind: undefined,
      end: undefined,
      createdMs: 0,
      failedAt: undefined,
      isCut: false,
      lostBytes: 0,
      state: 'waiting',
    };
  }

  /** The file known under the path, if its device or inode may have changed: by a reboot, or where inodes are not stable. */
  #movedUnder({ stat }: FoundFile, known: CompressedFile | undefined): CompressedFile | undefined {
    return known && (!this.#options.stableInodes || known.identity.inode === String(stat.inode)) ? known : undefined;
  }

  /** True if the found file is the known one, which is updated. True also while its fingerprint cannot be read. */
  #isStill(known: CompressedFile, { path, stat }: FoundFile): boolean {
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

  #keep(compressed: CompressedFile, isThere: boolean): void {
    const { streams, clock } = this.#options;
    if (compressed.state === 'accepted' && streams.isSettled(compressed.stream!)) this.#finish(compressed);
    if (isThere && compressed.state === 'done' && !compressed.end) {
      compressed.end = this.#oldEnd(compressed);
      if (compressed.end) this.#finish(compressed);
      else this.goOn(compressed);
    }
    if (isThere) return;
    if (compressed.missingSinceMs === undefined) this.#spool(compressed);
    compressed.missingSinceMs ??= clock.monotonic();
    if (clock.monotonic() - compressed.missingSinceMs >= FORGET_AFTER_MS) this.#drop(compressed);
  }

  #drop(compressed: CompressedFile): void {
    this.#byInode.delete(inodeKey(compressed.identity));
    if (compressed.stream === undefined) return;
    this.#spool(compressed);
    this.#options.expire(compressed.stream);
  }

  /** Its held events cannot be reread. */
  #spool({ stream }: CompressedFile): void {
    if (stream !== undefined) this.#options.rescue?.keep(stream);
  }

  #headOf(path: string): Buffer | undefined {
    const { fileSystem } = this.#options;
    return withOpenIfReadable(fileSystem, path, (fd) => readHead(fileSystem, fd, HEAD_BYTES));
  }

  /** NO_TAIL if it cannot be read now: the next scan then takes it for another file. */
  #tailOf({ path, stat }: CompressedFile): Tail {
    const { fileSystem } = this.#options;
    return (
      withOpenIfReadable(fileSystem, path, (fd) => tailOf(readBefore(fileSystem, fd, stat.size, TAIL_BYTES))) ?? NO_TAIL
    );
  }
}

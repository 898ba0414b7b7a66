/**
 * Whether a file begins inside of a line, or of an event, that the file before it was cut in: by rotation, truncation or a new file of the next date.
 * Asked when its first bytes are read, and saved with its stream. Where several files may be the one before, one that ends so is enough.
 */
import type { FileIdentity, StreamStore } from '../../../core/stream.ts';
import { findBom, LONGEST_BOM_BYTES, type WindowBlock } from '../../framing/byte-window.ts';
import type { Lines } from '../../framing/lines.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import { closeQuietly, type FileStat, type FileSystem, isSameFile, readBefore, readHead } from '../scan/file-system.ts';
import { familyOf } from '../scan/rotated-names.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { headersWith, restAt, type TextPlace } from './in-line.ts';
import { isDetached, lagOf, type TrackedFile } from '../known/tracked-file.ts';

/** A compressed file, as far as another one may go on with it. */
export interface EndedFile {
  readonly file: object;
  readonly family: string;
  readonly mtimeMs: number;
  /** Undefined where it was not read to its end. */
  readonly endsInLine: boolean | undefined;
}

export interface LineEndsOptions {
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly knownFiles: KnownFiles;
  readonly shaping: LineShaping;
  readonly compressed: () => Iterable<EndedFile>;
}

export class LineEnds {
  readonly #options: LineEndsOptions;

  constructor(options: LineEndsOptions) {
    this.#options = options;
  }

  /** Whether anybody asks. */
  get #isAsked(): boolean {
    return this.#options.shaping.objects.isFollowed;
  }

  /** Notes how the open file begins, of which nothing was read. Throws system errors. */
  noteBeginning(file: TrackedFile): void {
    const { stream, disk } = file;
    if (!this.#isAsked || stream.identity.beginsInLine || stream.offset > stream.startAt) return;
    if (this.#beginsInLine(file, disk.fd!)) this.#save(file, { beginsInLine: true });
  }

  /** Notes whether the bytes read of the open file end inside a line. Throws system errors. */
  noteEnd(file: TrackedFile, wasUnfinished: boolean): void {
    const { stream, disk } = file;
    const { endsInLine = false } = stream.identity;
    if (!this.#isAsked || !(wasUnfinished || endsInLine)) return;
    const endsNow = restAt(this.#placeOf(file, disk.fd!, stream.offset)) !== false;
    if (endsNow !== endsInLine) this.#save(file, { endsInLine: endsNow });
  }

  /** Notes the headers before and behind a block of `length` bytes that is about to be offered. */
  noteHeaders(file: TrackedFile, lines: Lines, block: WindowBlock, length: number): void {
    const headers = headersWith(file.stream.identity, lines, block, length);
    if (headers) this.#save(file, { headers });
  }

  /** Whether a file of this family, last written then, goes on with a line of another one. */
  goesOn(self: object, family: string, mtimeMs: number): boolean {
    if (!this.#isAsked) return false;
    const { knownFiles, compressed } = this.#options;
    if (knownFiles.takeEndedInLine(family)) return true;
    const before: { mtimeMs: number; readonly endsInLine: () => boolean | undefined }[] = [];
    const note = (at: number, endsInLine: () => boolean | undefined): void => {
      if (at > mtimeMs || at < (before[0]?.mtimeMs ?? at)) return;
      if (at > (before[0]?.mtimeMs ?? at)) before.length = 0;
      before.push({ mtimeMs: at, endsInLine });
    };
    for (const other of knownFiles.inFamily(family)) {
      if (other === self || !(other.size > 0 || other.stream.offset > 0)) continue;
      note(this.#mtimeOf(other) ?? mtimeMs, () => this.#endsInLine(other));
    }
    for (const other of compressed())
      if (other.family === family && other.file !== self) note(other.mtimeMs, () => other.endsInLine);
    const known = before.flatMap(({ endsInLine }) => endsInLine() ?? []);
    // Of a compressed file nothing is known before it is read.
    return known.length > 0 ? known.includes(true) : before.length > 0;
  }

  #beginsInLine(file: TrackedFile, fd: number): boolean {
    const { fileSystem } = this.#options;
    const { startAt, firstPath } = file.stream;
    const place = this.#placeOf(file, fd, startAt);
    const last = readBefore(fileSystem, fd, startAt, 1);
    // Behind a NUL gap its text begins.
    if (startAt > 0 && last[0] !== 0) return restAt({ ...place, startAt: 0, beginsInLine: false }) !== false;
    return this.goesOn(file, familyOf(firstPath), fileSystem.fstat(fd).mtimeMs);
  }

  #placeOf({ stream: { startAt, identity } }: TrackedFile, fd: number, offset: number): TextPlace {
    const { fileSystem, shaping } = this.#options;
    const encoding = findBom(readHead(fileSystem, fd, LONGEST_BOM_BYTES))?.encoding ?? shaping.encoding;
    return {
      objects: shaping.objects,
      encoding,
      fileSystem,
      fd,
      offset,
      startAt,
      beginsInLine: identity.beginsInLine === true,
    };
  }

  /** When the file was last written; undefined where its bytes are in no file any more. */
  #mtimeOf(file: TrackedFile): number | undefined {
    const { place, seenMtimeMs } = file.disk;
    return place !== 'detached' && seenMtimeMs >= 0 ? seenMtimeMs : this.#statOf(file)?.mtimeMs;
  }

  /** The same. */
  #statOf(file: TrackedFile): FileStat | undefined {
    const { fileSystem } = this.#options;
    const { disk } = file;
    try {
      if (isDetached(file)) return undefined;
      const stat = disk.fd === undefined ? fileSystem.stat(disk.path) : fileSystem.fstat(disk.fd);
      return stat && isSameFile(stat, disk) ? stat : undefined;
    } catch {
      return undefined;
    }
  }

  #endsInLine(file: TrackedFile): boolean {
    const { stream, disk } = file;
    const { fileSystem } = this.#options;
    const stat = this.#statOf(file);
    let opened: number | undefined;
    try {
      if (stat) {
        const fd = disk.fd ?? (opened = fileSystem.open(disk.path));
        // NULs after the bytes read are not written yet.
        const isRead = stat.size <= file.size && lagOf(file) === 0;
        return restAt(this.#placeOf(file, fd, isRead ? stream.offset : stat.size)) !== false;
      }
    } catch {
      // The known facts must do.
    } finally {
      if (opened !== undefined) closeQuietly(fileSystem, opened);
    }
    return stream.identity.endsInLine === true || lagOf(file) > 0;
  }

  #save({ stream }: TrackedFile, noted: Pick<FileIdentity, 'beginsInLine' | 'endsInLine' | 'headers'>): void {
    stream.identity = { ...stream.identity, ...noted };
    if (stream.id !== undefined) this.#options.streams.identify(stream.id, stream.identity);
  }
}

/**
 * Which file goes on where another one ended: the one that took its path when it was rotated away, or has the next date in its name. Where lines are joined to
 * events, the first lines of a file may belong to an event that began in the file before; until that one was read to its end,
 * the file waits. Promises: a file waits no longer than the one before can be read, and follows none that it only resembles.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { HEAD_BYTES } from '../../../core/limits.ts';
import { BIRTH_SLACK_MS, KEEP_OPEN_MS, STREAM_ORDER_MS } from '../limits.ts';
import type { Grouping } from '../../../parsers/text/grouping.ts';
import { findBom } from '../../framing/byte-window.ts';
import type { LineShaping } from '../../framing/line-shaping.ts';
import { type FileSystem, readHead } from '../scan/file-system.ts';
import type { KnownFiles } from './known-files.ts';
import { datedName, rotatedFrom } from '../scan/rotated-names.ts';
import { isDetached, isGone, lagOf, type TrackedFile } from './tracked-file.ts';

export interface RotationChainOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly knownFiles: KnownFiles;
  readonly shaping: LineShaping;
}

export class RotationChain {
  readonly #options: RotationChainOptions;
  readonly #grouping: Grouping | undefined;
  /** Files that are not yet linked. */
  readonly #fresh = new Set<TrackedFile>();
  /** By file: the one that goes on with it. */
  readonly #after = new WeakMap<TrackedFile, TrackedFile>();
  /** By path: the file that had it last. */
  readonly #last = new Map<string, TrackedFile>();
  /** By what the names of files with dates have in common: the path with the last date. */
  readonly #dated = new Map<string, { readonly date: string; readonly path: string }>();

  constructor(options: RotationChainOptions) {
    this.#options = options;
    this.#grouping = options.shaping.grouping?.();
  }

  /** Adds a file that is followed from now on. It is not read before the next `link`. */
  add(file: TrackedFile): void {
    if (this.#grouping?.mayContinue) this.#fresh.add(file);
  }

  /** Links the added files to those that they continue: after a scan, when all are known. */
  link(): void {
    if (this.#fresh.size === 0) return;
    const { knownFiles } = this.#options;
    for (const file of this.#fresh) if (!knownFiles.files.has(file)) this.#fresh.delete(file);
    for (const [path, file] of this.#last) if (!knownFiles.files.has(file)) this.#last.delete(path);
    for (const [series, { path }] of this.#dated) if (!this.#last.has(path)) this.#dated.delete(series);
    for (const [path, files] of [...this.#generations()].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const isThere = (file: TrackedFile): boolean => file.disk.path === path && !isGone(file);
      const there = files.find(isThere);
      // Older than a rotated file: rotation copies, so that its content is younger than the file.
      if (there && there.appearedInScan <= 1 && files.some(({ bornMs }) => bornMs > there.bornMs)) there.bornMs = 0;
      // One of them may be a copy.
      if (files.some((file) => knownFiles.isUndecided(file))) continue;
      const row = files.filter((file) => !isThere(file) && file.size > 0).sort(compareAge);
      const isOrderKnown = row.every((file, n) => !isDetached(file) && (n === 0 || isLaterThan(file, row[n - 1]!)));
      // What was seen at the path may have been rotated away since, and others with it. A file that was there before the first scan
      // may be older than what is in it.
      const behind =
        there && there.appearedInScan > 1 && there.bornMs > 0
          ? row.findIndex(({ bornMs }) => bornMs > there.bornMs)
          : -1;
      if (there) row.splice(behind === -1 ? row.length : behind, 0, there);
      for (const file of files) {
        this.#fresh.delete(file);
        if (file.size > 0) knownFiles.enqueue(file);
      }
      // Files of which none was known are merely alike by name.
      let before = this.#last.get(path) ?? this.#lastDated(path, row[0]);
      // Discovered too late to be ordered.
      if (before && isThere(before)) continue;
      for (const file of row) {
        if (before && isOrderKnown) this.#connect(before, file, there?.bornMs === 0);
        if (before || file.stream.firstPath === path) before = file;
      }
      if (before) this.#last.set(path, before);
      this.#noteDate(path);
    }
  }

  /** The last file of the date before, where the path has a date in its name, and nothing was written to that since this one was made. */
  #lastDated(path: string, first: TrackedFile | undefined): TrackedFile | undefined {
    const own = datedName(path);
    const last = own && this.#dated.get(own.series);
    const before = last && last.date < own.date ? this.#last.get(last.path) : undefined;
    return before && first && before.disk.seenMtimeMs <= first.bornMs + BIRTH_SLACK_MS ? before : undefined;
  }

  #noteDate(path: string): void {
    const own = datedName(path);
    if (own && !(own.date < (this.#dated.get(own.series)?.date ?? '')))
      this.#dated.set(own.series, { date: own.date, path });
  }

  /** The files that were added, by the path that they have, or had before they were rotated away. */
  #generations(): Map<string, TrackedFile[]> {
    const paths = new Set([...this.#last.keys(), ...[...this.#fresh].map(({ stream }) => stream.firstPath)]);
    const found = new Map<string, TrackedFile[]>();
    for (const file of this.#fresh) {
      const base = file.disk.path === file.stream.firstPath ? rotatedFrom(file.disk.path) : file.stream.firstPath;
      const path = base !== undefined && paths.has(base) ? base : file.disk.path;
      const files = found.get(path);
      if (files) files.push(file);
      else found.set(path, [file]);
    }
    return found;
  }

  /** True while the file's first lines may belong to an event of the file before, which then gets its turn, or the first of a row. The file is open. */
  holds(file: TrackedFile): boolean {
    if (this.#fresh.has(file)) return true;
    const { before } = file;
    if (!before) return false;
    if (this.#isOver(file, before) || !this.#beginsInside(file)) {
      this.#detach(file);
      return false;
    }
    let first = before;
    while (first.before) first = first.before;
    this.#options.knownFiles.enqueue(first);
    return true;
  }

  /** The files that go on with the file, in their order. */
  followers(file: TrackedFile): TrackedFile[] {
    const after = this.#after.get(file);
    return after ? [after, ...this.followers(after)] : [];
  }

  /** The file waits for no other one any more. */
  release(file: TrackedFile): void {
    this.#detach(file);
    this.#options.knownFiles.enqueue(file);
  }

  #detach(file: TrackedFile): void {
    if (file.before && this.#after.get(file.before) === file) this.#after.delete(file.before);
    file.before = undefined;
  }

  #connect(before: TrackedFile, file: TrackedFile, isCopied: boolean): void {
    const isUnread = lagOf(before) > 0 || before.before !== undefined;
    // So long after the last line of the one before, its event was over. A copy's birth time tells nothing about its first line.
    const isLate =
      !isCopied &&
      before.disk.seenMtimeMs > 0 &&
      file.bornMs - before.disk.seenMtimeMs > this.#options.shaping.groupTimeoutMs;
    const after = this.#after.get(before);
    const isTaken = after !== undefined && this.#options.knownFiles.files.has(after);
    if (!isUnread || isLate || isTaken || file.before || file.stream.offset > file.stream.startAt) return;
    this.#after.set(before, file);
    file.before = before;
  }

  /** Nothing more comes of the file before, or not soon enough. */
  #isOver(file: TrackedFile, before: TrackedFile): boolean {
    const { knownFiles, clock } = this.#options;
    if (!knownFiles.files.has(before) || before.disk.failure !== undefined) return true;
    // What was deleted must not wait for what waits for the sinks.
    if (file.disk.place === 'deleted' && before.disk.place !== 'deleted') return true;
    if (isDetached(before) && clock.monotonic() - before.disk.goneSinceMs >= KEEP_OPEN_MS) return true;
    return lagOf(before) === 0 && before.before === undefined;
  }

  /** False when the file's first line is there and begins an event whatever was before it. */
  #beginsInside(file: TrackedFile): boolean {
    const { fileSystem, shaping } = this.#options;
    const head = readHead(fileSystem, file.disk.fd!, HEAD_BYTES, file.stream.startAt);
    const mark = findBom(head);
    const encoding = mark?.encoding ?? shaping.encoding;
    const start = mark?.bytes.length ?? 0;
    const end = encoding.firstLineEnd(head, start, head.length);
    if (end === -1) return true;
    const text = Buffer.from(encoding.decode(head.subarray(start, end - encoding.endingBytes(head, end))));
    return this.#grouping!.mayContinue!(text, 0, text.length);
  }
}

/** Its stream says nothing about when the file was made. */
function isNew({ appearedInScan, stream }: TrackedFile): boolean {
  return appearedInScan > 0 || stream.createdMs === 0;
}

/** By when their files were made, or where that says nothing, their streams. */
function compareAge(a: TrackedFile, b: TrackedFile): number {
  const byBirth = a.bornMs > 0 && b.bornMs > 0 ? a.bornMs - b.bornMs : 0;
  if (byBirth !== 0) return byBirth;
  const [isNewA, isNewB] = [isNew(a), isNew(b)];
  if (isNewA !== isNewB) return isNewA ? 1 : -1;
  return isNewA ? byBirth : a.stream.createdMs - b.stream.createdMs;
}

/** True where the file is a later generation than the other for sure. What was truncated without a copy has no time of birth. */
function isLaterThan(file: TrackedFile, other: TrackedFile): boolean {
  const byBirth = file.bornMs > 0 && other.bornMs > 0 ? file.bornMs - other.bornMs : 0;
  if (byBirth !== 0) return byBirth > 0;
  if (isNew(other)) return false;
  return isNew(file) || file.stream.createdMs - other.stream.createdMs > STREAM_ORDER_MS;
}

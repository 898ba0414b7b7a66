/**
 * Decides from a scan how each file changed. Pure: every case is a row of the tables in test/sources/file/match.test.ts, which
 * docs/tailing.md shows. `Apply` acts on the answers.
 */
import type { KnownChange, NewChange, SavedChange } from '../known/change.ts';
import type { Place } from '../known/file-on-disk.ts';
import type { Holdings } from '../known/holdings.ts';
import type { SavedStream } from '../known/stream.ts';
import { endsInNuls, isBehind, isDetached, isGone, isReplaced, lagOf, type TrackedFile } from '../known/tracked-file.ts';
import { SCAN_SLICE_FILES } from '../limits.ts';
import { type FileStat, isSameFile } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';

/** What a scan saw of a file that is known. A fact that costs a look at the disk may be a getter: it is asked for only when it counts. */
export interface Sight {
  /** What its path leads to. */
  readonly path: 'itself' | 'something else' | 'unknown';
  /** What its descriptor says. */
  readonly descriptor: 'closed' | 'open' | 'unlinked' | 'unknown';
  /** Another path leads to its inode. */
  readonly isElsewhere: boolean;
  /** The content under its inode, compared with what was read. */
  readonly content: 'same' | 'different' | 'unknown';
  /** Its file system is not mounted, or does not answer. */
  readonly isMountAway: boolean;
}

export interface Sighting extends Sight {
  /** Where its inode was found. */
  found: FoundFile | undefined;
  /** What its descriptor says. */
  held: FileStat | undefined;
}

export function match(sight: Sight): KnownChange {
  const { path } = sight;
  if (path === 'unknown') return 'undecided';
  if (path === 'itself') {
    if (sight.content !== 'different') return 'continued';
    return sight.descriptor === 'closed' ? 'replaced' : 'truncated';
  }
  const { descriptor } = sight;
  if (descriptor === 'unknown') return 'undecided';
  if (descriptor === 'unlinked') return 'deleted';
  if (!sight.isElsewhere) return sight.isMountAway ? 'away' : 'gone';
  const { content } = sight;
  if (content === 'same') return 'renamed';
  return content === 'different' ? 'replaced' : 'undecided';
}

/** `isReached`: a pattern leads to where the file was first, or is now. */
export function matchSaved(sight: Sight, isReached: boolean): SavedChange {
  const change = match(sight);
  return change === 'gone' || change === 'replaced' || isReached ? change : 'left out';
}

/** Facts about a new file whose name extends that of a known one. */
export interface CopySight {
  /** The file that it may be a copy of is still under its path, or its content is in no file any more. */
  readonly original: 'there' | 'gone';
  /** Compared with what was read of the original, as far as one scan may. */
  readonly content: 'same' | 'different' | 'unknown';
  /** It did not change for 10 s. */
  readonly isSettled: boolean;
}

export function matchCopy({ original, content, isSettled }: CopySight): NewChange {
  if (content === 'different') return 'new';
  if (original === 'there') return isSettled ? 'new' : 'undecided';
  return content === 'same' ? 'copied' : 'undecided';
}

export interface ChangedFile {
  readonly kind: KnownChange;
  readonly file: TrackedFile;
  /** Where it was found, and its stat; of a file that was not found, the stat of its descriptor. */
  readonly path?: string | undefined;
  readonly stat?: FileStat | undefined;
  /** The place of the path. */
  readonly place: Place;
}

/** The stream of an earlier process. */
export interface SavedFile {
  readonly kind: SavedChange;
  readonly record: SavedStream;
  /** Where its file, or what has its inode now, was located. */
  readonly found: FoundFile | undefined;
}

/** `ignored` counts all ignored files; `path` is the first one. */
export type Change =
  | ChangedFile
  | (FoundFile & { readonly kind: 'new' })
  | { readonly kind: 'ignored'; readonly path: string; readonly files: number };

/** The files that a scan found, and functions that look further, which costs system calls. */
export interface Scan {
  readonly number: number;
  readonly found: Iterable<FoundFile>;
  /** The only folder that was searched; undefined for all. */
  readonly folder: string | undefined;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
  /** `otherName`: where the scan found its inode. */
  look(file: TrackedFile, otherName?: FoundFile): Sighting;
  /** True if the found file has the content of the known one; undefined while that cannot be read. */
  hasContent(file: TrackedFile, found: FoundFile): boolean | undefined;
  /** True for a file that was not changed for longer than `ignore_older`. */
  isIgnored(stat: FileStat): boolean;
}

/**
 * Yields every change of a scan: renames, then deletes, then new files, because a rotated file is recognised by its inode under any name.
 * The caller acts on each change before it asks for the next: a file that is opened, or found to be truncated or a copy, decides about
 * the others. Yields undefined where other work may have its turn.
 */
export function* matchScan(scan: Scan, known: Holdings): Generator<Change | undefined, void, void> {
  const strange: FoundFile[] = [];
  /** Where inodes change, content tells a file. */
  const matchRenumbered = (file: TrackedFile, found: FoundFile): 'continued' | undefined =>
    !scan.stableInodes && !known.in(found.stat) && scan.hasContent(file, found) === true ? 'continued' : undefined;
  for (const found of scan.found) {
    const file = known.at(found.path);
    const kind = file && (matchAt(file, found.stat) ?? matchRenumbered(file, found));
    if (kind === 'continued') yield { kind, file: file!, path: found.path, stat: found.stat, place: 'matched' };
    else strange.push(found);
    if (kind === 'replaced') yield { kind, file: file!, place: 'matched' };
  }
  const away = new Map([...known.gone].filter(({ disk }) => disk.place === 'away').map((file) => [file.disk.path, file]));
  const unknown: FoundFile[] = [];
  for (const found of strange) {
    const file = known.in(found.stat);
    // A second name (hard link, symbolic link) of a file that was seen.
    if (file?.disk.scan === scan.number) continue;
    const change = file && judge(file, scan.look(file, found), found);
    if (change) yield change;
    if (change && change.kind !== 'replaced') continue;
    const back = away.get(found.path);
    // A file system that is mounted again may have another device number.
    if (back?.disk.inode === found.stat.inode && scan.hasContent(back, found) === true)
      yield { kind: 'continued', file: back, ...found, place: 'matched' };
    else unknown.push(found);
  }
  for (const file of known.filesIn(scan.folder)) {
    if (file.disk.scan === scan.number || isDetached(file)) continue;
    // No name leads to a deleted file; `look` and full scans see what is still written to it.
    if (scan.folder !== undefined && file.disk.place === 'deleted' && file.disk.fd !== undefined && !file.disk.failure) continue;
    yield judge(file, scan.look(file));
  }
  const ignored: FoundFile[] = [];
  for (const [n, found] of unknown.sort((a, b) => (a.path < b.path ? -1 : 1)).entries()) {
    if (n > 0 && n % SCAN_SLICE_FILES === 0) yield undefined;
    // Acting on an earlier change may have taken it up.
    if (known.in(found.stat)) continue;
    if (scan.isIgnored(found.stat)) {
      ignored.push(found);
      continue;
    }
    yield { kind: 'new', ...found };
    const file = known.at(found.path);
    // Gone or renamed before it could be opened: a copy can still be told from what was cut off in this scan.
    if (file && file.disk.fd === undefined && file.stream.id === undefined && !file.disk.failure) yield judge(file, scan.look(file));
  }
  if (ignored[0]) yield { kind: 'ignored', path: ignored[0].path, files: ignored.length };
}

/** How a file changed whose path leads to `stat` now; undefined where it must be looked for elsewhere. */
export function matchAt(file: TrackedFile, stat: FileStat): 'continued' | 'replaced' | undefined {
  if (!isSameFile(file.disk, stat)) return undefined;
  return isReplaced(file, stat) ? 'replaced' : 'continued';
}

/** Decides by its descriptor between two scans; undefined where the next scan is soon enough. */
export function matchHeld(file: TrackedFile, stat: FileStat): Change | undefined {
  const { place } = file.disk;
  if (stat.links === 0 && place !== 'deleted') return { kind: 'deleted', file, stat, place };
  // Open files whose unfinished line may be due, or that end in NULs, or have a hole, in whose place text may be by now.
  const isWatched =
    endsInNuls(file) ||
    (file.stream.readFromMs > 0 && isBehind(file)) ||
    file.stream.nuls.hole !== undefined ||
    (lagOf(file) > 0 && !isBehind(file));
  return isGone(file) || isWatched ? { kind: 'continued', file, stat, place } : undefined;
}

function judge(file: TrackedFile, sight: Sighting, otherName?: FoundFile): ChangedFile {
  const kind = match(sight);
  // The file that has its inode now is judged next, by itself.
  if (kind === 'replaced' && otherName) return { kind, file, place: 'aside' };
  const { found, held } = sight;
  const isInPlace = found?.path === file.disk.path && file.disk.place === 'matched';
  const place = isInPlace || (found && found.path === otherName?.path) ? 'matched' : 'aside';
  return { kind, file, path: found?.path, stat: found?.stat ?? held, place };
}

/** Joins what a scan found with the files that are known: gathers an observation of each that was not acted on yet in this scan. */
import type { Observation, Observations, UnknownFile } from '../decide/decide.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { isDetached, type TrackedFile } from '../known/tracked-file.ts';
import { type FileStat, inodeKey, isSameFile } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { checkContent, observe, observeAt, type ObserveOptions } from './observe-file.ts';

export interface ScanOptions extends ObserveOptions {
  /** The number of the scan. */
  readonly number: number;
  /** The only folder that was searched; undefined for all. */
  readonly folder: string | undefined;
  /** False where a file may have another inode at every look: there content tells a file. */
  readonly stableInodes: boolean;
  readonly isIgnored: (stat: FileStat) => boolean;
}

/** What a scan found that is known at its path, and all that must be looked at further. */
export function observePaths(
  found: Iterable<FoundFile>,
  known: KnownFiles,
  { stableInodes, fileSystem }: ScanOptions,
): { readonly known: Observation[]; readonly rest: FoundFile[] } {
  const seen: Observation[] = [];
  const rest: FoundFile[] = [];
  /** Inodes that known files have by now: a second name of one leads to no other of them. */
  const taken = new Set<string>();
  const isMoved = (file: TrackedFile, each: FoundFile): boolean => {
    if (known.in(each.stat) || taken.has(inodeKey(each.stat)) || !hasContent(file, each, fileSystem)) return false;
    taken.add(inodeKey(each.stat));
    return true;
  };
  for (const each of found) {
    const file = known.at(each.path);
    const isSame = file && (isSameFile(file.disk, each.stat) || (!stableInodes && isMoved(file, each)));
    const observation = isSame ? observeAt(file, each, 'matched') : undefined;
    if (observation) seen.push(observation);
    if (observation?.facts.content !== 'same') rest.push(each);
  }
  return { known: seen, rest };
}

/** The known files that the scan did not see yet, by what it found elsewhere or else by a look at each; and what it found and nobody knows. */
export function observeRest(found: Iterable<FoundFile>, known: KnownFiles, options: ScanOptions): Observations {
  const seen = new Map<unknown, Observation>();
  const unknown: UnknownFile[] = [];
  const away = new Map(
    [...known.gone].filter(({ disk }) => disk.place === 'away').map((file) => [file.disk.path, file]),
  );
  for (const each of found) {
    const file = known.in(each.stat);
    // A second name (hard link, symbolic link) of a file that was seen.
    if (file && (file.disk.scan === options.number || seen.has(file))) continue;
    const back = file ? undefined : away.get(each.path);
    // A file system that is mounted again may have another device number.
    const isBack = back?.disk.inode === each.stat.inode && hasContent(back, each, options.fileSystem);
    if (file) seen.set(file, observe(file, options, each));
    else if (isBack) seen.set(back, observeAt(back, each, 'matched'));
    else unknown.push({ found: each, isIgnored: options.isIgnored(each.stat) });
  }
  for (const file of known.filesIn(options.folder)) {
    if (file.disk.scan === options.number || seen.has(file) || isDetached(file)) continue;
    // No name leads to a deleted file; `look` and full scans see later writes to it.
    if (
      options.folder !== undefined &&
      file.disk.place === 'deleted' &&
      file.disk.fd !== undefined &&
      !file.disk.failure
    )
      continue;
    seen.set(file, observe(file, options));
  }
  return { known: [...seen.values()], unknown };
}

const hasContent = (...given: Parameters<typeof checkContent>): boolean => checkContent(...given).content === 'same';

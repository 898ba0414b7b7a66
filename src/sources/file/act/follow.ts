/** Begins to follow a file that was not known: it gets a stream without an id, to be read from its beginning. */
import type { EventShape } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { RotationChain } from '../known/rotation-chain.ts';
import { newTrackedFile, type TrackedFile } from '../known/tracked-file.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { Finder, FoundFile } from '../scan/finder.ts';
import type { FirstPlace } from '../scan/rotated-names.ts';

export interface FollowFileOptions {
  readonly clock: Clock;
  readonly knownFiles: KnownFiles;
  readonly shapeOf: (path: string) => EventShape;
  readonly chain: RotationChain;
  readonly finder: Finder;
}

/** Follows a file that a scan found under a matching path. */
export function follow(options: FollowFileOptions, { path, stat }: FoundFile): TrackedFile {
  const { knownFiles, chain } = options;
  const file = newGeneration(options, path, stat);
  const readBefore = knownFiles.readBefore.get(inodeKey(stat));
  if (readBefore !== undefined) {
    file.stream.nuls.minGap = Math.min(file.stream.nuls.minGap, readBefore);
    file.stream.nuls.isAfterTruncation = true;
  }
  // What lies beside a file from before the first scan may have been left out on purpose.
  if (knownFiles.scan > 1) file.nextBornMs = stat.bornMs;
  knownFiles.add(file);
  chain.add(file);
  return file;
}

/** Follows a file that is beside a matching one, or was until a moment ago. */
export function followAside(options: FollowFileOptions, { path, stat }: FoundFile, of: FirstPlace): TrackedFile {
  const { finder, knownFiles, chain } = options;
  const place = finder.placeOf(path);
  const file =
    place === 'matched' ? newGeneration(options, path, stat) : newGeneration(options, of.firstPath, stat, of.realPath);
  Object.assign(file.disk, { path, place, scan: knownFiles.scan });
  knownFiles.add(file);
  chain.add(file);
  return file;
}

/** A generation that nobody follows yet. */
export function newGeneration(
  { clock, knownFiles, shapeOf }: Pick<FollowFileOptions, 'clock' | 'knownFiles' | 'shapeOf'>,
  path: string,
  stat: FileStat,
  realPath = path,
  shape = shapeOf(path),
): TrackedFile {
  const file = newTrackedFile(path, stat, shape, clock.monotonic(), knownFiles.scan);
  file.stream.realPath = realPath;
  return file;
}

/**
 * At start-up, before anything is read: which of the files that are there are the ones of the checkpoints, under which name
 * whatever. A file counts as known when it has the inode and still the content; else it is new and read from 0, which can
 * send events twice but never loses one.
 */
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../../../core/errors.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import type { Encoding } from '../../../parsers/text/encoding.ts';
import { findBom, LONGEST_BOM_BYTES } from '../../framing/byte-window.ts';
import { type FileStat, type FileSystem, inodeKey } from '../scan/file-system.ts';
import { type FoundFile, parentOf } from '../scan/finder.ts';
import type { Generations } from './generations.ts';
import { lastSightOf, type Restored } from './restored.ts';
import { compare } from '../known/content.ts';
import { findLineStart, readBefore, readHead, withOpen } from '../scan/peek.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import { isDetached, isRotated, type TrackedFile } from '../known/tracked-file.ts';
import type { Tracker } from './tracker.ts';
import { type FolderInodes, inodesIn, isMountAway, statIfAt } from '../scan/locate.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import { tailOf } from '../../../core/tail.ts';

export interface RecognizeOptions {
  readonly records: readonly StreamRecord[];
  readonly found: ReadonlyMap<string, FoundFile>;
  readonly tracker: Tracker;
  readonly generations: Generations;
  readonly restored: Restored;
  readonly fileSystem: FileSystem;
  readonly stableInodes: boolean;
  /** True for a path that a scan comes to, if something is there. */
  readonly isReached: (path: string) => boolean;
}

/** How many files were recognised, and how many of these no pattern leads to any more: they are not read, and their streams are kept. */
export interface Recognized {
  readonly recognized: number;
  readonly leftOut: number;
  /** How many are on file systems that are not there. */
  readonly away: number;
}

/** Hands every recognised file to the tracker; the streams of those that are not found are retired. */
export async function recognizeFiles(options: RecognizeOptions): Promise<Recognized> {
  const { records, found, tracker, generations, restored, fileSystem, stableInodes, isReached } = options;
  const byInode = new Map([...found.values()].map((file) => [inodeKey(file.stat), file]));
  const folders: FolderInodes = new Map();
  const names = new FolderNames(fileSystem);
  const detached: TrackedFile[] = [];
  let away = 0;
  const changed: [StreamRecord, FoundFile][] = [];
  // The newest first: an older generation of the same inode can only be what is left of it.
  for (const record of [...records].reverse()) {
    const file = locate(record);
    const isRecognized = file !== undefined && !generations.holdings.in(file.stat) && isKnown(record, file);
    const isExpected = !file && isAway(record);
    if ((isRecognized || isExpected) && !isReached(record.path) && !(file && isReached(file.path))) {
      restored.leaveOut(record, file);
      continue;
    }
    if (isRecognized) restored.adopt(record, file.path, file.stat);
    else if (isExpected) {
      restored.expect(record);
      away += 1;
    } else detached.push(restored.remember(record));
    if (file) changed.push([record, file]);
  }
  const leftOut = generations.holdings.leftOut.size;
  const recognized = records.length - detached.length - leftOut - away;
  generations.copies.seek(detached, names);
  while (generations.copies.decide()) await setImmediate();
  // Cut off, or made under the inode of what is gone, and rotated away: it is read if no stream has it by now.
  for (const [record, file] of changed) tracker.takeRotated(file, record.path);
  // Streams are made later than their files, and others may have been made in between.
  const lastBorn = new Map<string, number>();
  for (const file of generations.holdings.files) {
    const { firstPath } = file.stream;
    if (isRotated(file) && !isDetached(file) && file.bornMs > 0)
      lastBorn.set(firstPath, Math.max(file.bornMs, lastBorn.get(firstPath) ?? 0));
  }
  const made = new Map(records.filter(({ path }) => isReached(path)).map((record) => [record.path, record.createdMs]));
  for (const [path, createdMs] of made) tracker.expectAt(path, Math.min(createdMs, lastBorn.get(path) ?? createdMs), names);
  // What is younger than its stream is a copy: its original was there before, and what was written to that since may have been rotated away.
  for (const file of [...generations.holdings.files]) {
    const { firstPath, createdMs } = file.stream;
    if (isRotated(file) && file.bornMs > createdMs - BIRTH_SLACK_MS) tracker.findWritten(firstPath, file.bornMs, names);
  }
  return { recognized, leftOut, away };

  function isAway({ identity, path }: StreamRecord): boolean {
    if (!identity || generations.holdings.in(identity)) return false;
    return isMountAway(fileSystem, identity.path ?? path, identity.device);
  }

  function locate(record: StreamRecord): FoundFile | undefined {
    if (!record.identity) return undefined;
    const { device, inode, path: lastPath = record.path } = record.identity;
    const key = inodeKey({ device, inode });
    const matched = byInode.get(key);
    // Without a first byte to know it by, it is any file that has its inode by now.
    if (record.identity.headLength === 0 && matched?.path !== lastPath) return undefined;
    if (matched) return matched;
    for (const folder of new Set([parentOf(lastPath), parentOf(record.path)])) {
      const path = inodesIn(fileSystem, folder, folders).get(key);
      const stat = path === undefined ? undefined : fileSystem.stat(path);
      if (path !== undefined && stat) return { path, stat };
    }
    // Its folder cannot be listed now, as it seems.
    const last = statIfAt(fileSystem, lastPath, lastSightOf(record).stat);
    if (last) return { path: lastPath, stat: last };
    // A device may have another number after a reboot; the inode must be the same, where inodes are.
    const there = found.get(record.path);
    return String(there?.stat.inode) === inode || !stableInodes ? there : undefined;
  }

  function isKnown(record: StreamRecord, file: FoundFile): boolean {
    // Nothing but its beginning is known, which others may have: one that was made later is another one, or a copy.
    if (record.resumeAt === 0 && file.stat.bornMs > record.createdMs + 1) return false;
    const known = { identity: record.identity!, startAt: record.startAt, offset: record.resumeAt, tail: record.tail };
    try {
      return withOpen(fileSystem, file.path, (fd) => {
        const { size, ...stat } = fileSystem.fstat(fd);
        // Without a fingerprint only the inode tells.
        if (known.identity.headLength === 0 && inodeKey(known.identity) !== inodeKey(stat)) return false;
        return compare(fileSystem, fd, size, known) === 'same';
      });
    } catch (error) {
      // Unreadable for now: taken by its inode. The first turn compares the content before it reads.
      return codeOf(error) !== 'ENOENT';
    }
  }
}

/**
 * `start_at: end`: sets the position of a file that was there before the source first ran to the beginning of its last line.
 * `charset` is the encoding of a file without a byte order mark.
 */
export function positionAtEnd(file: TrackedFile, stat: FileStat, fileSystem: FileSystem, maxEventBytes: number, charset: Encoding): void {
  const fd = file.disk.fd!;
  const encoding = findBom(readHead(fileSystem, fd, LONGEST_BOM_BYTES))?.encoding ?? charset;
  const start = findLineStart(fileSystem, fd, stat.size, maxEventBytes, encoding);
  file.stream.beginAt(start, tailOf(readBefore(fileSystem, fd, start, TAIL_BYTES)));
}

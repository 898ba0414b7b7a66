/**
 * At start-up, before anything is read: which of the files that are there are the ones of the checkpoints, under which name
 * whatever. A file counts as known when it has the inode and still the content; else it is new and read from 0, which can
 * send events twice but never loses one.
 */
import { codeOf } from '../../core/errors.ts';
import type { StreamRecord } from '../../core/stream.ts';
import { type FileStat, type FileSystem, inodeKey } from './file-system.ts';
import { type FoundFile, parentOf } from './finder.ts';
import { compareFile, hashHead, tailOf } from './identity.ts';
import type { Notices } from './notices.ts';
import { findLineStart, readBefore, sampleFile } from './sample.ts';
import type { TrackedFile } from './tracked-file.ts';
import type { Tracker } from './tracker.ts';
import { type FolderInodes, inodesIn } from './whereabouts.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../core/limits.ts';

export interface RecognizeOptions {
  readonly records: readonly StreamRecord[];
  readonly found: ReadonlyMap<string, FoundFile>;
  readonly tracker: Tracker;
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
}

/** Hands every recognised file to the tracker; the streams of the others are retired. Returns how many were recognised. */
export function recognizeFiles({ records, found, tracker, fileSystem, notices }: RecognizeOptions): number {
  const byInode = new Map([...found.values()].map((file) => [inodeKey(file.stat), file]));
  const folders: FolderInodes = new Map();
  let recognized = 0;
  // The newest first: an older generation of the same inode can only be what is left of it.
  for (const record of [...records].reverse()) {
    const file = locate(record);
    if (file && !tracker.has(file.stat) && isKnown(record, file)) {
      tracker.adopt(record, file.path, file.stat, found.has(file.path));
      recognized += 1;
      continue;
    }
    tracker.retire(record.id);
    notices.event(
      'info',
      { file: record.path, offset: record.resumeAt, path: file?.path },
      'file of a checkpoint is gone or has other content now',
    );
  }
  return recognized;

  function locate(record: StreamRecord): FoundFile | undefined {
    if (!record.identity) return undefined;
    const key = inodeKey({ device: record.identity.device, inode: record.identity.inode });
    const matched = byInode.get(key);
    if (matched) return matched;
    const path = inodesIn(fileSystem, parentOf(record.path), folders).get(key);
    const stat = path === undefined ? undefined : fileSystem.stat(path);
    if (path !== undefined && stat) return { path, stat };
    // A device may have another number after a reboot; the inode must be the same.
    const there = found.get(record.path);
    return String(there?.stat.inode) === record.identity.inode ? there : undefined;
  }

  function isKnown(record: StreamRecord, file: FoundFile): boolean {
    const known = { identity: record.identity!, offset: record.resumeAt, tail: record.tail };
    let fd: number | undefined;
    try {
      fd = fileSystem.open(file.path);
      return compareFile(known, sampleFile(fileSystem, fd, fileSystem.fstat(fd), known)) !== 'different';
    } catch (error) {
      // Unreadable for now: taken by its inode. The first turn compares the content before it reads.
      return codeOf(error) !== 'ENOENT';
    } finally {
      if (fd !== undefined) fileSystem.close(fd);
    }
  }
}

/** `start_at: end`: sets the position of a file that was there before the source first ran to the beginning of its last line. */
export function positionAtEnd(file: TrackedFile, stat: FileStat, fileSystem: FileSystem, fd: number, maxEventBytes: number): void {
  const start = findLineStart(fileSystem, fd, stat.size, maxEventBytes);
  file.offset = file.readTo = start;
  file.tail = tailOf(readBefore(fileSystem, fd, start, TAIL_BYTES));
  const head = Buffer.alloc(Math.min(HEAD_BYTES, stat.size));
  file.identity = { ...file.identity, ...hashHead(head.subarray(0, fileSystem.peek(fd, head, 0))) };
}

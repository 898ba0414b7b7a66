/**
 * The files that an earlier process read, by its records: where each is now, and what `decide` must know of it. Only looks.
 */
import { codeOf } from '../../../core/errors.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import { compare, ContentSum } from '../known/content.ts';
import { findKept } from '../known/kept-content.ts';
import type { SavedStream } from '../known/stream.ts';
import { tailBefore } from '../known/nul-runs.ts';
import {
  type FileSystem,
  inodeKey,
  isSameFile,
  NO_FILE,
  statIfAt,
  withOpen,
  withOpenIfReadable,
} from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { type FolderInodes, isMountAway, locate } from '../scan/locate.ts';
import type { FirstPlace } from '../scan/rotated-names.ts';
import { decideFile, type SavedFile, type SavedObservation } from '../decide/decide.ts';
import type { FileFacts } from '../decide/table.ts';

export interface SavedFilesOptions {
  readonly fileSystem: FileSystem;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
  /** What the globs lead to, by path. */
  readonly found: ReadonlyMap<string, FoundFile>;
}

export class SavedFiles {
  readonly #options: SavedFilesOptions;
  readonly #byInode: ReadonlyMap<string, FoundFile>;
  readonly #folders: FolderInodes = new Map();

  constructor(options: SavedFilesOptions) {
    this.#options = options;
    this.#byInode = new Map([...options.found.values()].map((file) => [inodeKey(file.stat), file]));
  }

  observe(record: StreamRecord, isReached: (path: string) => boolean): SavedObservation {
    const found = this.locate(record);
    const has = found?.stat ?? record.identity;
    return {
      record,
      found,
      inode: has && inodeKey(has),
      facts: this.factsOf(record, found),
      isReached: isReached(record.path) || (found !== undefined && isReached(found.path)),
    };
  }

  /** `there`: where `locate` found the file. */
  factsOf(record: StreamRecord, there: FoundFile | undefined): FileFacts {
    const { identity, path } = record;
    const lastRealPath = identity?.path ?? identity?.realPath ?? path;
    return {
      path: there?.path === (identity?.path ?? path) ? 'itself' : 'something else',
      descriptor: 'closed',
      isElsewhere: there !== undefined,
      content: there === undefined ? 'unknown' : this.#compare(record, there),
      isMountAway:
        !there && identity !== undefined && isMountAway(this.#options.fileSystem, lastRealPath, identity.device),
    };
  }

  /** Where the record's file is now, if it is: by its inode, or where that may have changed, its path. */
  locate(record: StreamRecord): FoundFile | undefined {
    const { fileSystem, stableInodes, found } = this.#options;
    if (!record.identity) return undefined;
    const last = lastLocationOf(record);
    const own = found.get(last.path);
    const matched = own && isSameFile(own.stat, last.stat) ? own : this.#byInode.get(inodeKey(record.identity));
    // Without a fingerprint it is whatever has its inode by now.
    if (record.identity.headLength === 0 && matched?.path !== last.path) return undefined;
    if (matched) return matched;
    const paths = [last.path, record.path, record.identity.realPath, fileSystem.realPath(record.path)];
    const path = locate(fileSystem, last.stat, paths, this.#folders);
    const stat = path === undefined ? undefined : statIfAt(fileSystem, path, last.stat);
    if (stat) return { path: path!, stat };
    // A device may have another number after a reboot; the inode must be the same, where inodes are.
    const there = found.get(record.path);
    return String(there?.stat.inode) === record.identity.inode || !stableInodes ? there : undefined;
  }

  /**
   * Its file may be a copy that was made before the last read of it, and was read whole. Only a file that is elsewhere than at first, with
   * a size that was seen and is less than the bytes read.
   */
  shorten(record: SavedStream): SavedStream {
    const { seenSize: size = Infinity, resumeAt, startAt, contentPoints = [] } = record;
    const mayBeCopy = record.identity?.path !== undefined && size < resumeAt && size > startAt;
    const found = mayBeCopy ? this.locate(record) : undefined;
    if (found?.stat.size !== size) return record;
    const { fileSystem } = this.#options;
    const tail = withOpenIfReadable(fileSystem, found.path, (fd) => tailBefore(fileSystem, fd, size));
    const contentSum = contentPoints.find(({ at }) => at === size)?.sum;
    const points = contentPoints.filter(({ at }) => at < size);
    return tail ? { ...record, resumeAt: size, acceptedTo: resumeAt, tail, contentSum, contentPoints: points } : record;
  }

  #compare(record: StreamRecord, { path, stat }: FoundFile): FileFacts['content'] {
    const { fileSystem } = this.#options;
    // Only its beginning is known, which others may share: a file created later is another one, or a copy.
    if (record.resumeAt === 0 && stat.bornMs > record.createdMs + 1) return 'different';
    const known = { identity: record.identity!, startAt: record.startAt, offset: record.resumeAt, tail: record.tail };
    try {
      return withOpen(fileSystem, path, (fd) => {
        const { size, ...now } = fileSystem.fstat(fd);
        // Without a fingerprint only the inode tells.
        if (known.identity.headLength === 0 && inodeKey(known.identity) !== inodeKey(now)) return 'different';
        if (compare(fileSystem, fd, size, known) === 'same') return 'same';
        // Changed in place while no agent ran: its first turn finds where to go on.
        const sum = new ContentSum(record.resumeAt, record.contentSum, record.contentPoints);
        const kept = findKept(fileSystem, fd, size, { ...known, sum }, record.seenSize ?? record.resumeAt);
        // A shorter one may be a copy that was made before the last read.
        return kept?.kind === 'go on' && (kept.isWhole || size >= record.resumeAt) ? 'same' : 'different';
      });
    } catch (error) {
      return codeOf(error) === 'ENOENT' ? 'different' : 'unknown';
    }
  }
}

/** The record of a file that is there, and what a start makes of it. */
export function savedAt(
  { path, stat }: FoundFile,
  records: readonly StreamRecord[],
  options: SavedFilesOptions,
): SavedFile | undefined {
  const files = new SavedFiles(options);
  for (const record of records.toReversed()) {
    const { identity } = record;
    if (identity?.inode !== String(stat.inode) && (options.stableInodes || record.path !== path)) continue;
    const found = files.locate(record);
    if (!found || !isSameFile(found.stat, stat)) continue;
    const kind = decideFile(files.factsOf(record, found));
    if (kind !== 'replaced') return { kind, record, found };
  }
  return undefined;
}

/** Where the file of a record was first. */
export function firstPlaceOf({ path, identity }: StreamRecord): FirstPlace {
  return { firstPath: path, realPath: identity?.realPath ?? path };
}

/** Where the file of a record was last; it has an identity. */
export function lastLocationOf({ path, identity, resumeAt }: StreamRecord): FoundFile {
  const { device, inode, path: lastPath = path } = identity!;
  return { path: lastPath, stat: { ...NO_FILE, device: toNumber(device), inode: toNumber(inode), size: resumeAt } };
}

/** As a stat gives it: a number where that is exact. */
function toNumber(digits: string): number | bigint {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

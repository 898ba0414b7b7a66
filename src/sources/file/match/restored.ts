/** Takes up what earlier processes read, by its records. */
import type { EventShape } from '../../../core/block.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import { newTrackedFile, noteSize, type TrackedFile } from '../known/tracked-file.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { Generations } from './generations.ts';

/** A record without a file. */
const NO_FILE: FileStat = { kind: 'file', device: 0, inode: 0, size: 0, mtimeMs: 0, bornMs: 0, links: 0 };

export class Restored {
  readonly #generations: Generations;
  readonly #shapeOf: (path: string) => EventShape;

  constructor(generations: Generations, shapeOf: (path: string) => EventShape) {
    this.#generations = generations;
    this.#shapeOf = shapeOf;
  }

  /** Takes up a generation that is known from before, and whose file was not found or holds something else now. */
  remember(record: StreamRecord): TrackedFile {
    const file = this.#fromRecord(record, { ...NO_FILE, size: record.resumeAt });
    file.detachedAs = 'unfound';
    file.disk.place = 'detached';
    file.disk.leftAtMs = this.#generations.now;
    if (record.identity && record.resumeAt > 0) this.#generations.readBefore.set(inodeKey(record.identity), record.resumeAt);
    this.#generations.add(file);
    return file;
  }

  /** Takes up a file that is known from before. Its content has been compared. */
  adopt(record: StreamRecord, path: string, stat: FileStat): TrackedFile {
    const file = this.#fromRecord(record, stat);
    file.disk.path = path;
    file.disk.place = this.#generations.placeOf(path);
    this.#generations.add(file);
    const { device, inode, path: lastPath = record.path } = file.stream.identity;
    if (device === String(stat.device) && inode === String(stat.inode) && lastPath === path) return file;
    file.stream.identity = { ...file.stream.identity, device: String(stat.device), inode: String(stat.inode) };
    this.#generations.naming.identify(file);
    return file;
  }

  /** Takes up a file that is known from before, and whose file system is not there: it may come back with that. */
  expect(record: StreamRecord): void {
    const { path, stat } = lastSightOf(record);
    const file = this.#fromRecord(record, stat);
    Object.assign(file.disk, { path, place: 'away', leftAtMs: this.#generations.now });
    this.#generations.add(file);
  }

  /** Takes up a file that is known from before and that no pattern leads to now: only what was read of it is read again. */
  leaveOut(record: StreamRecord, { path, stat }: FoundFile = lastSightOf(record)): void {
    const file = this.#fromRecord(record, stat);
    file.disk.path = path;
    this.#generations.holdings.leftOut.add(file);
  }

  #fromRecord(record: StreamRecord, stat: FileStat): TrackedFile {
    const file = newTrackedFile(record.path, stat, this.#shapeOf(record.path), this.#generations.now);
    file.stream.resume(record);
    file.firstScan = -1;
    file.nextBornMs = record.createdMs;
    noteSize(file, Math.max(record.resumeAt, record.seenSize ?? 0));
    return file;
  }
}

/** Where the file of a record was last; it has an identity. */
export function lastSightOf({ path, identity, resumeAt }: StreamRecord): FoundFile {
  const { device, inode, path: lastPath = path } = identity!;
  return { path: lastPath, stat: { ...NO_FILE, device: toNumber(device), inode: toNumber(inode), size: resumeAt } };
}

/** As a stat gives it: a number where that is exact. */
function toNumber(digits: string): number | bigint {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

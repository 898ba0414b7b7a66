/** Takes up what earlier processes read, as `match` says of each record: what `Apply` is to files that are followed. */
import type { EventShape } from '../../../core/block.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import type { Change } from '../known/change.ts';
import { newTrackedFile, noteSize, type TrackedFile } from '../known/tracked-file.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { Generations } from './generations.ts';
import { lastSightOf, NO_FILE } from './saved-files.ts';

export interface RestoredOptions {
  readonly generations: Generations;
  readonly shapeOf: (path: string) => EventShape;
  /** True for a path that a scan comes to, if something is there. */
  readonly isReached: (path: string) => boolean;
}

export class Restored {
  readonly #options: RestoredOptions;
  /** How many files are recognised, … */
  recognized = 0;
  /** … how many of file systems that are not there, … */
  away = 0;
  /** … how many are left out, as no pattern leads to them any more; … */
  leftOut = 0;
  /** … and those whose files were not found, or hold something else now. */
  readonly detached: TrackedFile[] = [];

  constructor(options: RestoredOptions) {
    this.#options = options;
  }

  /** `there`: where the record's file was located. Nothing is given up while its content cannot be compared: the first turn does so. */
  apply(record: StreamRecord, change: Change, there: FoundFile | undefined): void {
    const { isReached } = this.#options;
    if (change === 'gone' || change === 'replaced') this.detached.push(this.#detach(record));
    else if (!isReached(record.path) && !(there && isReached(there.path))) this.#leaveOut(record, there);
    else if (there) this.#adopt(record, change, there);
    else this.#expect(record);
  }

  #detach(record: StreamRecord): TrackedFile {
    const { generations } = this.#options;
    const file = this.#fromRecord(record, { ...NO_FILE, size: record.resumeAt });
    Object.assign(file.disk, { place: 'detached', lastChange: 'gone', leftAtMs: generations.now });
    if (record.identity && record.resumeAt > 0) generations.readBefore.set(inodeKey(record.identity), record.resumeAt);
    generations.add(file);
    return file;
  }

  #adopt(record: StreamRecord, lastChange: Change, { path, stat }: FoundFile): void {
    const { generations } = this.#options;
    this.recognized += 1;
    const file = this.#fromRecord(record, stat);
    Object.assign(file.disk, { path, place: generations.placeOf(path), lastChange });
    generations.add(file);
    const { device, inode, path: lastPath = record.path } = file.stream.identity;
    if (device === String(stat.device) && inode === String(stat.inode) && lastPath === path) return;
    file.stream.identity = { ...file.stream.identity, device: String(stat.device), inode: String(stat.inode) };
    generations.naming.identify(file);
  }

  /** The file system of the file is not there: the file may come back with it. */
  #expect(record: StreamRecord): void {
    const { generations } = this.#options;
    this.away += 1;
    const { path, stat } = lastSightOf(record);
    const file = this.#fromRecord(record, stat);
    Object.assign(file.disk, { path, place: 'away', lastChange: 'away', leftAtMs: generations.now });
    generations.add(file);
  }

  /** Of a file that no pattern leads to now only the batches under way are read again. */
  #leaveOut(record: StreamRecord, { path, stat }: FoundFile = lastSightOf(record)): void {
    this.leftOut += 1;
    const file = this.#fromRecord(record, stat);
    file.disk.path = path;
    this.#options.generations.holdings.leftOut.add(file);
  }

  #fromRecord(record: StreamRecord, stat: FileStat): TrackedFile {
    const { generations, shapeOf } = this.#options;
    const file = newTrackedFile(record.path, stat, shapeOf(record.path), generations.now, -1);
    file.stream.resume(record);
    file.nextBornMs = record.createdMs;
    noteSize(file, Math.max(record.resumeAt, record.seenSize ?? 0));
    return file;
  }
}

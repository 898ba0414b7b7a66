/**
 * Takes up the streams of earlier processes before a start reads anything: lets `match` decide how each record's file changed, and acts
 * on that. A file that is not recognised is read from 0: rather twice than never.
 */
import { setImmediate } from 'node:timers/promises';
import type { EventShape } from '../../../core/block.ts';
import type { StreamRecord } from '../../../core/stream.ts';
import type { KnownChange } from '../known/change.ts';
import { isDetached, isRotated, newTrackedFile, noteSize, type TrackedFile } from '../known/tracked-file.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import { type FileStat, inodeKey, NO_FILE } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import type { Generations } from './generations.ts';
import { lastSightOf, SavedFiles, type SavedFilesOptions } from './saved-files.ts';
import type { Tracker } from './tracker.ts';

export interface RestoredOptions extends SavedFilesOptions {
  readonly tracker: Tracker;
  readonly generations: Generations;
  readonly shapeOf: (path: string) => EventShape;
  /** True for a path that a scan comes to, if something is there. */
  readonly isReached: (path: string) => boolean;
}

export class Restored {
  readonly #options: RestoredOptions;
  /** Streams whose files were not found, or hold something else now. */
  readonly #detached: TrackedFile[] = [];
  /** How many files are recognised, … */
  recognized = 0;
  /** … how many of file systems that are not there, … */
  away = 0;
  /** … and how many are left out, as no pattern leads to them any more. */
  leftOut = 0;

  constructor(options: RestoredOptions) {
    this.#options = options;
  }

  /** Takes up every record, and every file that rotation made of a record's file since. */
  async takeUp(records: readonly StreamRecord[]): Promise<void> {
    const { tracker, generations, fileSystem, isReached } = this.#options;
    const { copies, holdings } = generations;
    const saved = new SavedFiles(this.#options);
    const names = new FolderNames(fileSystem);
    const replaced: [StreamRecord, FoundFile][] = [];
    // The newest first: an older generation of the same inode can only be what is left of it.
    for (const record of records.toReversed()) {
      const there = saved.locate(record);
      const change = saved.match(record, there, (file) => holdings.in(file) !== undefined);
      this.#apply(record, change, there);
      if (there && change === 'replaced') replaced.push([record, there]);
    }
    copies.seek(this.#detached, names);
    while (copies.decide()) await setImmediate();
    // Truncated, or created under a free inode, and rotated away: it is read unless a stream has it by now.
    for (const [record, file] of replaced) tracker.apply.takeRotated(file, record.path);
    // Streams are made later than their files, and others may have been made in between.
    const lastBorn = new Map<string, number>();
    for (const file of holdings.files) {
      const { firstPath } = file.stream;
      if (isRotated(file) && !isDetached(file) && file.bornMs > 0)
        lastBorn.set(firstPath, Math.max(file.bornMs, lastBorn.get(firstPath) ?? 0));
    }
    const made = new Map(records.filter(({ path }) => isReached(path)).map((record) => [record.path, record.createdMs]));
    for (const [path, createdMs] of made) tracker.expectAt(path, Math.min(createdMs, lastBorn.get(path) ?? createdMs), names);
    // A file that is younger than its stream is a copy: what was written to its original since may have been rotated away.
    for (const file of [...holdings.files]) {
      const { firstPath, createdMs } = file.stream;
      if (isRotated(file) && file.bornMs > createdMs - BIRTH_SLACK_MS)
        tracker.takeBeside(firstPath, names, ({ mtimeMs }) => mtimeMs >= file.bornMs);
    }
  }

  /** `there`: where the record's file was located. Nothing is given up while its content cannot be compared: the first turn does so. */
  #apply(record: StreamRecord, change: KnownChange, there: FoundFile | undefined): void {
    const { isReached } = this.#options;
    if (change === 'gone' || change === 'replaced') this.#detached.push(this.#detach(record));
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

  #adopt(record: StreamRecord, lastChange: KnownChange, { path, stat }: FoundFile): void {
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

  /** No pattern matches the file any more: it is not read on, but its unsettled batches are still rebuilt from it. */
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

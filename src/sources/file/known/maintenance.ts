/** After a scan: closes idle files, has final unfinished lines sent, forgets files that are gone. */
import type { Clock } from '../../../core/time/clock.ts';
import { FORGET_AFTER_MS, KEEP_OPEN_MS, LOOK_EVERY_MS, MAX_AWAY_MS } from '../limits.ts';
import { countLost, type Losing, type Rescue } from '../../../core/source.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import type { OpenFiles } from './open-files.ts';
import { basesOf, extendsName, isNamedAfter } from './copy-candidate.ts';
import type { KnownFiles } from './known-files.ts';
import { endsInNuls, isDetached, isBehind, isGone, isRotated, lagOf, type TrackedFile } from './tracked-file.ts';

export interface MaintenanceOptions extends Losing {
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly rescue: Rescue | undefined;
  /** Unread bytes of deleted files that may be held open while the disk buffer is full. */
  readonly maxDeletedBytes: number;
  /** Infinity for never. */
  readonly partialTimeoutMs: number;
  readonly groupTimeoutMs: number;
  /** Accounts for a stream that is not followed any more, as its content was not found. */
  onUnfound(file: TrackedFile): void;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  /** Streams without a file, and since when (monotonic). */
  readonly #expired = new Map<string, number>();
  /** By the path that a copy's name extends: how much was seen of a stream whose copy was not found, and when that was given up. */
  readonly #lostSizes = new Map<string, { readonly size: number; readonly atMs: number }>();

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  keep(file: TrackedFile): void {
    if (file.stream.id !== undefined && file.sureSize > 0)
      this.#options.streams.see(file.stream.id, file.stream.textEndIn(file.sureSize));
    if (isDetached(file) || this.#options.knownFiles.isUndecided(file)) return;
    if (file.disk.place === 'away' && file.disk.fd === undefined) return this.#keepAway(file);
    const { descriptors } = this.#options;
    const { failure } = file.disk;
    if (isGone(file) && failure && !file.isBusy && this.#now - failure.sinceMs >= FORGET_AFTER_MS)
      return this.#giveUp(file, failure.reason, 'deleted file cannot be read, giving it up');
    if (file.isBusy || failure || isBehind(file)) return;
    const goneMs = isGone(file) ? this.#now - file.disk.goneSinceMs : 0;
    const stillMs = this.#now - file.disk.changedAtMs;
    if (lagOf(file) > 0) return this.#sendPartial(file, stillMs);
    // The writer may put text there without a change of size or time.
    if (endsInNuls(file) && !this.#isOver(file)) return;
    if (endsInNuls(file) || (file.stream.nuls.gapEnd > 0 && this.#isOver(file))) return this.#passNuls(file, stillMs);
    // Where files come and go fast, those that are deleted and read must make room for the next ones.
    if (stillMs < (file.disk.place === 'deleted' && descriptors.isCrowded ? LOOK_EVERY_MS : KEEP_OPEN_MS)) return;
    descriptors.close(file);
    file.stream.sum.trim();
    if (isGone(file) && (file.disk.place === 'deleted' || goneMs >= FORGET_AFTER_MS)) this.#remove(file);
  }

  /** Its file system may come back. */
  #keepAway(file: TrackedFile): void {
    if (this.#now - file.disk.goneSinceMs < MAX_AWAY_MS) return;
    this.#giveUp(file, undefined, 'the file system of a file did not come back, forgetting the file');
  }

  /** Gives up the files that were deleted first where neither the disk buffer nor the budget has room for all. */
  keepBudget(): void {
    const { knownFiles, rescue, maxDeletedBytes } = this.#options;
    if (!rescue?.isFull) return;
    const held = [...knownFiles.gone]
      .filter((file) => file.disk.fd !== undefined)
      .sort((a, b) => a.disk.goneSinceMs - b.disk.goneSinceMs);
    let bytes = held.reduce((sum, file) => sum + lagOf(file), 0);
    for (const file of held) {
      if (bytes <= maxDeletedBytes) return;
      if (file.disk.isReading) continue;
      bytes -= lagOf(file);
      const reason = `max_deleted_bytes is ${maxDeletedBytes}, and the disk buffer is full`;
      this.#giveUp(file, reason, 'deleted file is given up before it was read');
    }
  }

  /** Nobody writes text in place of the NULs that a rotated or deleted file ends in. */
  #passNuls(file: TrackedFile, stillMs: number): void {
    if (stillMs < (file.disk.place === 'deleted' ? LOOK_EVERY_MS : KEEP_OPEN_MS)) return;
    file.passNulsAt = file.size;
    this.#options.knownFiles.enqueue(file);
  }

  /** Nobody finishes the line of a file that was rotated or deleted. */
  #isOver(file: TrackedFile): boolean {
    return file.disk.place !== 'matched' || isRotated(file);
  }

  /** Has an unfinished line, or lines that wait for more of their event, sent. Until then its file stays open: a delete would take it along. */
  #sendPartial(file: TrackedFile, stillMs: number): void {
    const { partialTimeoutMs, groupTimeoutMs, knownFiles } = this.#options;
    if (file.stream.hasOpenEvent && stillMs >= groupTimeoutMs) {
      file.flushEventAt = file.stream.endIn(file.size);
      knownFiles.enqueue(file);
    }
    const waitMs = file.stream.hasOpenEvent ? Math.max(partialTimeoutMs, groupTimeoutMs) : partialTimeoutMs;
    const isOver = this.#isOver(file);
    // Of a deleted file nothing may wait for long.
    const mostMs = file.disk.place === 'deleted' ? LOOK_EVERY_MS : isOver ? KEEP_OPEN_MS : Infinity;
    if (stillMs < Math.min(waitMs, mostMs)) return;
    file.flushLineAt = file.stream.endIn(file.size);
    if (isOver) file.passNulsAt = file.size;
    knownFiles.enqueue(file);
  }

  /** The stream's content is in no file, and no copy was found. */
  giveUpLost(file: TrackedFile): void {
    for (const base of basesOf(file)) this.#lostSizes.set(base, { size: file.size, atMs: this.#now });
    this.#remove(file);
    this.#options.onUnfound(file);
  }

  /** Of a file that vanished unopened: the most that was read, or counted as lost, of a truncated stream that it was a copy of by its name. */
  seenInOriginal(file: TrackedFile): number {
    const { detached, candidates } = this.#options.knownFiles;
    if (file.stream.id !== undefined || candidates.has(file)) return 0;
    const { path } = file.disk;
    const given = [...this.#lostSizes].flatMap(([base, { size, atMs }]) =>
      extendsName(path, base) && this.#now - atMs < FORGET_AFTER_MS ? size : [],
    );
    const sought = [...detached].filter((each) => isNamedAfter(path, each));
    return Math.max(
      0,
      ...given,
      ...sought.map(({ size, stream }) => Math.max(size, stream.offset + stream.offeredBytes)),
    );
  }

  /** Expires a stream without a file: it is forgotten once it is settled. */
  expire(stream: string): void {
    this.#expired.set(stream, this.#now);
  }

  forgetSettled(): void {
    const { streams } = this.#options;
    for (const [stream, sinceMs] of this.#expired) {
      if (this.#now - sinceMs < FORGET_AFTER_MS || !streams.isSettled(stream)) continue;
      this.#expired.delete(stream);
      streams.forget(stream);
    }
    for (const [base, { atMs }] of this.#lostSizes)
      if (this.#now - atMs >= FORGET_AFTER_MS) this.#lostSizes.delete(base);
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  #giveUp(file: TrackedFile, reason: string | undefined, text: string): void {
    const lostBytes = lagOf(file) - file.stream.offeredBytes;
    countLost(this.#options, file.stream, lostBytes, file.stream.offset + lagOf(file), 'given_up');
    // The next start must not count them again.
    if (file.stream.id !== undefined)
      this.#options.streams.see(file.stream.id, file.stream.offset + file.stream.offeredBytes);
    const fields = {
      path: file.disk.path,
      offset: file.stream.offset,
      seenSize: file.size,
      lostBytes,
      ...(reason === undefined ? {} : { reason }),
    };
    this.#options.notices.event(lostBytes > 0 ? 'warn' : 'info', fields, `${text}${LOWER_BOUND}`);
    this.#remove(file);
  }

  #remove(file: TrackedFile): void {
    this.#options.descriptors.close(file);
    this.#options.knownFiles.remove(file);
    if (file.stream.id !== undefined) this.expire(file.stream.id);
  }
}

/**
 * One watched folder: what its watch told of and when to look at it. While few events come, each is looked at at once. A folder that
 * is written to all the time has its watch parked and is looked at in turns: an event costs more CPU than a look. A parked watch tells
 * of names alone; where the system gives no such choice it is closed, and names are looked for.
 */
import {
  APPEND_LOOK_MS,
  FAST_GROWTH_BYTES,
  FAST_NAMES_LOOK_MS,
  HOT_EVENTS,
  HOT_LOOK_MS,
  LOOK_PAUSE_MS_PER_FILE,
  MAX_PARK_MS,
  NAMES_LOOK_MS,
  PARK_MS,
} from '../limits.ts';
import type { FolderWatch as Handle } from '../scan/watch-folder.ts';

/** `names`: at these files alone. `whole`: at all files of the folder. `entries`: whether names came or went, which the folder's own time tells. */
export type Look =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'whole' }
  | { readonly kind: 'entries' };

export class WatchedFolder {
  readonly path: string;
  /** Of the folder that is watched: another one may have its path by now. */
  readonly key: string;
  /** Undefined while nothing tells of the folder. */
  #handle: Handle | undefined;
  #isParked = true;
  readonly #names = new Set<string>();
  #isWhole = true;
  #events = 0;
  #countedSinceMs = 0;
  #eventAtMs = -Infinity;
  #armedAtMs = 0;
  /** When it was looked at: at appended bytes, at names. */
  #appendLookMs = -Infinity;
  #namesLookMs = -Infinity;
  /** No look before this: the last one took long. */
  #restsUntilMs = -Infinity;
  #parkMs = PARK_MS;
  #parkedUntilMs = 0;
  #namesEveryMs = NAMES_LOOK_MS;
  #namesMostMs = HOT_LOOK_MS;
  #grewSinceMs = 0;
  #mtimeMs = NaN;

  constructor(path: string, key: string) {
    this.path = path;
    this.key = key;
  }

  get isParked(): boolean {
    return this.#isParked;
  }

  /** When its watch told of something last (monotonic). */
  get eventAtMs(): number {
    return this.#eventAtMs;
  }

  /** True while the watch was there since `sinceMs`, and all that it told of was looked at. */
  isQuietSince(sinceMs: number): boolean {
    return !this.isParked && this.#armedAtMs < sinceMs && !this.#isWhole && this.#names.size === 0;
  }

  /** The watch is there; what happened before that is found by a look at everything. */
  arm(watch: () => Handle, nowMs: number): void {
    if (this.#handle) this.#handle.setAppends?.(true);
    else this.#handle = watch();
    this.#isParked = false;
    this.#armedAtMs = this.#countedSinceMs = nowMs;
    this.#events = 0;
    this.#isWhole = true;
  }

  close(): void {
    this.#handle?.close();
    this.#handle = undefined;
    this.#isParked = true;
  }

  /** The watch told of something. */
  tell(nowMs: number): void {
    this.#eventAtMs = nowMs;
    if (nowMs - this.#countedSinceMs >= 1000) {
      this.#countedSinceMs = nowMs;
      this.#events = 0;
    }
    this.#events += 1;
    if (this.#events >= HOT_EVENTS && !this.isParked) this.#park(nowMs);
  }

  /** One of its files is to be looked at. */
  addName(path: string): void {
    if (this.isParked) this.#isWhole = true;
    else this.#names.add(path);
  }

  /** All of it is to be looked at. */
  addWhole(): void {
    this.#isWhole = true;
  }

  /** When it is to be looked at (monotonic); Infinity while nothing was told. */
  get dueMs(): number {
    let dueMs = Infinity;
    if (this.#isWhole) dueMs = this.#namesLookMs + NAMES_LOOK_MS;
    if (this.#names.size > 0) dueMs = Math.min(dueMs, this.#appendLookMs + APPEND_LOOK_MS);
    if (this.isParked) dueMs = Math.min(dueMs, this.#nextHotMs);
    if (this.#handle === undefined) dueMs = Math.min(dueMs, this.#namesLookMs + this.#namesEveryMs);
    return Math.max(dueMs, this.#restsUntilMs);
  }

  /** True when the watch should be armed again. */
  wantsWatch(nowMs: number): boolean {
    return this.isParked && nowMs >= this.#parkedUntilMs;
  }

  /** What to look at, now that it is due. */
  take(nowMs: number): Look {
    if (this.#isWhole || (this.isParked && nowMs >= this.#nextHotMs)) {
      this.#isWhole = false;
      this.#names.clear();
      this.#namesLookMs = this.#appendLookMs = nowMs;
      return { kind: 'whole' };
    }
    if (this.isParked) {
      this.#namesLookMs = nowMs;
      return { kind: 'entries' };
    }
    const names = [...this.#names];
    this.#names.clear();
    this.#appendLookMs = nowMs;
    return { kind: 'names', names };
  }

  /** A look at all of it found so many files, which grew by so many bytes. The folder's own time was `mtimeMs` just before. */
  looked(nowMs: number, mtimeMs: number, files: number, grownBytes: number): void {
    this.#mtimeMs = mtimeMs;
    this.#restsUntilMs = nowMs + files * LOOK_PAUSE_MS_PER_FILE;
    const elapsedMs = Math.max(NAMES_LOOK_MS, nowMs - this.#grewSinceMs);
    this.#grewSinceMs = nowMs;
    // A log that fills fast is rotated fast.
    this.#namesMostMs = (grownBytes * 1000) / elapsedMs >= FAST_GROWTH_BYTES ? FAST_NAMES_LOOK_MS : HOT_LOOK_MS;
  }

  /** The folder's own time, as it is now. True where names came or went since a look at all of it. */
  hasChanged(mtimeMs: number): boolean {
    const isEntry = mtimeMs !== this.#mtimeMs;
    this.#namesEveryMs = isEntry ? NAMES_LOOK_MS : Math.min(this.#namesMostMs, this.#namesEveryMs * 2);
    return isEntry;
  }

  #park(nowMs: number): void {
    // As busy again as it was before its watch was parked last.
    this.#parkMs = nowMs - this.#armedAtMs < PARK_MS ? Math.min(MAX_PARK_MS, this.#parkMs * 2) : PARK_MS;
    this.#parkedUntilMs = nowMs + this.#parkMs;
    this.#namesEveryMs = NAMES_LOOK_MS;
    // Nobody tells of appends any more.
    this.#names.clear();
    this.#isWhole = true;
    this.#isParked = true;
    if (this.#handle?.setAppends) this.#handle.setAppends(false);
    else this.close();
  }

  /** All busy folders are looked at together: each waking of the process costs as much as some looks. */
  get #nextHotMs(): number {
    return (Math.floor(this.#appendLookMs / HOT_LOOK_MS) + 1) * HOT_LOOK_MS;
  }
}

/**
 * One watched folder: what its watch reported, and when to check it. While events are few, each is checked at once. A folder that
 * is written to all the time has its watch parked and is checked in turns: an event costs more CPU than a check. A parked watch reports
 * names alone; where the system has no such mode, the watch is closed and the folder polled.
 */
import {
  APPEND_CHECK_MS,
  FAST_GROWTH_BYTES,
  FAST_NAMES_CHECK_MS,
  HOT_EVENTS,
  HOT_CHECK_MS,
  CHECK_PAUSE_MS_PER_FILE,
  MAX_PARK_MS,
  NAMES_CHECK_MS,
  PARK_MS,
} from '../limits.ts';
import type { FolderWatch as Handle } from '../scan/watch-folder.ts';

/** `names`: check these files. `whole`: check every file of the folder. `entries`: check the folder's own time for names that came or went. */
export type Check =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'whole' }
  | { readonly kind: 'entries' };

export class WatchedFolder {
  readonly path: string;
  /** Of the watched folder: another one may have its path by now. */
  readonly key: string;
  /** Undefined while the folder is not watched. */
  #handle: Handle | undefined;
  #isParked = true;
  readonly #names = new Set<string>();
  #isWhole = true;
  /** Events, and since when they are counted: a second at most. */
  readonly #recent = { events: 0, sinceMs: 0 };
  #eventAtMs = -Infinity;
  #armedAtMs = 0;
  /** When it was last checked for appended bytes, and for names. */
  #appendCheckMs = -Infinity;
  #namesCheckMs = -Infinity;
  /** No check before this: the last one took long. */
  #restsUntilMs = -Infinity;
  #parkMs = PARK_MS;
  #parkedUntilMs = 0;
  #namesEveryMs = NAMES_CHECK_MS;
  #namesMostMs = HOT_CHECK_MS;
  #grewSinceMs = 0;
  #mtimeMs = NaN;

  constructor(path: string, key: string) {
    this.path = path;
    this.key = key;
  }

  get isParked(): boolean {
    return this.#isParked;
  }

  /** When its watch last reported a change (monotonic). */
  get eventAtMs(): number {
    return this.#eventAtMs;
  }

  /** True when the watch was there since `sinceMs` and all it reported was checked. */
  isQuietSince(sinceMs: number): boolean {
    return !this.isParked && this.#armedAtMs < sinceMs && !this.#isWhole && this.#names.size === 0;
  }

  /** The watch is there; a check of the whole folder finds what happened before. */
  arm(watch: () => Handle, nowMs: number): void {
    if (this.#handle) this.#handle.setAppends?.(true);
    else this.#handle = watch();
    this.#isParked = false;
    this.#armedAtMs = this.#recent.sinceMs = nowMs;
    this.#recent.events = 0;
    this.#isWhole = true;
  }

  close(): void {
    this.#handle?.close();
    this.#handle = undefined;
    this.#isParked = true;
  }

  /** The watch reported a change. */
  tell(nowMs: number): void {
    this.#eventAtMs = nowMs;
    if (nowMs - this.#recent.sinceMs >= 1000) {
      this.#recent.sinceMs = nowMs;
      this.#recent.events = 0;
    }
    this.#recent.events += 1;
    if (this.#recent.events >= HOT_EVENTS && !this.isParked) this.#park(nowMs);
  }

  /** Check one of its files. */
  addName(path: string): void {
    if (this.isParked) this.#isWhole = true;
    else this.#names.add(path);
  }

  /** Check all of it. */
  addWhole(): void {
    this.#isWhole = true;
  }

  /** When to check it next (monotonic); Infinity while nothing was reported. */
  get dueMs(): number {
    let dueMs = Infinity;
    if (this.#isWhole) dueMs = this.#namesCheckMs + NAMES_CHECK_MS;
    if (this.#names.size > 0) dueMs = Math.min(dueMs, this.#appendCheckMs + APPEND_CHECK_MS);
    if (this.isParked) dueMs = Math.min(dueMs, this.#nextHotMs);
    if (this.#handle === undefined) dueMs = Math.min(dueMs, this.#namesCheckMs + this.#namesEveryMs);
    return Math.max(dueMs, this.#restsUntilMs);
  }

  /** True when the watch should be armed again. */
  wantsWatch(nowMs: number): boolean {
    return this.isParked && nowMs >= this.#parkedUntilMs;
  }

  /** What to check, now that it is due. */
  take(nowMs: number): Check {
    if (this.#isWhole || (this.isParked && nowMs >= this.#nextHotMs)) {
      this.#isWhole = false;
      this.#names.clear();
      this.#namesCheckMs = this.#appendCheckMs = nowMs;
      return { kind: 'whole' };
    }
    if (this.isParked) {
      this.#namesCheckMs = nowMs;
      return { kind: 'entries' };
    }
    const names = [...this.#names];
    this.#names.clear();
    this.#appendCheckMs = nowMs;
    return { kind: 'names', names };
  }

  /** A check of all of it found this many files, which grew by this many bytes. The folder's own time was `mtimeMs` just before. */
  checked(nowMs: number, mtimeMs: number, files: number, grownBytes: number): void {
    this.#mtimeMs = mtimeMs;
    this.#restsUntilMs = nowMs + files * CHECK_PAUSE_MS_PER_FILE;
    const elapsedMs = Math.max(NAMES_CHECK_MS, nowMs - this.#grewSinceMs);
    this.#grewSinceMs = nowMs;
    // A log that fills fast is rotated fast.
    this.#namesMostMs = (grownBytes * 1000) / elapsedMs >= FAST_GROWTH_BYTES ? FAST_NAMES_CHECK_MS : HOT_CHECK_MS;
  }

  /** Takes the folder's current time. True when names came or went since the last check of all of it. */
  hasChanged(mtimeMs: number): boolean {
    const isEntry = mtimeMs !== this.#mtimeMs;
    this.#namesEveryMs = isEntry ? NAMES_CHECK_MS : Math.min(this.#namesMostMs, this.#namesEveryMs * 2);
    return isEntry;
  }

  #park(nowMs: number): void {
    // As busy again as it was before its watch was parked last.
    this.#parkMs = nowMs - this.#armedAtMs < PARK_MS ? Math.min(MAX_PARK_MS, this.#parkMs * 2) : PARK_MS;
    this.#parkedUntilMs = nowMs + this.#parkMs;
    this.#namesEveryMs = NAMES_CHECK_MS;
    // Nothing reports appends any more.
    this.#names.clear();
    this.#isWhole = true;
    this.#isParked = true;
    if (this.#handle?.setAppends) this.#handle.setAppends(false);
    else this.close();
  }

  /** Check all busy folders together: waking the process costs as much as several checks. */
  get #nextHotMs(): number {
    return (Math.floor(this.#appendCheckMs / HOT_CHECK_MS) + 1) * HOT_CHECK_MS;
  }
}

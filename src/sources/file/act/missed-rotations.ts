/** Rotations between two scans: looks for files that had a path meanwhile and were rotated away, and counts those that were also deleted. */
import type { TrackedFile } from '../known/tracked-file.ts';
import { BIRTH_SLACK_MS, FORGET_AFTER_MS } from '../limits.ts';
import type { MaintenanceOptions } from '../known/maintenance.ts';
import type { FileStat } from '../scan/file-system.ts';
import { type FirstPlace, type FolderNames, isRotatedName } from '../scan/rotated-names.ts';

type Options = Pick<MaintenanceOptions, 'notices' | 'stats' | 'clock'>;

/** The number that rotation appends: `a.log.2` was rotated twice. */
const NUMBER = /^\.(\d{1,4})$/;

/** A file that left a path: the one that rotation began with, its number behind that, and where it is; undefined for a deleted one. */
interface Rotation {
  readonly base: string;
  readonly number: number;
  readonly bornMs: number;
  readonly to: string | undefined;
}

export class MissedRotations {
  readonly #options: Options;
  readonly #paths = new Map<
    string,
    { readonly realPath: string; readonly nextBornMs: number; readonly untilMs: number }
  >();
  /** Since the last `logMissed`. */
  #rotations: Rotation[] = [];

  constructor(options: Options) {
    this.#options = options;
  }

  /** The file leaves its matching path. */
  note({ disk: { place, path, realPath = path }, nextBornMs }: TrackedFile): void {
    if (place !== 'matched' || nextBornMs === undefined) return;
    this.expect({ firstPath: path, realPath }, nextBornMs);
  }

  /** A file created after `nextBornMs` may have had the path since. */
  expect({ firstPath, realPath }: FirstPlace, nextBornMs: number): void {
    this.#paths.set(firstPath, { realPath, nextBornMs, untilMs: this.#options.clock.monotonic() + FORGET_AFTER_MS });
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Has each path searched, until another file is seen there. `search` returns false when it must be tried again. */
  search(search: (place: FirstPlace, nextBornMs: number) => boolean, isSeen: (path: string) => boolean): void {
    for (const [path, { realPath, nextBornMs, untilMs }] of this.#paths) {
      const isRead = search({ firstPath: path, realPath }, nextBornMs);
      if (isRead && (isSeen(path) || this.#options.clock.monotonic() >= untilMs)) this.#paths.delete(path);
    }
  }

  /** The file left its path, for another one or for none. */
  countRotation(
    { disk: { path, bornMs }, stream: { firstPath, realPath } }: TrackedFile,
    to: string | undefined,
  ): void {
    const last = to ?? (path === firstPath ? realPath : path);
    const base = last.startsWith(realPath) ? realPath : firstPath;
    const number = numberOf(base, path);
    if (path === firstPath || number > 0) this.#rotations.push({ base, number, bornMs, to });
  }

  /**
   * Counts and logs how often the paths were rotated, by the file that was rotated most often: files deleted in between were never seen.
   */
  logMissed(names: FolderNames): void {
    const { notices, stats } = this.#options;
    const most = new Map<string, number>();
    for (const { base, number, bornMs, to } of this.#rotations) {
      const rotations = to === undefined ? this.#passed(base, number, bornMs, names) : numberOf(base, to) - number;
      most.set(base, Math.max(rotations, most.get(base) ?? 0));
    }
    this.#rotations = [];
    for (const [path, rotations] of most) {
      if (rotations <= 1) continue;
      stats.missedRotations = (stats.missedRotations ?? 0) + rotations - 1;
      const text = 'file was rotated more than once between two scans; what was also deleted in between was not read';
      notices.event('warn', { path, rotations }, text);
    }
  }

  /** The fewest rotations of a file that passed all rotated names, which later files have now. */
  #passed(base: string, number: number, bornMs: number, names: FolderNames): number {
    try {
      const rotated = names.extending(base).filter(({ path }) => isRotatedName(path, base));
      if (rotated.length === 0 || !rotated.every(({ stat }) => stat.bornMs > bornMs)) return 0;
      const last = number === 0 ? rotated.length : Math.max(...rotated.map(({ path }) => numberOf(base, path)));
      return last + 1 - number;
    } catch {
      // Unknown; the finder logs folders that cannot be read.
      return 0;
    }
  }
}

/** A rotated file may have had its path after `sinceMs`, and lost it before any scan: it was created since, or is empty. */
export function mayHaveHadPath({ size, bornMs }: FileStat, sinceMs: number): boolean {
  return size === 0 || bornMs > sinceMs - BIRTH_SLACK_MS;
}

function numberOf(path: string, to: string): number {
  return to.startsWith(path) ? Number(NUMBER.exec(to.slice(path.length))?.[1] ?? 0) : 0;
}

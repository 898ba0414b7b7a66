/**
 * Rotations that nobody saw: a name that was rotated more than once between two looks. Files that were born and deleted in between
 * left nothing that could be found; that they may have been is counted and logged.
 */
import type { SourceStats } from '../../../core/source.ts';
import type { Notices } from '../scan/notices.ts';
import { type FolderNames, isRotatedName } from '../scan/rotated-names.ts';
import type { TrackedFile } from './tracked-file.ts';

export interface MissedRotationsOptions {
  readonly notices: Notices;
  readonly stats: SourceStats;
}

/** What is appended by rotation that counts: `a.log.2` was rotated twice. */
const NUMBER = /^\.(\d{1,4})$/;

/** A file that left a path: the one that rotation began with, its number behind that, and where it is; undefined for a deleted one. */
interface Left {
  readonly base: string;
  readonly number: number;
  readonly bornMs: number;
  readonly to: string | undefined;
}

export class MissedRotations {
  readonly #options: MissedRotationsOptions;
  /** Since the last `tell`. */
  #left: Left[] = [];

  constructor(options: MissedRotationsOptions) {
    this.#options = options;
  }

  /** The file left its path, for another one or for none. */
  note({ disk: { path, bornMs }, stream: { firstPath } }: TrackedFile, to: string | undefined): void {
    const number = numberOf(firstPath, path);
    if (path === firstPath || number > 0) this.#left.push({ base: firstPath, number, bornMs, to });
  }

  /** Counts what happened to the paths that were left: by the file that was rotated most often. */
  tell(names: FolderNames): void {
    const { notices, stats } = this.#options;
    const most = new Map<string, number>();
    for (const { base, number, bornMs, to } of this.#left) {
      const rotations = to === undefined ? this.#passed(base, number, bornMs, names) : numberOf(base, to) - number;
      most.set(base, Math.max(rotations, most.get(base) ?? 0));
    }
    this.#left = [];
    for (const [path, rotations] of most) {
      if (rotations <= 1) continue;
      stats.missedRotations = (stats.missedRotations ?? 0) + rotations - 1;
      const text = 'file was rotated more than once between two looks; what was also deleted in between was not read';
      notices.event('warn', { path, rotations }, text);
    }
  }

  /** How often a file was rotated at least that went through all rotated names, which have later files now. */
  #passed(base: string, number: number, bornMs: number, names: FolderNames): number {
    try {
      const rotated = names.extending(base).filter(({ path }) => isRotatedName(path, base));
      if (rotated.length === 0 || !rotated.every(({ stat }) => stat.bornMs > bornMs)) return 0;
      const last = number === 0 ? rotated.length : Math.max(...rotated.map(({ path }) => numberOf(base, path)));
      return last + 1 - number;
    } catch {
      // It cannot be told; the finder names folders that cannot be read.
      return 0;
    }
  }
}

function numberOf(path: string, to: string): number {
  return to.startsWith(path) ? Number(NUMBER.exec(to.slice(path.length))?.[1] ?? 0) : 0;
}

/**
 * Rotations that nobody saw: a name that was rotated more than once between two looks. Files that were born and deleted in between
 * left nothing that could be found; that they may have been is counted and logged.
 */
import type { SourceStats } from '../../core/source.ts';
import type { Notices } from './notices.ts';
import { type FolderNames, isRotatedName } from './siblings.ts';
import type { TrackedFile } from './tracked-file.ts';

export interface MissedRotationsOptions {
  readonly notices: Notices;
  readonly stats: SourceStats;
}

/** What is appended by rotation that counts: `a.log.2` was rotated twice. */
const NUMBER = /^\.(\d{1,4})$/;

export class MissedRotations {
  readonly #options: MissedRotationsOptions;
  /** Files that left their paths since the last `tell`, and where they are; undefined for deleted ones. */
  readonly #left = new Map<string, { readonly bornMs: number; readonly to: string | undefined }>();

  constructor(options: MissedRotationsOptions) {
    this.#options = options;
  }

  /** The file left its path, for another one or for none. */
  note({ path, inodeBornMs }: TrackedFile, to: string | undefined): void {
    this.#left.set(path, { bornMs: inodeBornMs, to });
  }

  /** Counts what happened to the paths that were left. */
  tell(names: FolderNames): void {
    const { notices, stats } = this.#options;
    for (const [path, { bornMs, to }] of this.#left) {
      const rotations = to === undefined ? this.#passed(path, bornMs, names) : numberOf(path, to);
      if (rotations <= 1) continue;
      stats.missedRotations = (stats.missedRotations ?? 0) + rotations - 1;
      const text = 'file was rotated more than once between two looks; what was also deleted in between was not read';
      notices.event('warn', { path, rotations }, text);
    }
    this.#left.clear();
  }

  /** How often a file was rotated at least that went through all rotated names, which have later files now. */
  #passed(path: string, bornMs: number, names: FolderNames): number {
    try {
      const rotated = names.extending(path).filter((each) => isRotatedName(each.path, path));
      return rotated.every(({ stat }) => stat.bornMs > bornMs) && rotated.length > 0 ? rotated.length + 1 : 0;
    } catch {
      // It cannot be told; the finder names folders that cannot be read.
      return 0;
    }
  }
}

function numberOf(path: string, to: string): number {
  return to.startsWith(path) ? Number(NUMBER.exec(to.slice(path.length))?.[1] ?? 0) : 0;
}

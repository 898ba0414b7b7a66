/** Time that is skipped in place of being waited for: files that are made after a skip, and what the clock says, are later by its length. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileStat, FileSystem } from '../../../src/sources/file/scan/file-system.ts';

export class SkippedTime {
  readonly #skips: { readonly atMs: number; readonly ms: number }[] = [];

  /** Returns when a file that is made in `folder` is younger than all that are there: file systems keep times in ticks. */
  skip(ms: number, folder: string): void {
    const probes = mkdtempSync(join(folder, '..', 'tailrace-tick-'));
    const bornMs = (): number => {
      const path = join(probes, 'probe');
      writeFileSync(path, '');
      const { birthtimeMs } = statSync(path);
      rmSync(path);
      return birthtimeMs;
    };
    // Nothing that is there is younger, however fine its times are.
    const atMs = Date.now() + 1;
    while (bornMs() <= atMs);
    rmSync(probes, { recursive: true });
    this.#skips.push({ atMs, ms });
  }

  now(): number {
    return this.#skips.reduce((sum, { ms }) => sum + ms, Date.now());
  }

  #later(ms: number): number {
    return this.#skips.reduce((sum, skip) => (ms > skip.atMs ? sum + skip.ms : sum), ms);
  }

  of(real: FileSystem): FileSystem {
    const shifted = <Stat extends FileStat | undefined>(stat: Stat): Stat =>
      stat && { ...stat, bornMs: this.#later(stat.bornMs), mtimeMs: this.#later(stat.mtimeMs) };
    return { ...real, stat: (path) => shifted(real.stat(path)), fstat: (fd) => shifted(real.fstat(fd)) };
  }
}

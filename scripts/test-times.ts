/** Reports, after a run of many files of tests, how long it took, its CPU-seconds, and the files that cost most. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file, with the programs that it started and that ended. */
    cpuSeconds?: number;
  }
}

const FEWEST_FILES = 20;
const SHOWN = 15;
const TICKS_PER_SECOND = 100;

/** CPU-seconds of this process, and of its children that ended; 0 where there is no /proc. */
export function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The second field is a name in parentheses; utime, stime, cutime and cstime are the 14th to the 17th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

export class TestTimes implements Reporter {
  #startedMs = 0;

  onTestRunStart(): void {
    this.#startedMs = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < FEWEST_FILES) return;
    const files = modules.map((module) => ({
      name: relative(process.cwd(), module.moduleId),
      seconds: module.diagnostic().duration / 1000,
      cpu: module.meta().cpuSeconds ?? 0,
    }));
    const row = (seconds: number, cpu: number, name: string): string =>
      `${seconds.toFixed(1).padStart(8)} s ${cpu.toFixed(1).padStart(8)} s of CPU  ${name}`;
    const ofAll = files.reduce((sum, { cpu }) => sum + cpu, 0);
    const most = files.toSorted((a, b) => b.cpu - a.cpu).slice(0, SHOWN);
    const lines = [
      row((performance.now() - this.#startedMs) / 1000, ofAll, `${files.length} files, the most costly:`),
      ...most.map(({ name, seconds, cpu }) => row(seconds, cpu, name)),
    ];
    console.log(`\n${lines.join('\n')}`);
  }
}

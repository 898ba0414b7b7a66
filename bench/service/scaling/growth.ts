/** One embedded service whose dataset grows: at each size the examples, disk, memory by concurrent query, and how long it takes to start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readStatusBytes } from '../../measure.ts';
import { rest, startMeasuredService } from '../process.ts';
import { askAll, describeMemory, examplesFor, measureMemory, PATIENCE, type ExampleCosts, type Memory } from './ask.ts';
import { HEAVY } from './engines.ts';
import type { Size } from './grow.ts';

export interface GrowthRow extends Size {
  readonly startSeconds: number;
  /** At rest after the start. */
  readonly idleRssBytes: number;
  readonly examples: readonly ExampleCosts[];
  readonly memory: readonly Memory[];
}

export interface GrowthOptions {
  readonly program: string;
  /** For the data; files made there are removed. */
  readonly folder: string;
  /** A data folder with events that came through the service; it is copied. */
  readonly stored: string;
  /** How many times as many events each size has, ascending. */
  readonly sizes: readonly number[];
  readonly turns: number;
  readonly say: (line: string) => void;
}

const CLIENTS = [1, 4];

export async function measureGrowth({
  program,
  folder,
  stored,
  sizes,
  turns,
  say,
}: GrowthOptions): Promise<GrowthRow[]> {
  const data = join(folder, 'growth');
  const found: GrowthRow[] = [];
  try {
    cpSync(stored, data, { recursive: true });
    const range = await rangeOf(program, data);
    let made = 1;
    for (const copies of sizes) {
      const size = await grow(data, range, made, copies - 1);
      made = copies;
      say(`${size.rows} events: ${(size.bytes / size.rows).toFixed(1)} bytes an event in ${size.parts} parts`);
      const from = performance.now();
      const service = await startMeasuredService(program, data, Math.max(...CLIENTS), PATIENCE);
      try {
        const startSeconds = (performance.now() - from) / 1000;
        await rest(service.pid);
        const idleRssBytes = readStatusBytes(service.pid, 'VmRSS');
        const target = { name: 'embedded', service, pids: [service.pid] };
        const examples = await askAll([target], turns, say);
        const memory: Memory[] = [];
        for (const clients of CLIENTS) memory.push(await measureMemory(target, HEAVY, clients));
        say(
          `starts in ${startSeconds.toFixed(1)} s with ${(idleRssBytes / 1e6).toFixed(0)} MB; ${memory.map(describeMemory).join('; ')}`,
        );
        found.push({ ...size, startSeconds, idleRssBytes, examples, memory });
      } finally {
        await service.stop();
      }
    }
    return found;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** The least and greatest time of the stored events, ns. */
async function rangeOf(program: string, data: string): Promise<readonly [min: bigint, max: bigint]> {
  const service = await startMeasuredService(program, data, 1);
  try {
    const { min, max } = await examplesFor({ service });
    return [BigInt(Date.parse(min)) * 1_000_000n, BigInt(Date.parse(max)) * 1_000_000n];
  } finally {
    await service.stop();
  }
}

/** Makes copies `first` to `last` in a process of its own, and answers the table's size; without any when `last` is below `first`. */
async function grow(data: string, [min, max]: readonly [bigint, bigint], first: number, last: number): Promise<Size> {
  const script = fileURLToPath(new URL('grow.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, data, String(min), String(max), String(first), String(last)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (child.exitCode !== 0) throw new Error('the events could not be copied; see above');
  return JSON.parse(said.trim().split('\n').at(-1)!) as Size;
}

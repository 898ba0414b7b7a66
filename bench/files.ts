/** What 10,000 files cost of which 100 grow: processor time, memory, descriptors, and how soon a fresh line is on its way. */
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareAgent } from './agent.ts';
import { lineMaker } from './inputs.ts';
import { readCpuSeconds, readStatusBytes, type Running, startMeasured } from './measure.ts';
import { type Sink, startSink } from './sink.ts';

export interface ManyFilesFigures {
  readonly files: number;
  readonly active: number;
  /** From the agent's start until the sink has every line of every file. */
  readonly deliverySeconds: number;
  /** While nothing is written. */
  readonly idleCpuSecondsPerMinute: number;
  /** While the active files get ten lines a second each. */
  readonly activeCpuSecondsPerMinute: number;
  /** At the end. */
  readonly rssBytes: number;
  readonly privateBytes: number;
  /** The most that the process had open at once, and what it has open while nothing is written. */
  readonly peakDescriptors: number;
  readonly idleDescriptors: number;
  /** From writing a line to a file that was idle until the sink has it. */
  readonly firstEventMs: { readonly median: number; readonly max: number };
}

const FILES = 10_000;
const ACTIVE = 100;
const LINES_PER_FILE = 20;
const LINES_A_SECOND = 10;
const PROBES = 15;
const DEADLINE_MS = 120_000;
/** Until files that are not written to are closed. */
const SETTLE_MS = 15_000;

export async function measureManyFiles(program: string, folder: string, seconds: number): Promise<ManyFilesFigures> {
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const next = lineMaker('text', 1);
  const pathOf = (file: number): string => join(logs, `app-${file}.log`);
  for (let file = 0; file < FILES; file++)
    writeFileSync(pathOf(file), Array.from({ length: LINES_PER_FILE }, () => `${next()}\n`).join(''));
  const sink = await startSink();
  const include = join(logs, '*.log');
  const startedMs = Date.now();
  const setup = { program, folder, include, kind: 'text', compression: 'auto', port: sink.port, once: false } as const;
  const agent = await startMeasured(prepareAgent(setup));
  let peakDescriptors = 0;
  const watching = setInterval(() => (peakDescriptors = Math.max(peakDescriptors, countDescriptors(agent.pid))), 20);
  try {
    let written = FILES * LINES_PER_FILE;
    await arrive(agent, sink, written);
    const deliverySeconds = (Date.now() - startedMs) / 1000;
    await sleep(SETTLE_MS);

    const perMinute = async (work: () => Promise<void>): Promise<number> => {
      const [before, beganMs] = [readCpuSeconds(agent.pid), Date.now()];
      await work();
      return ((readCpuSeconds(agent.pid) - before) / (Date.now() - beganMs)) * 60_000;
    };
    const idleDescriptors = countDescriptors(agent.pid);
    const idleCpuSecondsPerMinute = await perMinute(() => sleep(seconds * 1000).then(() => {}));
    const activeCpuSecondsPerMinute = await perMinute(async () => {
      for (let second = 0; second < seconds; second++) {
        for (let file = 0; file < ACTIVE; file++)
          appendFileSync(
            pathOf(file * (FILES / ACTIVE)),
            Array.from({ length: LINES_A_SECOND }, () => `${next()}\n`).join(''),
          );
        written += ACTIVE * LINES_A_SECOND;
        await sleep(1000);
      }
    });
    await arrive(agent, sink, written);

    const waits: number[] = [];
    for (let probe = 1; probe <= PROBES; probe++) {
      const wroteMs = performance.now();
      appendFileSync(pathOf(probe * 601 + 1), `${next()}\n`);
      await arrive(agent, sink, (written += 1), 5);
      waits.push(performance.now() - wroteMs);
      // So that the probes fall on all phases of a scan.
      await sleep(probe * 37);
    }
    waits.sort((a, b) => a - b);
    return {
      files: FILES,
      active: ACTIVE,
      deliverySeconds,
      idleCpuSecondsPerMinute,
      activeCpuSecondsPerMinute,
      rssBytes: readStatusBytes(agent.pid, 'VmRSS'),
      privateBytes: readStatusBytes(agent.pid, 'RssAnon'),
      peakDescriptors,
      idleDescriptors,
      firstEventMs: { median: waits[Math.floor(PROBES / 2)]!, max: waits.at(-1)! },
    };
  } finally {
    clearInterval(watching);
    agent.terminate();
    await agent.done;
    await sink.stop();
  }
}

/** Waits until the sink has `events`. Throws when they do not come, or too many do. */
async function arrive(agent: Running, sink: Sink, events: number, everyMs = 50): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const counts = await sink.counts();
    if (counts.events > events)
      throw new Error(`files: ${counts.events} events arrived of ${events} that were written`);
    if (counts.events === events) return;
    if (!agent.isRunning()) throw new Error(`files: the agent ended: ${(await agent.done).output}`);
    if (Date.now() > deadline) throw new Error(`files: only ${counts.events} of ${events} events arrived`);
    await sleep(everyMs);
  }
}

/** 0 once the process has ended. */
function countDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

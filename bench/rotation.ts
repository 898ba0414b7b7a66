/**
 * How many lines a fast rotation costs: the log is renamed and made anew while the agent follows it, and old files are soon gone.
 * The agent runs in a session of its own, like a service, alone and beside loops that take all the processors they get.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { prepareAgent } from './agent.ts';
import { readCpuSeconds, startMeasured } from './measure.ts';
import { startTextSink } from './text-sink.ts';

export interface RotationFigures {
  readonly seconds: number;
  readonly linesPerSecond: number;
  readonly rotateEveryMs: number;
  /** Processes beside it that never rest. */
  readonly busyLoops: number;
  readonly lines: number;
  readonly missing: number;
  readonly twice: number;
  /** Of the whole process, while lines were written. */
  readonly cpuSeconds: number;
  /** Of the machine, at the end. */
  readonly load: number;
}

const LINES_PER_SECOND = 20_000;
const ROTATE_EVERY_MS = 50;
const WARM_UP_MS = 3000;
/** Nothing arrived for so long: nothing will. */
const QUIET_MS = 5000;
const WRITER = fileURLToPath(new URL('rotation-writer.ts', import.meta.url));

export async function measureRotation(
  program: string,
  folder: string,
  seconds: number,
  busyLoops: number,
): Promise<RotationFigures> {
  const log = join(folder, 'app.log');
  mkdirSync(folder, { recursive: true });
  writeFileSync(log, '');
  const sink = await startCountingSink();
  const setup = {
    program,
    folder: join(folder, 'agent'),
    include: log,
    kind: 'text',
    compression: 'auto',
    port: sink.port,
    once: false,
  } as const;
  const agent = await startMeasured(prepareAgent(setup), { ownSession: true });
  const loops = Array.from({ length: busyLoops }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    await sleep(WARM_UP_MS);
    const cpuBefore = readCpuSeconds(agent.pid);
    const writer = [WRITER, log, LINES_PER_SECOND, ROTATE_EVERY_MS, seconds].map(String);
    const { stdout } = await promisify(execFile)(process.execPath, writer);
    const cpuSeconds = readCpuSeconds(agent.pid) - cpuBefore;
    const lines = Number(stdout);
    while (sink.seen.size < lines && Date.now() - sink.receivedAtMs() < QUIET_MS) await sleep(100);
    return {
      seconds,
      linesPerSecond: LINES_PER_SECOND,
      rotateEveryMs: ROTATE_EVERY_MS,
      busyLoops,
      lines,
      missing: lines - sink.seen.size,
      twice: sink.events() - sink.seen.size,
      cpuSeconds,
      load: loadavg()[0]!,
    };
  } finally {
    for (const loop of loops) loop.kill();
    agent.terminate();
    await agent.done;
    await sink.stop();
  }
}

async function startCountingSink() {
  const seen = new Set<number>();
  let events = 0;
  let receivedAtMs = Date.now();
  const sink = await startTextSink((text) => {
    receivedAtMs = Date.now();
    const numbers = [...text.matchAll(/"n=(\d+) /g)].map(([, number]) => Number(number));
    for (const number of numbers) seen.add(number);
    events += numbers.length;
    return numbers.length;
  });
  return { ...sink, seen, events: () => events, receivedAtMs: () => receivedAtMs };
}

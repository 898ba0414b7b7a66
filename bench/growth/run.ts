/** One run of the agent on a number of sources and sinks, and what it cost. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launcher } from '../agent.ts';
import { readCpuSeconds, readStatusBytes, startMeasured } from '../measure.ts';
import { startSink } from '../sink.ts';

export interface Cost {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly privateBytes: number;
}

export interface Setup {
  readonly program: string;
  /** Of this run alone. */
  readonly folder: string;
  /** The globs of each source. */
  readonly sources: readonly string[];
  readonly sinks: number;
  readonly lines: number;
}

const DEADLINE_MS = 600_000;
const WARM_UP_MS = 3000;
const WRITE_EVERY_MS = 10;

/** Ships all there is with `--once`. Throws unless every sink gets every line. */
export function shipOnce(setup: Setup): Promise<Cost> {
  return withSink(setup, true, async (running, sink) => {
    const { code, cpuSeconds, peakRssBytes, peakPrivateBytes, output } = await running.done;
    const { events } = await sink.counts();
    if (code !== 0 || events !== setup.lines * setup.sinks)
      throw new Error(`ended with ${code}: ${events} events of ${setup.lines} lines\n${output}`);
    return { cpuSeconds, rssBytes: peakRssBytes, privateBytes: peakPrivateBytes };
  });
}

/**
 * Delivers the files, then watches the agent for `seconds` in which nobody writes, after as many in which it comes to rest: marks are
 * saved, files closed, and scans come every 30 s in the end, which takes a minute. CPU is that of a minute.
 */
export function watchIdle(setup: Setup, seconds: number): Promise<Cost> {
  return withSink(setup, false, async (running, sink) => {
    await arrive(running, sink, setup.lines);
    await sleep(seconds * 1000);
    return during(running.pid, seconds);
  });
}

/** Follows a file that gets so many lines a second. CPU is that of a minute. */
export function followRate(setup: Setup, linesPerSecond: number, line: string, seconds: number): Promise<Cost> {
  const file = setup.sources[0]!;
  return withSink(setup, false, async (running, sink) => {
    let written = 0;
    const startedMs = Date.now();
    const timer = setInterval(() => {
      const due = Math.floor(((Date.now() - startedMs) * linesPerSecond) / 1000) - written;
      if (due > 0) appendFileSync(file, line.repeat(due));
      written += Math.max(0, due);
    }, WRITE_EVERY_MS);
    try {
      await sleep(WARM_UP_MS);
      const cost = await during(running.pid, seconds);
      clearInterval(timer);
      await arrive(running, sink, written);
      return cost;
    } finally {
      clearInterval(timer);
    }
  });
}

async function arrive(running: Running, sink: Sink, lines: number): Promise<void> {
  for (const deadline = Date.now() + DEADLINE_MS; (await sink.counts()).events < lines;) {
    if (Date.now() > deadline || !running.isRunning()) throw new Error(`not every line arrived\n${running.output()}`);
    await sleep(100);
  }
}

async function during(pid: number, seconds: number): Promise<Cost> {
  const [before, beganMs] = [readCpuSeconds(pid), performance.now()];
  await sleep(seconds * 1000);
  const cpuSeconds = ((readCpuSeconds(pid) - before) / (performance.now() - beganMs)) * 60_000;
  return { cpuSeconds, rssBytes: readStatusBytes(pid, 'VmRSS'), privateBytes: readStatusBytes(pid, 'RssAnon') };
}

type Running = Awaited<ReturnType<typeof startMeasured>>;
type Sink = Awaited<ReturnType<typeof startSink>>;

async function withSink(
  setup: Setup,
  once: boolean,
  work: (running: Running, sink: Sink) => Promise<Cost>,
): Promise<Cost> {
  rmSync(setup.folder, { recursive: true, force: true });
  mkdirSync(setup.folder, { recursive: true });
  const sink = await startSink();
  const config = join(setup.folder, 'tailrace.yaml');
  writeFileSync(config, configOf(setup, sink.port));
  const running = await startMeasured([
    ...launcher(),
    setup.program,
    'run',
    ...(once ? ['--once'] : []),
    '--config',
    config,
  ]);
  const guard = setTimeout(() => running.terminate(), DEADLINE_MS);
  try {
    return await work(running, sink);
  } finally {
    clearTimeout(guard);
    running.terminate();
    await running.done;
    await sink.stop();
  }
}

const configOf = (
  { folder, sources, sinks }: Setup,
  port: number,
): string => `data_dir: ${JSON.stringify(join(folder, 'data'))}
sources:
${sources.map((glob, n) => `  in_${n}: {type: file, include: [${JSON.stringify(glob)}]}`).join('\n')}
sinks:
${Array.from({ length: sinks }, (_, n) => `  out_${n}: {type: ingest, url: "http://127.0.0.1:${port}", token: bench, org_id: bench, dataset: bench}`).join('\n')}
telemetry: {listen: "127.0.0.1:0", log_level: warn}
`;

/**
 * How long a line takes from its write to the answer that says it is stored, and what an event costs, at a steady 1,000 lines a
 * second with the defaults: batches of up to one second. The lines bear the time of their write.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareAgent } from './agent.ts';
import { readCpuSeconds, startMeasured } from './measure.ts';
import { startTextSink } from './text-sink.ts';

export interface LatencyFigures {
  readonly seconds: number;
  readonly linesPerSecond: number;
  /** Milliseconds from the write to the answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Microseconds of CPU an event, of the whole process. */
  readonly cpuMicrosecondsPerEvent: number;
}

const LINES_PER_SECOND = 1000;
const WRITE_EVERY_MS = 10;
/** Before anything is counted: the first connection, code that is not yet compiled. */
const WARM_UP_MS = 5000;
const DEADLINE_MS = 30_000;
const TEXT = 'a line of ordinary length, as an application writes it to its log, number 4711';

/** Throws when a line does not arrive, or arrives twice. */
export async function measureLatency(program: string, folder: string, seconds: number): Promise<LatencyFigures> {
  const log = join(folder, 'app.log');
  mkdirSync(folder, { recursive: true });
  writeFileSync(log, '');
  const sink = await startStampedSink();
  const setup = {
    program,
    folder,
    include: log,
    kind: 'text',
    compression: 'auto',
    port: sink.port,
    once: false,
  } as const;
  const agent = await startMeasured(prepareAgent(setup));
  const writer = startWriter(log);
  try {
    await sleep(WARM_UP_MS);
    const [cpuBefore, eventsBefore, since] = [readCpuSeconds(agent.pid), sink.latenciesMs.length, Date.now()];
    await sleep(seconds * 1000);
    const [cpuSeconds, events] = [readCpuSeconds(agent.pid) - cpuBefore, sink.latenciesMs.length - eventsBefore];
    const elapsedMs = Date.now() - since;
    const written = writer.stop();
    for (const deadline = Date.now() + DEADLINE_MS; sink.latenciesMs.length < written;) {
      if (Date.now() > deadline || !agent.isRunning())
        throw new Error(`latency: ${sink.latenciesMs.length} of ${written} lines arrived`);
      await sleep(20);
    }
    if (sink.latenciesMs.length > written)
      throw new Error(`latency: ${written} lines were written, ${sink.latenciesMs.length} arrived`);
    const latencies = sink.latenciesMs.slice(eventsBefore).sort((a, b) => a - b);
    return {
      seconds,
      linesPerSecond: Math.round((events / elapsedMs) * 1000),
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      maxMs: latencies.at(-1)!,
      cpuMicrosecondsPerEvent: (cpuSeconds / events) * 1e6,
    };
  } finally {
    writer.stop();
    agent.terminate();
    await agent.done;
    await sink.stop();
  }
}

/** Writes lines at a steady pace, each with the time of its write. */
function startWriter(log: string): { stop(): number } {
  let written = 0;
  const startedMs = Date.now();
  const timer = setInterval(() => {
    // A timer that is late catches up.
    const due = Math.floor(((Date.now() - startedMs) * LINES_PER_SECOND) / 1000);
    const count = due - written;
    if (count <= 0) return;
    appendFileSync(log, `at=${Date.now()} ${TEXT}\n`.repeat(count));
    written += count;
  }, WRITE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return written;
    },
  };
}

async function startStampedSink() {
  const latenciesMs: number[] = [];
  const sink = await startTextSink((text) => {
    const stamps = [...text.matchAll(/"at=(\d+) /g)];
    const nowMs = Date.now();
    for (const [, stamp] of stamps) latenciesMs.push(nowMs - Number(stamp));
    return stamps.length;
  });
  return { ...sink, latenciesMs };
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

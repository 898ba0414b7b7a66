/** One measured pass of a program over an input into a fresh null sink, and the check that everything arrived. */
import { setTimeout as sleep } from 'node:timers/promises';
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { prepareAgent } from './agent.ts';
import type { Compression, Shaping } from './agent.ts';
import { checksumInput } from './inputs.ts';
import type { Input } from './inputs.ts';
import { startMeasured } from './measure.ts';
import type { Peer } from './peers/peers.ts';
import { startSink } from './sink.ts';
import { prepareSyslogNg } from './peers/syslog-ng/syslog-ng.ts';
import type { SyslogNg, SyslogNgJob } from './peers/syslog-ng/syslog-ng.ts';

export const GIB = 2 ** 30;

/** The figures of one pass, or the median of several. Per GiB of input. */
export interface Figures {
  readonly cpuSeconds: number;
  readonly cpuSecondsPerGiB: number;
  readonly userSecondsPerGiB: number;
  readonly systemSecondsPerGiB: number;
  readonly peakRssBytes: number;
  readonly peakPrivateBytes: number;
  /** From the start of the process to the sink's last answer. */
  readonly seconds: number;
  readonly gibPerSecond: number;
  readonly eventsPerSecond: number;
  /** Bytes on the wire by bytes read. */
  readonly sentRatio: number;
  /** The part of that time for which the sink was busy, 0…1. Near 1 it would be the bottleneck. */
  readonly sinkBusy: number;
  readonly sinkCpuSecondsPerGiB: number;
}

const DEADLINE_MS = 300_000;

/** The agent with `--once`. Throws unless it exits 0 and the sink got each line exactly once. */
export async function runAgent(
  program: string,
  folder: string,
  input: Input,
  compression: Compression,
  shaping?: Shaping,
): Promise<Figures> {
  warm(input.file);
  const sink = await startSink();
  try {
    const setup = {
      program,
      folder: fresh(folder),
      include: input.file,
      kind: input.kind,
      compression,
      port: sink.port,
      once: true,
      shaping,
    };
    const agent = await startMeasured(prepareAgent(setup));
    const guard = setTimeout(() => agent.terminate(), DEADLINE_MS);
    const measured = await agent.done;
    clearTimeout(guard);
    const counts = await sink.counts();
    const what = `${input.kind}/${compression}`;
    if (measured.code !== 0) throw new Error(`${what}: the agent ended with ${measured.code}\n${measured.output}`);
    if (counts.events !== input.lines)
      throw new Error(`${what}: ${counts.events} of ${input.lines} events arrived\n${measured.output}`);
    return figuresOf(input, measured, counts);
  } finally {
    await sink.stop();
  }
}

export const runSyslogNg = (found: SyslogNg, folder: string, input: Input, job: SyslogNgJob): Promise<Figures> =>
  runFollower(`syslog-ng ${job}`, input, (port) => prepareSyslogNg(found, fresh(folder), input.file, job, port));

export const runPeer = (peer: Peer, tuning: string, folder: string, input: Input): Promise<Figures> =>
  runFollower(`${peer.name} ${tuning}`, input, (port) =>
    peer.prepare(tuning, { folder: fresh(folder), input: input.file, port }),
  );

/** A program that does not end at a file's end is ended once the sink has every line. */
async function runFollower(what: string, input: Input, prepare: (port: number) => readonly string[]): Promise<Figures> {
  warm(input.file);
  const sink = await startSink();
  try {
    const running = await startMeasured(prepare(sink.port));
    const deadline = Date.now() + DEADLINE_MS;
    while ((await sink.counts()).events < input.lines && running.isRunning() && Date.now() < deadline) await sleep(50);
    running.terminate();
    const measured = await running.done;
    const counts = await sink.counts();
    if (counts.events !== input.lines)
      throw new Error(`${what}: ${counts.events} of ${input.lines} events arrived\n${measured.output}`);
    return figuresOf(input, measured, counts);
  } finally {
    await sink.stop();
  }
}

/** Ships the input into a sink that parses every event: throws unless each line arrived once and unchanged. */
export async function verifyAgent(
  program: string,
  folder: string,
  input: Input,
  compression: Compression,
): Promise<void> {
  const sink = await startSink(input.kind);
  try {
    const setup = {
      program,
      folder: fresh(folder),
      include: input.file,
      kind: input.kind,
      compression,
      port: sink.port,
      once: true,
    };
    const measured = await (await startMeasured(prepareAgent(setup))).done;
    const counts = await sink.counts();
    const wrong = [
      measured.code === 0 || `the agent ended with ${measured.code}: ${measured.output}`,
      counts.events === input.lines || `${counts.events} of ${input.lines} events arrived`,
      counts.wrong === 0 || `${counts.wrong} events are not what they should be`,
      counts.checksum === (await checksumInput(input)) || 'the checksum over all lines differs',
    ].filter((found) => found !== true);
    if (wrong.length > 0) throw new Error(`verify ${input.kind}/${compression}: ${wrong.join('; ')}`);
  } finally {
    await sink.stop();
  }
}

/**
 * Reads the file once. A virtual machine maps pages that rested for a while anew, and whoever reads them first pays for it: 2.3 CPU-seconds
 * a GiB of the page cache where the third reader pays 0.13.
 */
function warm(file: string): void {
  const into = Buffer.alloc(256 * 1024);
  const fd = openSync(file, 'r');
  while (readSync(fd, into) > 0);
  closeSync(fd);
}

function fresh(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  return join(folder);
}

type Counts = Awaited<ReturnType<Awaited<ReturnType<typeof startSink>>['counts']>>;
type Pass = Awaited<Awaited<ReturnType<typeof startMeasured>>['done']>;

function figuresOf(input: Input, measured: Pass, counts: Counts): Figures {
  const gib = input.bytes / GIB;
  const seconds = (counts.lastAnswerMs - measured.startedMs) / 1000;
  return {
    cpuSeconds: measured.cpuSeconds,
    cpuSecondsPerGiB: measured.cpuSeconds / gib,
    userSecondsPerGiB: measured.userSeconds / gib,
    systemSecondsPerGiB: measured.systemSeconds / gib,
    peakRssBytes: measured.peakRssBytes,
    peakPrivateBytes: measured.peakPrivateBytes,
    seconds,
    gibPerSecond: gib / seconds,
    eventsPerSecond: input.lines / seconds,
    sentRatio: counts.bodyBytes / input.bytes,
    sinkBusy: counts.cpuSeconds / seconds,
    sinkCpuSecondsPerGiB: counts.cpuSeconds / gib,
  };
}

/** Each figure's own median. */
export function medianFigures(passes: readonly Figures[]): Figures {
  const keys = Object.keys(passes[0]!) as (keyof Figures)[];
  return Object.fromEntries(keys.map((key) => [key, median(passes.map((pass) => pass[key]))])) as unknown as Figures;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

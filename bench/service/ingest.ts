/**
 * What the local service costs to ingest: NDJSON through HTTP in batches of 1 MiB from four senders under idempotency keys, as the agent sends
 * them, into an empty folder. CPU is the service's alone, engine, replies and background merges included: it is read once the process
 * has come to rest. The senders are this process.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { execFileSync } from 'node:child_process';
import type { Input, InputKind } from '../inputs.ts';
import { readCpuSeconds, readStatusBytes } from '../measure.ts';
import { rest, startMeasuredService, type Encoding } from './process.ts';

export interface ServiceFigures {
  readonly cpuSecondsPerGiB: number;
  readonly eventsPerSecond: number;
  readonly gibPerSecond: number;
  readonly peakRssBytes: number;
  /** On disk, by bytes of NDJSON. */
  readonly storedRatio: number;
  /** From the start of the process to its address. */
  readonly startSeconds: number;
  /** Of the empty service, at rest. */
  readonly idleRssBytes: number;
  readonly idleCpuSecondsPerMinute: number;
}

const GIB = 2 ** 30;
const BATCH_BYTES = 2 ** 20;
export const SENDERS = 4;

/** Runs `program serve` in `folder` and sends it the input. Throws unless every line is stored. */
export async function measureServiceIngest(
  program: string,
  folder: string,
  input: Input,
  encoding: Encoding,
): Promise<ServiceFigures> {
  rmSync(folder, { recursive: true, force: true });
  const batches = batchesOf(input, encoding);
  const started = performance.now();
  const service = await startMeasuredService(program, folder, SENDERS);
  try {
    const startSeconds = (performance.now() - started) / 1000;
    await service.post('/v1/datasets', JSON.stringify({ name: 'bench' }));
    await rest(service.pid);
    const idleFrom = readCpuSeconds(service.pid);
    await sleep(5000);
    const idleCpuSecondsPerMinute = (readCpuSeconds(service.pid) - idleFrom) * 12;
    const idleRssBytes = readStatusBytes(service.pid, 'VmRSS');

    const [cpuFrom, from] = [readCpuSeconds(service.pid), performance.now()];
    await sendAll(batches, (batch, n) => service.post(ingestPath(input.kind), batch, encoding, `batch-${n}`));
    const seconds = (performance.now() - from) / 1000;
    await rest(service.pid);
    const cpuSeconds = readCpuSeconds(service.pid) - cpuFrom;

    const { status } = (await service.post(
      '/v1/datasets/bench/query',
      JSON.stringify({ aggregations: [{ op: 'count' }] }),
    )) as {
      status: { rowsMatched: number };
    };
    if (status.rowsMatched !== input.lines)
      throw new Error(`the service has ${status.rowsMatched} of ${input.lines} events`);
    const peakRssBytes = readStatusBytes(service.pid, 'VmHWM');
    const stored = Number(execFileSync('du', ['-sb', join(folder, 'engine')], { encoding: 'utf8' }).split('\t')[0]);
    return {
      cpuSecondsPerGiB: cpuSeconds / (input.bytes / GIB),
      eventsPerSecond: input.lines / seconds,
      gibPerSecond: input.bytes / GIB / seconds,
      peakRssBytes,
      storedRatio: stored / input.bytes,
      startSeconds,
      idleRssBytes,
      idleCpuSecondsPerMinute,
    };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From several senders, as the agent does. */
export async function sendAll(
  batches: readonly Buffer[],
  send: (batch: Buffer, n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let n = next++; n < batches.length; n = next++) await send(batches[n]!, n);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** JSON lines carry their own time; text lines are sent as the agent sends them, with the time of their read. */
export const ingestPath = (kind: InputKind): string =>
  `/v1/ingest/bench${kind === 'json' ? '?timestamp-field=time' : ''}`;

/** The input's lines in bodies of about 1 MiB, made before anything is measured. */
export function batchesOf({ file, kind }: Input, encoding: Encoding): Buffer[] {
  const batches: Buffer[] = [];
  const text = readFileSync(file);
  const wrap = (line: string): string =>
    kind === 'json'
      ? line
      : JSON.stringify({ _time: '2026-01-01T00:00:00.000Z', message: line, host: 'bench', file: '/var/log/bench.log' });
  let lines: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (lines.length === 0) return;
    const body = Buffer.from(`${lines.join('\n')}\n`);
    batches.push(encoding === 'gzip' ? gzipSync(body, { level: 1 }) : body);
    [lines, bytes] = [[], 0];
  };
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(10, at);
    const end = found < 0 ? text.length : found;
    lines.push(wrap(text.toString('utf8', at, end)));
    bytes += end - at;
    at = end + 1;
    if (bytes >= BATCH_BYTES) flush();
  }
  flush();
  return batches;
}

/** The real agent whose memory is full because the service is away: files that are deleted then survive a kill and a stop. */
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { findImbalances } from '../support/watch-accounting.ts';
import { addressOf, configure, makeSite, metricsOf, QUICK, sumOf } from '../support/shipping.ts';

const FILES = 5;
const LINE_BYTES = 4096;
/** Of `source_lag_bytes`; far less than the deleted bytes. */
const MAX_DELETED_BYTES = 1024 * 1024;

export interface Plan {
  /** Keys of the sink beside those of every test. */
  readonly sink: string;
  /** Bytes of all files together: more than the memory takes. */
  readonly bytes: number;
  /** What ends the agent once the files are deleted. */
  readonly end: 'SIGKILL' | 'SIGTERM';
}

export async function checkDeletedWhileAway({ sink, bytes, end }: Plan): Promise<void> {
  const site = await makeSite();
  const { service, folder } = site;
  service.respond = () => ({ status: 503 });
  const logs = join(folder, 'logs');
  const perFile = Math.ceil(bytes / FILES / LINE_BYTES);
  const lineOf = (seq: number): string => `${`line ${seq} `.padEnd(LINE_BYTES - 1, '.')}\n`;
  for (let file = 0; file < FILES; file++)
    writeFileSync(
      join(logs, `${file}.log`),
      Array.from({ length: perFile }, (_, n) => lineOf(file * perFile + n)).join(''),
    );
  const app = `{type: file, include: ["${logs}/*.log"], scan_interval: 100ms, max_deleted_bytes: ${MAX_DELETED_BYTES}}`;
  const config = configure(site, { sources: { app }, sink: `token: t, ${QUICK}, ${sink}` });
  const { program, metric, metrics } = await start(config);
  await until(
    'the reader waits for the service',
    async () => (await metric('tailrace_backpressure_seconds_total')) > 0.2,
  );
  for (const name of readdirSync(logs)) rmSync(join(logs, name));
  if (end === 'SIGKILL') {
    await until('all of it is read', async () => (await metric('tailrace_events_held')) === FILES * perFile);
    await until(
      'it is under max_deleted_bytes',
      async () => (await metric('tailrace_source_lag_bytes')) < MAX_DELETED_BYTES,
    );
    expect(findImbalances(await metrics())).toEqual([]);
    // The last events are on disk once their batches are, which closes the files.
    await until('the files are let go', () => heldBy(program, logs) === 0);
  } else await program.says('file was deleted');
  const code = await program.end(end);
  if (end === 'SIGTERM') expect(code).toBe(0);
  expect(existsSync(join(folder, 'agent/spool/store'))).toBe(true);

  service.respond = () => undefined;
  const again = await start(config);
  await until('everything is stored', () => service.stored.length >= FILES * perFile);
  expect(new Set(service.stored.map((event) => Number(/line (\d+)/.exec(event)![1]))).size).toBe(FILES * perFile);
  expect([service.stored.length, service.misusedKeys]).toEqual([FILES * perFile, []]);
  expect(await again.metric('tailrace_source_lost_bytes_total')).toBe(0);
  expect(await again.program.end()).toBe(0);
}

async function start(config: string) {
  const program = startProgram(['run', '--config', config]);
  const address = await addressOf(program);
  return { program, metrics: () => metricsOf(address), metric: (name: string) => sumOf(address, name) };
}

/** Deleted files that the process holds open. */
function heldBy({ process }: Program, logs: string): number {
  const links = readdirSync(`/proc/${process.pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${process.pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((path) => path.startsWith(logs) && path.endsWith(' (deleted)')).length;
}

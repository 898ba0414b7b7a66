/** Files that are deleted while the service is away, with the real agent: what was read of them and what was not are sent all the same. */
import { appendFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Program } from '../support/program.ts';
import { addressOf, metricsOf, QUICK, range, type Site, spooledFiles, startShipping, sumOf, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { findImbalances } from '../support/watch-accounting.ts';

/** Starts the agent on the site's folder, and waits until it runs. */
async function start(site: Site, sink = '', source = ''): Promise<{ program: Program; address: string }> {
  const app = `{type: file, include: ["${site.folder}/logs/*.log"], scan_interval: 100ms${source}}`;
  const program = startShipping(site, { sources: { app }, sink: `${QUICK}, batch: {max_age: 100ms}${sink}` });
  return { program, address: await addressOf(program) };
}

const lineOf = (seq: number): string => `line ${seq} ${'.'.repeat(80)}`;

function linesOf(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `${lineOf(from + index)}\n`).join('');
}

const storedLines = ({ service }: Site): number[] =>
  service.stored.map((event) => Number(/line (\d+)/.exec(event)![1])).sort((a, b) => a - b);

/** Deleted files that the process holds open. */
function heldBy({ process }: Program): string[] {
  return readdirSync(`/proc/${process.pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${process.pid}/fd/${fd}`);
      return path.includes('/logs/') && path.endsWith(' (deleted)') ? [path] : [];
    } catch {
      return [];
    }
  });
}

test('a file that is deleted while the service is away goes into the disk buffer whole, is let go, and survives a kill', async ({
  site,
}) => {
  site.service.respond = () => ({ status: 503 });
  const count = 100_000;
  writeFileSync(join(site.folder, 'logs/keep.log'), linesOf(count, count + 1000));
  writeFileSync(join(site.folder, 'logs/gone.log'), linesOf(0, count));
  const { program, address } = await start(site);
  await until('the reader waits for the service', async () => (await sumOf(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  expect(await sumOf(address, 'tailrace_source_lag_bytes')).toBeGreaterThan(1_000_000);
  rmSync(join(site.folder, 'logs/gone.log'));
  await until('all of it is read', async () => (await sumOf(address, 'tailrace_events_held')) >= count);
  await until('it is let go', () => heldBy(program).length === 0);
  expect(findImbalances(await metricsOf(address))).toEqual([]);
  expect(await sumOf(address, 'tailrace_source_lost_bytes_total')).toBe(0);
  // Of a file that is still there: at most what shares a batch with the other.
  appendFileSync(join(site.folder, 'logs/keep.log'), linesOf(count + 1000, count + 2000));
  await program.end('SIGKILL');
  expect(spooledFiles(site).length).toBeGreaterThan(0);
  site.service.respond = () => undefined;
  const again = await start(site);
  await until('everything is stored', () => site.service.stored.length >= count + 2000);
  await until('the disk buffer is empty', () => spooledFiles(site).length === 0);
  expect(storedLines(site)).toEqual(range(count + 2000));
  expect(site.service.misusedKeys).toEqual([]);
  expect(await sumOf(again.address, 'tailrace_source_lost_bytes_total')).toBe(0);
  expect(await again.program.end()).toBe(0);
  expect(again.program.stderr()).not.toContain('are gone');
});

test('batches under way keep their keys over a delete, a kill and a restart', async ({ site }) => {
  const keys = new Map<string, Set<string>>();
  site.service.respond = ({ key, events }) => {
    for (const event of events) {
      const seq = /line \d+/.exec(event)![0];
      keys.set(seq, (keys.get(seq) ?? new Set()).add(key));
    }
    return { status: 503 };
  };
  writeFileSync(join(site.folder, 'logs/a.log'), linesOf(0, 500));
  const { program } = await start(site, ', concurrency: 2');
  await until('it is sent', () => keys.size === 500);
  rmSync(join(site.folder, 'logs/a.log'));
  await until('it is in the disk buffer', () => spooledFiles(site).length > 0);
  await program.end('SIGKILL');
  const before = new Set([...keys.values()].flatMap((each) => [...each]));
  site.service.respond = () => undefined;
  const again = await start(site, ', concurrency: 2');
  await until('everything is stored', () => site.service.stored.length >= 500);
  expect(await again.program.end()).toBe(0);
  expect(storedLines(site)).toEqual(range(500));
  for (const { key, events } of site.service.requests) if (events.length > 0) expect(before).toContain(key);
});

test('a stop keeps what is unread of deleted files', async ({ site }) => {
  site.service.respond = () => ({ status: 503 });
  const count = 60_000;
  writeFileSync(join(site.folder, 'logs/a.log'), linesOf(0, count));
  const { program, address } = await start(site, ', buffer: {disk: {max_bytes: 1MiB}}');
  await until('the reader waits', async () => (await sumOf(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  rmSync(join(site.folder, 'logs/a.log'));
  await program.says('file was deleted');
  expect(await program.end()).toBe(0);
  site.service.respond = () => undefined;
  const again = await start(site, ', buffer: {disk: {max_bytes: 1MiB}}');
  await until('everything is stored', () => site.service.stored.length >= count);
  expect(await again.program.end()).toBe(0);
  expect(storedLines(site)).toEqual(range(count));
});

test('a deleted file that neither disk buffer nor budget has room for is given up, counted to the byte, and said', async ({ site }) => {
  site.service.respond = () => ({ status: 503 });
  const count = 300_000;
  const text = linesOf(0, count);
  writeFileSync(join(site.folder, 'logs/a.log'), text);
  const { program, address } = await start(site, ', buffer: {disk: {max_bytes: 1MiB}}, compression: none', ', max_deleted_bytes: 1MiB');
  await until('the reader waits', async () => (await sumOf(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  rmSync(join(site.folder, 'logs/a.log'));
  await program.says('deleted file is given up before it was read');
  await until('it is let go', () => heldBy(program).length === 0);
  const lost = await sumOf(address, 'tailrace_source_lost_bytes_total');
  expect(lost).toBeGreaterThan(1_000_000);
  expect(findImbalances(await metricsOf(address))).toEqual([]);
  site.service.respond = () => undefined;
  await until('the rest is stored', async () => (await sumOf(address, 'tailrace_events_held')) === 0);
  const seqs = storedLines(site);
  expect(new Set(seqs).size).toBe(seqs.length);
  const missing = range(count).filter((seq) => seq >= seqs.length);
  expect(seqs).toEqual(range(seqs.length));
  expect(lost).toBe(missing.reduce((sum, seq) => sum + lineOf(seq).length + 1, 0));
  expect(await program.end()).toBe(0);
});

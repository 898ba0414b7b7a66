/** `buffer.disk.files`: batches of files go to the disk buffer while the service is too slow, and keep their order. */
import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { valueOf } from '../support/prometheus-text.ts';
import {
  addressOf,
  makeSite,
  metricsOf,
  QUICK,
  range,
  seqOf,
  spooledFiles,
  startShipping,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

const LINES = 40_000;
const line = (seq: number): string => `{"seq":${seq},"id":"${crypto.randomUUID()}","other":"${crypto.randomUUID()}"}`;
const sink = (files: boolean, disk = '64MiB') =>
  `${QUICK}, concurrency: 1, compression: gzip, batch: {max_age: 50ms, max_bytes: 64KiB}, buffer: {max_memory: 1MiB, disk: {max_bytes: ${disk}, files: ${files}}}`;

async function makeBacklog() {
  const site = await makeSite();
  site.service.respond = () => ({ status: 503 });
  writeLines(site, LINES, line);
  const spooled = () => spooledFiles(site);
  const accounting = watchAccounting(200);
  onTestFinished(() => accounting.stop());
  const scrape = async (address: string) => {
    const metrics = await metricsOf(address);
    return (name: string, labels: Record<string, string>) => valueOf(metrics, `tailrace_${name}`, labels) ?? 0;
  };
  return { site, spooled, accounting, scrape };
}

const accepted = { source: 'app', outcome: 'accepted' };

test('files are read on into the disk buffer while the service is away, outlive kill -9 and themselves, and arrive once, in order', async () => {
  const { site, spooled, accounting, scrape } = await makeBacklog();
  const agent = startShipping(site, { sink: sink(true) });
  const address = await addressOf(agent);
  accounting.watch(address);
  await until('all is read', async () => (await scrape(address))('events_total', accepted) === LINES, {
    withinMs: 300_000,
    everyMs: 100,
  });
  // The last ones may still be in memory, as before.
  await until('it is on disk', () => spooled().length >= 35);
  const value = await scrape(address);
  expect(value('buffer_bytes', { sink: 'store', kind: 'memory' })).toBeLessThanOrEqual(1024 * 1024);
  expect(value('buffer_bytes', { sink: 'store', kind: 'disk' })).toBeGreaterThan(500_000);
  accounting.watch(undefined);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');

  site.service.respond = () => undefined;
  const next = startShipping(site, { sink: sink(true) });
  accounting.watch(await addressOf(next));
  await until('all is stored', () => site.service.stored.length >= LINES, { withinMs: 300_000, everyMs: 50 });
  await until('the disk buffer is empty', () => spooled().length === 0);
  accounting.watch(undefined);
  expect(await next.end('SIGTERM')).toBe(0);
  await accounting.stop();
  expect(accounting.problems).toEqual([]);
  expect(site.service.misusedKeys).toEqual([]);
  expect(site.service.stored.map(seqOf)).toEqual(range(LINES));
});

test('files whose batches are on disk may be deleted while no agent runs', async () => {
  const { site, spooled, scrape } = await makeBacklog();
  const agent = startShipping(site, { sink: sink(true) });
  const address = await addressOf(agent);
  await until('all is read', async () => (await scrape(address))('events_total', accepted) === LINES, {
    withinMs: 300_000,
    everyMs: 100,
  });
  await until('it is on disk', () => spooled().length >= 35);
  const kept = spooled().length;
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  rmSync(site.log);

  site.service.respond = () => undefined;
  const next = startShipping(site, { sink: sink(true) });
  await until('the disk buffer is empty', () => spooled().length === 0, { withinMs: 300_000, everyMs: 50 });
  expect(await next.end('SIGTERM')).toBe(0);
  expect(
    site.service.requests.filter(({ key }, index, all) => all.findIndex((each) => each.key === key) === index).length,
  ).toBeGreaterThanOrEqual(kept);
  expect(site.service.stored.length).toBeGreaterThan(LINES * 0.8);
});

test('files wait where they are when the disk buffer is full, and when it is not for them', async () => {
  for (const [files, disk] of [
    [true, '1MiB'],
    [false, '64MiB'],
  ] as const) {
    const { site, spooled, scrape } = await makeBacklog();
    const agent = startShipping(site, { sink: sink(files, disk) });
    const address = await addressOf(agent);
    await until('it waits', async () => (await scrape(address))('backpressure_seconds_total', { source: 'app' }) > 2, {
      withinMs: 300_000,
      everyMs: 100,
    });
    const value = await scrape(address);
    expect(value('events_total', accepted)).toBeLessThan(LINES);
    expect(value('buffer_bytes', { sink: 'store', kind: 'disk' })).toBeLessThanOrEqual(files ? 1024 * 1024 : 0);
    expect(spooled().length > 0).toBe(files);
    site.service.respond = () => undefined;
    await until('all is stored', () => site.service.stored.length >= LINES, { withinMs: 300_000, everyMs: 50 });
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(site.service.stored.map(seqOf)).toEqual(range(LINES));
    expect(spooled()).toEqual([]);
  }
});

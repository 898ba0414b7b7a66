/** Truncation under the real agent: what only it still has survives a kill, and what is lost is counted to the byte. */
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { decodeSpoolFile } from '../../src/state/spool/spool-file.ts';
import type { Program } from '../support/program.ts';
import { makeSite, type Site, spooledFiles, startShipping, storedSeqs, sumOf } from '../support/shipping.ts';
import { until } from '../support/until.ts';

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

function startAgent(buffer = '{}'): Program {
  const sources = { app: `{type: file, include: ["${site.log}*"], scan_interval: 100ms}` };
  return startShipping(site, {
    sources,
    sink: `retry: {initial_backoff: 50ms, max_backoff: 500ms}, batch: {max_age: 50ms}, buffer: ${buffer}`,
  });
}

const lines = (from: number, to: number): string => Array.from({ length: to - from }, (_, n) => `{"seq":${from + n}}\n`).join('');
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

/** Events that are in the disk buffer. */
function spooled(): number {
  const contents = spooledFiles(site).map((name) => decodeSpoolFile(readFileSync(join(site.folder, 'agent', 'spool', 'store', name))));
  return contents.reduce((sum, content) => sum + (content.ok ? content.header.events : 0), 0);
}

// Symptom: lines that were read and not delivered when their file was truncated were lost with a kill. Cause: they count on
// being read again, and are in no file any more. Fix: they go to the disk buffer as those of a deleted file do.
test.each([
  ['emptied', false],
  ['copied, with less than was read, and emptied', true],
])('what was read of a file that is %s survives a kill', async (_, isCopied) => {
  site.service.respond = () => ({ status: 500 });
  appendFileSync(site.log, lines(0, 500));
  const agent = startAgent();
  await until('half is read', async () => (await sumOf(agent, 'tailrace_events_held')) === 500);
  if (isCopied) copyFileSync(site.log, `${site.folder}/copy`);
  appendFileSync(site.log, lines(500, 1000));
  await until('all is read', async () => (await sumOf(agent, 'tailrace_events_held')) === 1000);
  if (isCopied) copyFileSync(`${site.folder}/copy`, `${site.log}.1`);
  truncateSync(site.log, 0);
  await until('all that was read is in the disk buffer', () => spooled() === 1000);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');

  site.service.respond = () => undefined;
  appendFileSync(site.log, lines(1000, 1100));
  const next = startAgent();
  await next.says('tailrace runs');
  await until('everything is stored', () => site.service.stored.length >= 1100);
  expect(await next.end()).toBe(0);
  expect(storedSeqs(site)).toEqual(range(0, 1100));
  expect(site.service.misusedKeys).toEqual([]);
});

test('bytes that a truncation destroyed are counted exactly where a scan saw them, and nothing else is missing', async () => {
  // With the memory full nothing more is read.
  site.service.respond = () => ({ status: 500 });
  const agent = startAgent('{max_memory: 2MiB}');
  const pad = 'x'.repeat(1000);
  const large = (from: number, to: number): string =>
    range(from, to)
      .map((seq) => `{"seq":${seq},"pad":"${pad}"}\n`)
      .join('');
  writeFileSync(site.log, large(0, 10_000));
  const copied = Buffer.byteLength(large(0, 10_000));
  await until('reading waits', async () => (await sumOf(agent, 'tailrace_backpressure_seconds_total')) > 0);
  copyFileSync(site.log, `${site.log}.1`);
  const destroyed = Buffer.byteLength(large(10_000, 10_500));
  appendFileSync(site.log, large(10_000, 10_500));
  const seen = (): Promise<number> => sumOf(agent, 'tailrace_source_lag_bytes', 'tailrace_source_read_bytes_total');
  await until('a scan saw all of it', async () => (await seen()) === copied + destroyed);
  truncateSync(site.log, 0);
  appendFileSync(site.log, lines(20_000, 20_010));
  await until('the loss is counted', async () => (await sumOf(agent, 'tailrace_source_lost_bytes_total')) > 0);
  site.service.respond = () => undefined;
  await until('everything else is stored', () => site.service.stored.length >= 10_010);
  expect(await sumOf(agent, 'tailrace_source_lost_bytes_total')).toBe(destroyed);
  expect(await agent.end()).toBe(0);
  expect(storedSeqs(site)).toEqual([...range(0, 10_000), ...range(20_000, 20_010)]);
});

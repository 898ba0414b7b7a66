/** Stopping before a service that does not help, and the next start's log of the rest. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { valueOf } from '../support/prometheus-text.ts';
import {
  addressOf,
  makeSite,
  metricsOf,
  QUICK,
  range,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

test('run that is stopped behind a service that never answers ends with its own shutdown_timeout, not the request’s', async () => {
  site.service.respond = () => ({ never: 'lost' });
  writeLines(site, 100);
  const agent = startShipping(site, {
    sink: `${QUICK}, timeout: 1h, batch: {max_age: 50ms}`,
    top: 'shutdown_timeout: 1s',
  });
  await until('a request is under way', () => site.service.requests.length > 0);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(agent.stderr()).toContain('"keptEvents":100');
  site.service.respond = () => undefined;
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  expect(storedSeqs(site)).toEqual(range(100));
  // The same events under the same key.
  expect(new Set(site.service.requests.map(({ key }) => key)).size).toBe(1);
});

test('run says at the start, and in its metrics, that the disk buffer holds batches of a sink that is gone', async () => {
  site.service.respond = () => ({ status: 503 });
  const pipe = { pipe: '{type: stdin}' };
  const agent = startShipping(site, { sources: pipe, stdin: 'pipe', sink: `${QUICK}, batch: {max_age: 20ms}` });
  agent.process.stdin!.write('{"seq":1}\n');
  await until('it is on disk and sent', () => site.service.requests.length > 0);
  expect(await agent.end('SIGTERM')).toBe(0);
  const spool = join(site.folder, 'agent', 'spool', 'store');
  expect(readdirSync(spool)).toHaveLength(1);

  const other = startShipping({ ...site, sinkId: 'other' }, { sources: pipe, stdin: 'pipe' });
  const address = await addressOf(other);
  expect(JSON.parse(await other.says('not configured any more'))).toMatchObject({
    sink: 'store',
    folder: spool,
    files: 1,
  });
  const metrics = await metricsOf(address);
  expect(valueOf(metrics, 'tailrace_buffer_bytes', { sink: 'store', kind: 'abandoned' })).toBeGreaterThan(10);
  expect(await other.end('SIGTERM')).toBe(0);

  site.service.respond = () => undefined;
  const back = startShipping(site, { sources: pipe });
  expect(await back.exited).toBe(0);
  expect(back.stderr()).not.toContain('not configured any more');
  expect(storedSeqs(site)).toEqual([1]);
});

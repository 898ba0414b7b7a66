import { expect } from 'vitest';
import { FakeService, replyWith, test } from '../support/fake-service.ts';
import { freePort } from '../support/free-port.ts';
import { type Family, valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { startRun } from './run-child.ts';

const numbered = (count: number, first = 0): string[] => Array.from({ length: count }, (_, i) => `{"n":${first + i}}`);

/** The numbers that the service stored, in order. */
function numbersOf(service: FakeService): number[] {
  return service.lines.map((line) => (JSON.parse(line) as { n: number }).n).toSorted((a, b) => a - b);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** accepted = delivered + dead_lettered + dropped + filtered + held, in this one scrape. Returns accepted. */
function checkBalance(families: ReadonlyMap<string, Family>): number {
  const of = (outcome: string): number =>
    valueOf(families, 'tailrace_events_total', { source: 'pipe', outcome }) ?? NaN;
  const settled = of('delivered') + of('dead_lettered') + of('dropped') + of('filtered');
  expect(settled + (valueOf(families, 'tailrace_events_held', { source: 'pipe' }) ?? NaN)).toBe(of('accepted'));
  return of('accepted');
}

test('run delivers every line of standard input once, and ends with 0', async ({ service }) => {
  const run = startRun(makeTree({}), { url: service.url });
  await run.write(['plain text with "quotes"', '{"level":"info","a":1}', '', '  ', 'ünïcode']);
  run.close();
  expect(await run.exited).toBe(0);
  const events = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.map(({ message, level }) => message ?? level)).toEqual([
    'plain text with "quotes"',
    'info',
    '  ',
    'ünïcode',
  ]);
  for (const event of events) expect(Date.parse(String(event['_time']))).not.toBeNaN();
  expect(events[0]).toHaveProperty('host');
  expect(service.requests.every(({ headers }) => headers['content-encoding'] === 'zstd')).toBe(true);
});

test('run balances its accounting at every scrape under fire, and counts the events sent', async ({ service }) => {
  let count = 0;
  service.respond = (request, response) => {
    count += 1;
    if (count % 5 === 0) return replyWith(response, 503, 'busy');
    if (count % 7 === 0) return void response.destroy();
    service.storeAll(request, response);
  };
  const run = startRun(makeTree({}), { url: service.url });
  let written = 0;
  for (let round = 0; round < 30; round++) {
    await run.write(numbered(500, written));
    written += 500;
    checkBalance(await run.scrape());
    expect((await run.get('/healthz')).status).toBe(200);
  }
  await until('all is delivered', async () => {
    const families = await run.scrape();
    checkBalance(families);
    return valueOf(families, 'tailrace_events_total', { source: 'pipe', outcome: 'delivered' }) === written;
  });
  const families = await run.scrape();
  expect(checkBalance(families)).toBe(written);
  expect(numbersOf(service)).toEqual(upTo(written));
  const value = (name: string, labels: Record<string, string>) => valueOf(families, `tailrace_${name}`, labels);
  const sent = service.requests.reduce((sum, { raw }) => sum + raw.length, 0);
  expect(value('sink_sent_bytes_total', { sink: 'store' })).toBe(sent);
  const ok = value('sink_requests_total', { sink: 'store', status: '200' }) ?? 0;
  const busy = value('sink_requests_total', { sink: 'store', status: '503' }) ?? 0;
  const none = value('sink_requests_total', { sink: 'store', status: 'none' }) ?? 0;
  expect(ok).toBe(service.stored.size);
  expect(ok + busy + none).toBe(service.requests.length);
  expect(busy + none).toBeGreaterThan(0);
  expect(value('sink_retries_total', { sink: 'store', reason: 'server_error' })).toBe(busy);
  expect(value('sink_retries_total', { sink: 'store', reason: 'network' })).toBe(none);
  expect(value('ingest_events_total', { sink: 'store', dataset: 'logs', result: 'ingested' })).toBe(written);
  expect(value('source_events_total', { source: 'pipe' })).toBe(written);
  expect(value('source_read_bytes_total', { source: 'pipe' })).toBe(numbered(written).join('\n').length + 1);
  expect(value('ingest_wal_length', { sink: 'store' })).toBeGreaterThan(0);
  // A key always names the same events.
  const byKey = new Map<string, string>();
  for (const { key, body } of service.requests) {
    expect(byKey.get(key) ?? body.toString()).toBe(body.toString());
    byKey.set(key, body.toString());
  }
  run.close();
  expect(await run.exited).toBe(0);
});

test('run waits for a service that is down at the start, and says so', async () => {
  const port = await freePort();
  const run = startRun(makeTree({}), { url: `http://127.0.0.1:${port}` });
  await run.write(numbered(1000));
  await run.says('batch was not stored');
  expect((await run.get('/readyz')).status).toBe(200);
  expect((await run.get('/healthz')).status).toBe(200);
  const service = await FakeService.start(port);
  run.close();
  expect(await run.exited).toBe(0);
  expect(numbersOf(service)).toEqual(upTo(1000));
});

test('run ends with 0 on SIGTERM while the service is down, and the next one delivers the kept events', async ({
  folder,
}) => {
  const port = await freePort();
  const first = startRun(folder, { url: `http://127.0.0.1:${port}`, top: 'shutdown_timeout: 1s' });
  await first.write(numbered(1000));
  await until('all is accepted', async () => checkBalance(await first.scrape()) === 1000);
  first.process.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(first.stderr()).toContain('"keptEvents":1000');

  const service = await FakeService.start(port);
  const second = startRun(folder, { url: service.url });
  second.close();
  expect(await second.exited).toBe(0);
  expect(numbersOf(service)).toEqual(upTo(1000));
});

test('run ends at once on the second SIGTERM, and loses nothing', async ({ folder, service }) => {
  service.respond = () => {};
  const first = startRun(folder, { url: service.url, top: 'shutdown_timeout: 10m' });
  await first.write(numbered(250));
  await until('a request is under way', () => service.requests.length > 0);
  first.process.kill('SIGTERM');
  await first.says('stopping');
  expect(first.process.exitCode).toBe(null);
  first.process.kill('SIGTERM');
  expect(await first.exited).toBe(0);

  service.respond = (request, response) => service.storeAll(request, response);
  const second = startRun(folder, { url: service.url });
  second.close();
  expect(await second.exited).toBe(0);
  expect(numbersOf(service)).toEqual(upTo(250));
});

test('run keeps keys and events over kill -9', async ({ folder, service }) => {
  // Stored, but the answer never arrives: the worst moment to die.
  service.respond = (request) => void service.stored.set(request.key, request.lines);
  const first = startRun(folder, { url: service.url });
  await first.write(numbered(400));
  await until(
    'all is on its way',
    async () => checkBalance(await first.scrape()) === 400 && service.requests.length >= 4,
  );
  first.process.kill('SIGKILL');
  expect(await first.exited).toBe('SIGKILL');
  const before = new Map(service.requests.map(({ key, body }) => [key, body.toString()]));

  const again = service.requests.length;
  service.respond = (request, response) => service.storeAll(request, response);
  const second = startRun(folder, { url: service.url });
  second.close();
  expect(await second.exited).toBe(0);
  const resent = service.requests.slice(again);
  expect(resent.length).toBeGreaterThanOrEqual(before.size);
  for (const [key, body] of before) expect(resent.find((request) => request.key === key)?.body.toString()).toBe(body);
  // What closed before the kill is there once, thanks to its key.
  expect(numbersOf(service)).toEqual(upTo(400));
});

test('run --once ends with 1 when the service refuses the token', async ({ service }) => {
  service.respond = (_request, response) => replyWith(response, 401, { message: 'who are you' });
  const run = startRun(makeTree({}), { url: service.url, args: ['--once'], top: 'shutdown_timeout: 1s' });
  await run.write(numbered(10));
  run.close();
  expect(await run.exited).toBe(1);
  expect(run.stderr()).toContain('HTTP 401 who are you');
});

test('run --once delivers standard input and ends with 0', async ({ service }) => {
  const run = startRun(makeTree({}), { url: service.url, args: ['--once'] });
  await run.write(numbered(250));
  run.close();
  expect(await run.exited).toBe(0);
  expect(numbersOf(service)).toEqual(upTo(250));
});

/**
 * Every answer that a service can give, with the real agent between real files and a judge that misbehaves: accepted events arrive, refused
 * ones are in the dead letters with their place, and the accounting balances at every scrape.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FaultAnswer, FaultRequest, FaultService } from '../support/fault-service.ts';
import type { Program } from '../support/program.ts';
import {
  addressOf,
  command,
  lineOf,
  listDeadLetters,
  makeSite,
  offsetsOf,
  QUICK,
  range,
  seqOf,
  type ShippingOptions,
  type Site,
  spooledFiles,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

let site: Site;
let service: FaultService;

beforeEach(async () => {
  site = await makeSite();
  service = site.service;
});

const PIPE = { pipe: '{type: stdin}' };

function startAgent(options: ShippingOptions = {}): Program {
  return startShipping(site, { sink: `${QUICK}, batch: {max_age: 50ms, max_events: 100}`, ...options });
}

test('agent delivers everything once through answers of every kind, and its accounting balances at every scrape', async () => {
  const lines = 20_000;
  writeLines(site, lines);
  const faults: ((request: FaultRequest) => FaultAnswer)[] = [
    () => ({ status: 503 }),
    () => ({ status: 429, headers: { 'retry-after': '0' } }),
    () => ({ status: 200, body: '<html>welcome</html>' }),
    () => ({ status: 200, body: '{"ingested":1,"failed":0' }),
    () => ({ status: 301, headers: { location: 'http://127.0.0.1:1/' } }),
    () => ({ status: 204, body: '' }),
    () => ({ storeAndBreak: true }),
    () => ({ status: 408 }),
    () => ({ status: 403 }),
    ({ events }) => (events.length > 30 ? { status: 413 } : {}),
    () => ({ status: 200, body: JSON.stringify({ ingested: 1, failed: 0, failures: [] }) }),
  ];
  let requests = 0;
  service.respond = (request) => {
    requests += 1;
    return requests % 3 === 0 ? faults[(requests / 3) % faults.length]!(request) : undefined;
  };
  const agent = startAgent();
  const accounting = watchAccounting();
  onTestFinished(() => accounting.stop());
  accounting.watch(await addressOf(agent));
  await until('all lines are stored', () => service.stored.length >= lines);
  await accounting.stop();
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(accounting.scrapes).toBeGreaterThan(3);
  expect(accounting.problems).toEqual([]);
  expect(storedSeqs(site)).toEqual(range(lines));
  expect(service.misusedKeys).toEqual([]);
});

test('agent keeps events that the service names as failed, each with its place in the file, and delivers the rest', async () => {
  writeLines(site, 500);
  service.respond = ({ events }) => ({
    failed: events.flatMap((event, index) => (seqOf(event) % 50 === 7 ? [index] : [])),
  });
  const agent = startAgent({ args: ['--once'] });
  expect(await agent.exited).toBe(1);
  expect(storedSeqs(site)).toEqual(range(500).filter((seq) => seq % 50 !== 7));
  const letters = await listDeadLetters(site);
  expect(letters.map(({ seq }) => seq)).toEqual(range(500).filter((seq) => seq % 50 === 7));
  const offsets = offsetsOf(500, lineOf);
  for (const letter of letters) {
    expect(letter).toMatchObject({ source: 'app', file: site.log, status: 200, reason: 'told to refuse it' });
    expect(letter.offset).toBe(offsets[letter.seq]);
  }
});

test('agent finds the events at fault by halving where the service names none', async () => {
  writeLines(site, 400);
  const isPoison = (event: string) => seqOf(event) % 133 === 5;
  service.respond = ({ events }) => (events.some(isPoison) ? { status: 400 } : undefined);
  const agent = startAgent({ args: ['--once'] });
  expect(await agent.exited).toBe(1);
  expect(storedSeqs(site)).toEqual(range(400).filter((seq) => seq % 133 !== 5));
  const letters = await listDeadLetters(site);
  expect(letters.map(({ seq }) => seq)).toEqual([5, 138, 271]);
  expect(service.misusedKeys).toEqual([]);
});

test('dead letters are replayed through the running agent, and without one', async () => {
  writeLines(site, 200);
  service.respond = ({ events }) =>
    events.some((event) => /"seq":(42|142),/.test(event)) ? { status: 422 } : undefined;
  const agent = startAgent();
  await until('two dead letters', async () => (await listDeadLetters(site)).length === 2);
  const refused = await command(site, 'dead-letters', 'replay', '--json');
  expect(refused.code, refused.stderr()).toBe(1);
  expect(JSON.parse(refused.stdout())).toMatchObject({ replayed: 2, refused: 2 });
  expect((await listDeadLetters(site)).map(({ seq, file }) => [seq, file])).toEqual(
    [42, 142].map((seq) => [seq, site.log]),
  );
  expect(await agent.end('SIGTERM')).toBe(0);

  service.respond = () => undefined;
  const replayed = await command(site, 'dead-letters', 'replay', '--json');
  expect(replayed.code).toBe(0);
  expect(JSON.parse(replayed.stdout())).toMatchObject({ replayed: 2, refused: 0, skipped: [] });
  expect(storedSeqs(site)).toEqual(range(200));
  expect(await listDeadLetters(site)).toEqual([]);
});

test('standard input survives a service that is down, a stop and a restart, through the disk buffer', async () => {
  service.respond = () => ({ status: 503 });
  const agent = startAgent({ sources: PIPE, stdin: 'pipe' });
  agent.process.stdin!.write(
    range(5000)
      .map((seq) => `{"seq":${seq}}\n`)
      .join(''),
  );
  await until('requests', () => service.requests.length > 3);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(service.stored).toEqual([]);
  const verified = await command(site, 'buffer', 'verify');
  expect(verified.code).toBe(0);
  expect(verified.stderr()).toContain('5,000 events, 0 broken');

  service.respond = () => undefined;
  const next = startAgent({ sources: PIPE });
  expect(await next.exited).toBe(0);
  expect(storedSeqs(site)).toEqual(range(5000));
  expect(service.misusedKeys).toEqual([]);
});

test('a kill -9 while standard input is held loses nothing that was in a closed batch, and a flipped file is set aside alone', async () => {
  service.respond = () => ({ status: 503 });
  const agent = startAgent({ sources: PIPE, stdin: 'pipe' });
  agent.process.stdin!.write(
    range(1000)
      .map((seq) => `{"seq":${seq}}\n`)
      .join(''),
  );
  const spool = join(site.folder, 'agent', 'spool', 'store');
  await until('ten files', () => spooledFiles(site).length === 10);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  const flipped = join(spool, spooledFiles(site).sort()[4]!);
  const bytes = readFileSync(flipped);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(flipped, bytes);
  writeFileSync(join(spool, `${'9'.repeat(12)}-torn.batch`), 'TRSPOOL1 00');

  service.respond = () => undefined;
  const next = startAgent({ sources: PIPE });
  expect(await next.exited).toBe(0);
  expect(storedSeqs(site)).toEqual(range(1000).filter((seq) => seq < 400 || seq >= 500));
  expect(readdirSync(join(spool, 'broken'))).toHaveLength(2);
  expect(next.stderr().split('was set aside').length).toBe(3);
});

test('a refused token pauses, says so once and turns readiness false; nothing is lost', async () => {
  writeLines(site, 1000);
  service.respond = () => ({ status: 403, body: '{"code":403,"message":"Forbidden"}' });
  const agent = startAgent();
  const line = await agent.says('delivery is paused');
  expect(JSON.parse(line)).toMatchObject({
    reason: 'unauthorized',
    dataset: 'logs',
    fix: expect.stringContaining('token') as string,
  });
  const address = await addressOf(agent);
  const ready = await fetch(`${address}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({
    status: 'paused',
    paused: [{ sink: 'store', dataset: 'logs', reason: 'unauthorized', detail: 'HTTP 403 Forbidden' }],
  });
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  await until('several probes', () => service.requests.length > 6);
  service.respond = () => undefined;
  await until('all lines are stored', () => service.stored.length >= 1000);
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  expect(agent.stderr().split('delivery is paused').length).toBe(2);
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(storedSeqs(site)).toEqual(range(1000));
});

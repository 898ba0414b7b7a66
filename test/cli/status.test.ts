/** `tailrace status` about a real agent. */
import { beforeEach, expect, test } from 'vitest';
import { renderStatus } from '../../src/cli/agent/status.ts';
import { type Status, statusOf } from '../../src/telemetry/status.ts';
import {
  addressOf,
  command,
  makeSite,
  QUICK,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { observed, observedSink, observedSource } from '../telemetry/observed.ts';

let site: Site;

beforeEach(async () => {
  site = await makeSite();
});

async function ask(): Promise<{ code: number | NodeJS.Signals; status: Status }> {
  const { code, stdout } = await command(site, 'status', '--json');
  return { code, status: JSON.parse(stdout()) as Status };
}

test('status exits 0 while everything is delivered, and balances', async () => {
  writeLines(site, 10);
  const agent = startShipping(site, { sink: QUICK });
  await addressOf(agent);
  await until('all is stored', () => storedSeqs(site).length === 10);
  await until('it counts as delivered', async () => (await ask()).status.sources[0]?.delivered === 10);
  const { code, status } = await ask();
  expect(code).toBe(0);
  expect(status).toMatchObject({
    ok: true,
    accounting: { balanced: true },
    config: { hash: expect.stringMatching(/^[0-9a-f]{12}$/) },
  });
  expect(status.sources).toMatchObject([{ accepted: 10, held: 0, lagBytes: 0 }]);
  expect(status.sinks).toMatchObject([
    { state: 'delivering', ingested: 10, lastSuccess: expect.stringMatching(/^\d{4}-/) },
  ]);
  expect((await command(site, 'status')).stdout()).toContain('delivering');
  const metrics = await (await fetch(`${await addressOf(agent)}/metrics`)).text();
  expect(metrics).toContain(`tailrace_build_info{version="${status.version}",config_hash="${status.config.hash}"} 1`);
  expect(metrics).toMatch(
    /^tailrace_sink_last_success_timestamp_seconds\{sink="store"\} 1\.\d+e\+9|^tailrace_sink_last_success_timestamp_seconds\{sink="store"\} \d{10}/m,
  );
  expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m);
});

test('status exits 1 with the reason while the service is away, and while it refuses the token', async () => {
  site.service.respond = () => ({ status: 503 });
  writeLines(site, 3);
  await addressOf(startShipping(site, { sink: QUICK }));
  await until('it retries', async () => (await ask()).status.sinks[0]?.state === 'retrying');
  const away = await ask();
  expect(away.code).toBe(1);
  expect(away.status.sinks[0]).toMatchObject({
    reason: expect.stringMatching(/503/),
    lastAnswer: { status: '503' },
    answers: { 503: expect.any(Number) },
  });
  site.service.respond = () => ({ status: 403 });
  await until('it is paused', async () => (await ask()).status.sinks[0]?.state === 'paused');
  const paused = await ask();
  expect(paused.code).toBe(1);
  expect(paused.status.sinks[0]).toMatchObject({
    reason: expect.stringContaining('403'),
    fix: expect.stringMatching(/token/),
  });
});

test('status of a service that was never there: no answer yet, and what to do', async () => {
  await site.service.stop();
  writeLines(site, 3);
  await addressOf(startShipping(site, { sink: QUICK }));
  await until('it retries', async () => (await ask()).status.sinks[0]?.state === 'retrying');
  const { stdout } = await command(site, 'status');
  expect(stdout()).toContain('; no answer yet');
  expect(stdout()).toMatch(/^ {2}network: .*ECONNREFUSED.*\n {2}fix: check url, and that the service runs/m);
});

test('the screen counts one thing in the singular, and tells a missing answer from none yet', () => {
  const sink = {
    retries: new Map([['network', 1]]),
    deadLetters: new Map([['rejected', 1]]),
    requests: new Map([['none', 1]]),
  };
  const lastAnswer = { status: 'none', atMs: 0 };
  const screenOf = (changes: Parameters<typeof observedSink>[0]): string =>
    renderStatus(statusOf(observed({ sinks: [observedSink({ ...sink, lastAnswer, ...changes })] })), false);
  expect(screenOf({})).toMatch(/; 1 retry; .*; no answer yet; 1 dead letter \(rejected\)$/m);
  const requests = new Map([
    ['200', 4],
    ['none', 1],
  ]);
  expect(screenOf({ requests, retries: new Map([['network', 2]]) })).toMatch(
    /; 2 retries; .*; the last request had no answer;/,
  );
  const failure = 'network: the certificate of a is not trusted here: set tls.ca';
  expect(screenOf({ lastFailure: failure, lastFailureFix: 'set tls.ca' })).toMatch(
    /^ {2}network: .* not trusted here\n {2}fix: set tls\.ca$/m,
  );
});

// Symptoms: "150283 accepted", and "last success 2026-11-26T11:22:37.054Z" where one wants to know how long ago.
test('the screen has digits in groups, and says how long ago', () => {
  const count = 1_234_567;
  const settled = { delivered: count, dead_lettered: count, dropped: count, filtered: count };
  const source = observedSource({ accepted: 5 * count, held: count, settled, oldestHeldMs: Date.now() - 18_400 });
  const numbers = {
    stored: new Map([['logs', count]]),
    retries: new Map([['network', count]]),
    deadLetters: new Map([['rejected', count]]),
  };
  const found = statusOf(
    observed({ sources: [source], sinks: [observedSink({ ...numbers, lastStoredMs: Date.now() - 180_000 })] }),
  );
  const screen = renderStatus(found, false);
  expect(screen.match(/1,234,567/g)).toHaveLength(8);
  expect(screen).toMatch(/; oldest unsent read 18 s ago; 6,172,835 accepted, 1,234,567 delivered; /);
  expect(screen).toMatch(
    /: .*; 1,234,567 stored; 1,234,567 retries; .*; last success 3 min ago; .*; 1,234,567 dead letters \(rejected\)$/m,
  );
  expect(renderStatus(statusOf(observed({ sinks: [observedSink({ lastStoredMs: undefined })] })), false)).toContain(
    '; last success never;',
  );
});

test('status tells when the oldest event that is not stored was read, also of what the disk buffer kept over a kill', async () => {
  site.service.respond = () => ({ status: 503 });
  const options = {
    sink: `${QUICK}, batch: {max_age: 20ms}`,
    sources: { pipe: '{type: stdin}' },
    stdin: 'pipe',
  } as const;
  const agent = startShipping(site, options);
  await addressOf(agent);
  const from = Date.now();
  agent.process.stdin!.write('{"seq":0}\n');
  const oldest = async () => (await ask()).status.sources[0]?.oldestUnsent;
  await until('it is on disk', async () => ((await ask()).status.sinks[0]?.diskBytes ?? 0) > 0);
  const before = await oldest();
  expect(Date.parse(before!)).toBeGreaterThanOrEqual(from);
  await agent.end('SIGKILL');
  await addressOf(startShipping(site, options));
  expect(await oldest()).toBe(before);
  site.service.respond = () => undefined;
  await until('nothing is held', async () => (await oldest()) === undefined);
  expect(storedSeqs(site)).toEqual([0]);
});

test('status says that no agent runs, and exits 1', async () => {
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  const { code, stderr } = await command(site, 'status');
  expect(code).toBe(1);
  expect(stderr()).toContain('no agent runs');
});

/** Stack traces that a rotation cuts, with the real agent: one event, under one key, whatever ends the agent in between. */
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Program } from '../support/program.ts';
import { messagesOf, QUICK, type Site, spooledFiles, startShipping, sumOf, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const TRACE = ['E 1 no', '  at one', '  at two', '  at three', '  at four'];

/** Lines that begin an event have a capital at their beginning. */
function start(site: Site, timeout = '60s'): Program {
  const app = `{type: file, include: ["${site.folder}/logs/*.log"], scan_interval: 100ms, multiline: {start: "^[A-Z]", timeout: ${timeout}}}`;
  return startShipping(site, { sources: { app }, sink: `${QUICK}, batch: {max_age: 50ms}` });
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Starts on a file that ends within a trace; resolves once that is read, or sent to a service that loses it. */
async function begin(site: Site, isLost = false): Promise<Program> {
  if (isLost) site.service.respond = () => ({ never: 'lost' });
  writeFileSync(site.log, text(['I first', ...TRACE.slice(0, 3)]));
  const agent = start(site);
  await until(
    'the beginning is taken',
    isLost ? () => site.service.requests.length > 0 : isFollowed(agent, text(TRACE.slice(0, 3)).length),
  );
  return agent;
}

/** The file goes within a trace; the next one begins with the trace's rest. */
function rotate({ log }: Site): void {
  renameSync(log, `${log}.1`);
  writeFileSync(log, text([...TRACE.slice(3), 'I next', 'I last']));
}

/** Starts again and ends once all is stored; nothing was sent twice under a key but the same. */
async function finish(site: Site, timeout = '1s'): Promise<Program> {
  site.service.respond = () => undefined;
  const agent = start(site, timeout);
  await until('the rest is stored', () => messagesOf(site).includes('I last'));
  expect(await agent.end()).toBe(0);
  expect(messagesOf(site).toSorted()).toEqual([text(TRACE).trimEnd(), 'I first', 'I last', 'I next']);
  expect(site.service.misusedKeys).toEqual([]);
  return agent;
}

/** The trace was sent more than once, each time under its key. */
function isSentAgain({ service }: Site): void {
  const keys = service.requests.filter(({ events }) => events.some((event) => event.includes('at four'))).map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
}

const isFollowed = (agent: Program, bytes: number) => async () => (await sumOf(agent, 'tailrace_source_lag_bytes')) === bytes;
const hasJoined = (site: Site) => () => site.service.requests.some(({ events }) => events.some((event) => event.includes('at four')));

test('trace that a rotation cuts is one event', async ({ site }) => {
  const agent = await begin(site);
  rotate(site);
  await until('it is stored', hasJoined(site));
  appendFileSync(site.log, text(['I end']));
  await until('the rest is stored', () => messagesOf(site).includes('I last'));
  expect(messagesOf(site)).toEqual(['I first', text(TRACE).trimEnd(), 'I next', 'I last']);
  expect(await sumOf(agent, 'tailrace_source_lost_bytes_total')).toBe(0);
  expect(await agent.end()).toBe(0);
});

test('trace that was stored before a kill, and not acknowledged, is sent again under its key', async ({ site }) => {
  const agent = await begin(site);
  site.service.respond = () => ({ never: 'stored' });
  rotate(site);
  await until('it is stored', () => messagesOf(site).includes(text(TRACE).trimEnd()));
  await agent.end('SIGKILL');
  const before = site.service.requests.length;
  await finish(site);
  expect(messagesOf(site)).toEqual(['I first', text(TRACE).trimEnd(), 'I next', 'I last']);
  isSentAgain(site);
  expect(site.service.requests.length).toBeGreaterThan(before);
});

test('trace that is cut between the files of two dates is one event, and sent again under its key', async ({ site }) => {
  const [first, second] = ['20261121', '20261122'].map((date) => join(site.folder, `logs/app-${date}.log`));
  const agent = await begin({ ...site, log: first! });
  site.service.respond = () => ({ never: 'stored' });
  writeFileSync(second!, text([...TRACE.slice(3), 'I next', 'I last']));
  await until('it is stored', hasJoined(site));
  await agent.end('SIGKILL');
  await finish(site);
  isSentAgain(site);
});

test('trace that was not taken before a kill is put together again, also with both files rotated on', async ({ site }) => {
  const agent = await begin(site, true);
  rotate(site);
  await until('the trace is sent', hasJoined(site));
  await agent.end('SIGKILL');
  renameSync(`${site.log}.1`, `${site.log}.2`);
  renameSync(site.log, `${site.log}.1`);
  const again = await finish(site);
  expect(messagesOf(site)).toEqual(['I first', text(TRACE).trimEnd(), 'I next', 'I last']);
  expect(again.stderr()).not.toContain('are gone');
});

test('trace that is cut while the agent is stopped is one event', async ({ site }) => {
  writeFileSync(site.log, text(['I first', ...TRACE.slice(0, 3)]));
  const agent = start(site);
  await until('the first is stored', () => messagesOf(site).length === 1);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  rotate(site);
  // So that the last one is over without a timeout, which a loaded machine may need to start the agent.
  appendFileSync(site.log, text(['I end']));
  await finish(site, '60s');
  expect(messagesOf(site)).toEqual(['I first', text(TRACE).trimEnd(), 'I next', 'I last']);
});

test('trace whose first file is deleted while the service is away survives a kill in the disk buffer', async ({ site }) => {
  const agent = await begin(site, true);
  rotate(site);
  await until('the trace is sent', hasJoined(site));
  rmSync(`${site.log}.1`);
  await until('both batches are in the disk buffer', () => spooledFiles(site).length >= 2);
  await agent.end('SIGKILL');
  await finish(site);
});

test('trace whose beginning is gone after a kill: its rest is sent, the beginning is counted', async ({ site }) => {
  site.service.respond = () => ({ never: 'lost' });
  writeFileSync(site.log, text(TRACE.slice(0, 3)));
  const agent = start(site);
  await until('the file is followed', isFollowed(agent, text(TRACE.slice(0, 3)).length));
  rotate(site);
  await until('the trace is sent', hasJoined(site));
  await agent.end('SIGKILL');
  rmSync(`${site.log}.1`);
  site.service.respond = () => undefined;
  for (const timeout of ['1s', '1s']) {
    const again = start(site, timeout);
    await until('the rest is stored', () => messagesOf(site).includes('I last'));
    const lost = await sumOf(again, 'tailrace_source_lost_bytes_total');
    expect(await again.end()).toBe(0);
    expect(messagesOf(site).sort()).toEqual(['I last', 'I next', TRACE.slice(3).join('\n')].sort());
    expect(lost).toBe(again.stderr().includes('are gone') ? text(TRACE.slice(0, 3)).length : 0);
  }
  expect(site.service.misusedKeys).toEqual([]);
});

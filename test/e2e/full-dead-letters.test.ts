/** The real agent whose dead letters are full: what needs them waits and shows, all else goes on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  addressOf,
  command,
  configure,
  listDeadLetters,
  QUICK,
  range,
  type ShippingOptions,
  type Site,
  startShipping,
  sumOf,
  test,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const FULL = 'dead_letter: {max_bytes: 1KiB}';
/** One source whose events are refused, and one whose events are well; each line is a batch. */
const optionsOf = ({ folder }: Site, top = FULL): ShippingOptions => ({
  top,
  sink: `${QUICK}, concurrency: 2, batch: {max_age: 10ms, max_events: 1}`,
  sources: {
    bad: `{type: file, include: ["${folder}/logs/bad.log"], scan_interval: 100ms}`,
    good: `{type: file, include: ["${folder}/logs/good.log"], scan_interval: 100ms}`,
  },
});
const write = (site: Site, name: 'bad' | 'good', from: number, count: number): void =>
  writeLines(
    { ...site, log: join(site.folder, 'logs', `${name}.log`) },
    count,
    (seq) => `{"seq":${from + seq},"is":"${name}","pad":"${'x'.repeat(200)}"}`,
  );
const goodStored = ({ service }: Site): number =>
  service.stored.filter((event) => event.includes('"is":"good"')).length;

test('agent with full dead letters ships good events, shows waiting ones, and goes on when there is room', async ({
  site,
}) => {
  site.service.respond = ({ events }) => ({
    failed: events.flatMap((event, index) => (event.includes('"is":"bad"') ? [index] : [])),
  });
  write(site, 'bad', 0, 12);
  const agent = startShipping(site, optionsOf(site));
  const address = await addressOf(agent);
  await until('it is blocked', async () => (await fetch(`${address}/readyz`)).status === 503);
  write(site, 'good', 0, 100);
  await until('every good line is stored', () => goodStored(site) === 100);
  const ready = (await (await fetch(`${address}/readyz`)).json()) as object;
  expect(ready).toMatchObject({
    status: 'blocked',
    blocked: [
      {
        sink: 'store',
        reason: 'dead_letters_full',
        fix: expect.stringMatching(/dead-letters replay\|drop.*dead_letter\.max_bytes/),
      },
    ],
  });
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  expect(await sumOf(address, 'tailrace_dead_letters_full')).toBe(1);
  const status = await command(site, 'status');
  expect([status.code, status.stdout()]).toEqual([
    1,
    expect.stringContaining('sink store: blocked: dead letters full;'),
  ]);
  expect(status.stdout()).toMatch(/fix: .*dead-letters replay\|drop.*dead_letter\.max_bytes/);
  expect(JSON.parse((await command(site, 'status', '--json')).stdout())).toMatchObject({
    ok: false,
    sinks: [{ state: 'blocked' }],
  });

  // A replay that is refused again takes the place of its own letter.
  const before = (await listDeadLetters(site)).length;
  expect((await command(site, 'dead-letters', 'replay')).code).toBe(1);
  expect(await listDeadLetters(site)).toHaveLength(before);
  expect((await command(site, 'dead-letters', 'drop', '--all')).code).toBe(0);
  await until('more are kept', async () => (await listDeadLetters(site)).length > 0);
  configure(site, optionsOf(site, 'dead_letter: {max_bytes: 1MiB}'));
  expect((await command(site, 'reload')).code).toBe(0);
  await until('nothing waits', async () => (await command(site, 'status')).code === 0);
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  expect(await sumOf(address, 'tailrace_dead_letters_full')).toBe(0);
  expect(await agent.end('SIGTERM')).toBe(0);
  const letters = (await listDeadLetters(site)).map(({ seq }) => seq);
  expect(letters.length + before).toBe(12);
  expect(site.service.misusedKeys).toEqual([]);
});

test('agent that is killed or stopped while its dead letters are full loses nothing, and a run with --once says that it did not get through', async ({
  site,
}) => {
  site.service.respond = ({ events }) => ({
    failed: events.flatMap((event, index) => (event.includes('"is":"bad"') ? [index] : [])),
  });
  write(site, 'bad', 0, 12);
  const first = startShipping(site, optionsOf(site));
  await first.says('dead letters are full');
  await first.end('SIGKILL');
  const second = startShipping(site, optionsOf(site));
  await second.says('dead letters are full');
  expect(await second.end('SIGTERM')).toBe(0);
  const once = startShipping(site, { ...optionsOf(site), args: ['--once'] });
  expect(await once.exited).toBe(1);
  expect(once.stderr()).toContain('not everything was delivered');
  writeFileSync(join(site.folder, 'logs', 'good.log'), '');
  const last = startShipping(site, { ...optionsOf(site, 'dead_letter: {max_bytes: 1MiB}'), args: ['--once'] });
  expect(await last.exited).toBe(1);
  expect((await listDeadLetters(site)).map(({ seq }) => seq)).toEqual(range(12));
  expect(site.service.misusedKeys).toEqual([]);
});

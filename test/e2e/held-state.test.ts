/** The real agent while another process holds its database, as a shell or a backup does that began a transaction. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished } from 'vitest';
import {
  addressOf,
  command,
  configure,
  QUICK,
  range,
  type Site,
  startShipping,
  storedSeqs,
  test,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

/** Begins a transaction on the agent's database; returns what ends it. */
function hold({ folder }: Site): () => void {
  const other = new DatabaseSync(join(folder, 'agent', 'state.db'));
  onTestFinished(() => void (other.isOpen && other.close()));
  other.exec('pragma busy_timeout = 5000; begin immediate');
  return () => other.close();
}

const more = (site: Site, from: number, count: number): void =>
  writeLines(site, count, (seq) => `{"seq":${from + seq}}`);

const everySeq = (site: Site, count: number): Promise<void> =>
  until(`${count} lines are stored`, () => storedSeqs(site).length >= count).then(() => {
    expect(storedSeqs(site)).toEqual(range(count));
    expect(site.service.misusedKeys).toEqual([]);
  });

test('agent whose database another process holds stays healthy, says so, and goes on when it is free', async ({
  site,
}) => {
  writeLines(site, 100);
  // The pause between tries of a disk that refuses: a held database is asked again sooner.
  const agent = startShipping(site, { sink: 'retry: {initial_backoff: 5ms, max_backoff: 10m}' });
  const address = await addressOf(agent);
  await everySeq(site, 100);
  const release = hold(site);
  more(site, 100, 100);
  await agent.says('another process holds state.db');
  for (let times = 0; times < 10; times += 1) expect((await fetch(`${address}/healthz`)).status).toBe(200);
  const ready = await fetch(`${address}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({
    unsaved: {
      reason: expect.stringContaining('another process holds state.db'),
      fix: expect.stringContaining('fuser -v'),
    },
  });
  const status = await command(site, 'status');
  expect([status.code, status.stdout()]).toEqual([1, expect.stringContaining('another process holds state.db')]);
  // Commands that only read are not in its way; what the agent lost since may not be on disk.
  const audit = await command(site, 'audit');
  expect([audit.code, audit.stdout()]).toEqual([
    1,
    expect.stringContaining('what the agent lost may not be on disk yet'),
  ]);
  expect((await command(site, 'explain', site.log)).code).toBe(0);
  expect((await command(site, 'dead-letters', 'list')).code).toBe(0);
  expect(storedSeqs(site)).toEqual(range(100));
  release();
  await everySeq(site, 200);
  await until('it is well again', async () => (await command(site, 'status')).code === 0);
  expect(agent.stderr()).not.toContain('the process did not run for a while');
  expect(await agent.end('SIGTERM')).toBe(0);
  expect(agent.stderr()).not.toContain('repair its disk');
});

test('agent that starts while another process holds its database ships once it is free', async ({ site }) => {
  writeLines(site, 50);
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  const release = hold(site);
  more(site, 50, 50);
  const agent = startShipping(site);
  const address = await addressOf(agent);
  await agent.says('another process holds state.db');
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  release();
  await everySeq(site, 100);
  expect(await agent.end('SIGTERM')).toBe(0);
});

test('agent that stops while another process holds its database waits for it, and saves its positions', async ({
  site,
}) => {
  writeLines(site, 50);
  const agent = startShipping(site);
  await everySeq(site, 50);
  const release = hold(site);
  more(site, 50, 50);
  await agent.says('another process holds state.db');
  agent.process.kill('SIGTERM');
  await agent.says('stopping:');
  release();
  expect(await agent.exited).toBe(0);
  expect(agent.stderr()).toContain('stopped; positions are saved');
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  await everySeq(site, 100);
});

test.for(['SIGTERM', 'SIGKILL'] as const)(
  'agent that ends by %s while another process holds its database loses nothing and repeats nothing',
  async (signal, { site }) => {
    writeLines(site, 50);
    // Answers come only once the database is held, so that their settlement cannot be saved.
    let isHeld = false;
    site.service.respond = () => (isHeld ? undefined : { status: 503 });
    const agent = startShipping(site, { top: 'shutdown_timeout: 1s' });
    await until('a request', () => site.service.requests.length > 0);
    const release = hold(site);
    isHeld = true;
    await until('it is stored', () => storedSeqs(site).length >= 50);
    more(site, 50, 50);
    await agent.says('another process holds state.db');
    expect(await agent.end(signal)).toBe(signal === 'SIGTERM' ? 0 : 'SIGKILL');
    if (signal === 'SIGTERM') expect(agent.stderr()).toContain('positions could not be saved');
    release();
    configure(site, { sink: QUICK });
    expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
    await everySeq(site, 100);
  },
);

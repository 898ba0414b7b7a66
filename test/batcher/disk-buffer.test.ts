import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { DeadLetter, Outcome } from '../../src/core/sink.ts';
import { makeTree, test } from '../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';
import { settleTurns, until } from '../support/until.ts';
import { DiskRig, type DiskRigOptions } from './disk-rig.ts';
import { delivered, diskPolicy, pause, retry, stores } from './sink-rig.ts';

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** The name of a batch by its body. */
const nameIn = (body: string): string => (JSON.parse(body.slice(0, body.indexOf('\n'))) as { batch: string }).batch;
const filesIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.batch'));
const countEvents = (body: string): number => body.split('\n').length - 1;

/** Bytes of a spool file with one event and this padding. */
async function fileBytes(padding: number): Promise<number> {
  const rig = new DiskRig(makeTree({}));
  rig.take('a', 1, { padding });
  await rig.written();
  return rig.spool.bytes;
}

test('disk buffer writes each batch before it is sent, sends in order, and removes settled ones', async ({ folder }) => {
  const rig = new DiskRig(folder);
  for (const name of LETTERS) rig.take(name, 2);
  rig.checkBalance();
  for (const [index, name] of LETTERS.entries()) {
    const request = await rig.next();
    rig.checkBalance();
    if (index === 0) expect(filesIn(folder).length).toBeGreaterThan(0);
    expect(nameIn(request.body)).toBe(name);
    await request.answer(delivered(2));
    rig.checkBalance();
  }
  await rig.stop();
  expect([rig.accounting.get('net')!.settled.delivered, rig.spool.bytes, rig.budget.usedBytes, filesIn(folder)]).toEqual([12, 0, 0, []]);
});

test.for(['none', 'gzip', 'zstd'] as const)(
  'disk buffer lets batches leave memory while the service is away, and brings them back in order (%s)',
  async (compression) => {
    const rig = new DiskRig(makeTree({}), { compression });
    for (const name of LETTERS) rig.take(name, 3, { padding: 5000 });
    await rig.written();
    const first = await rig.next();
    // The batch in flight, and the next one.
    expect(rig.delivery.held().filter(({ payload }) => payload.body.length > 0)).toHaveLength(2);
    await first.answer(pause(), 401);
    await until(
      'all are out of memory but the next',
      () => rig.delivery.held().filter(({ payload }) => payload.body.length > 0).length <= 1,
    );
    const { usedBytes } = rig.budget;
    expect(usedBytes).toBe(rig.delivery.held().reduce((sum, { payload }) => sum + payload.memory, 0));
    rig.checkBalance();
    rig.respond = stores;
    await rig.clock.advance(1000);
    await until('all is delivered', () => rig.accounting.get('net')!.settled.delivered === 18);
    expect(rig.requests.map(({ body }) => nameIn(body))).toEqual(['a', ...LETTERS]);
    expect(rig.requests[1]!.body).toBe(rig.requests[0]!.body);
    expect(rig.budget.usedBytes).toBe(0);
    rig.checkBalance();
  },
);

// Symptom: with the service away the agent's memory grew by 230 bytes for each event of connections that sent by turns, until it ended; so did the next
// start. Cause: a batch out of memory kept a span for each of them. Fix: its file has them; what the accounting needs is one run of events a source.
test.for(['before', 'after'] as const)(
  'disk buffer keeps one run of events a source of a batch that is out of memory (%s a restart)',
  async (when) => {
    const folder = makeTree({});
    const letters: DeadLetter[] = [];
    const bury = (_: string, some: readonly DeadLetter[]) => (letters.push(...some), 'kept' as const);
    let rig = new DiskRig(folder, { deadLetter: bury });
    for (const name of ['first', 'next']) rig.take(name);
    const events = 90;
    rig.take('many', events, { byTurns: ['a', 'b', 'b'] });
    await rig.written();
    let first = await rig.next();
    if (when === 'after') {
      await rig.stop();
      rig = new DiskRig(folder, { deadLetter: bury });
      await rig.buffer.recover();
      first = await rig.next();
    }
    await first.answer(pause(), 401);
    await until('they wait', () => rig.delivery.pauses.size === 1 && rig.delivery.held().length === 3);
    const [, , many] = rig.delivery.held();
    expect([many!.payload.body.length, ...many!.spans.map(({ source, events: count }) => [source, count])]).toEqual([
      0,
      ['a', 30],
      ['b', 60],
    ]);
    rig.checkBalance();
    // The 46th event is the 16th of `a`.
    const failures = [{ index: 45, timestamp: '', error: 'not this one' }];
    const partial: Outcome = { kind: 'partial', stored: events - 1, failed: 1, failures, detail: '1 of 90 events was rejected' };
    rig.respond = ({ parcel }) => ({ outcome: parcel.events === 1 ? delivered(1) : partial });
    await rig.clock.advance(1000);
    await until('all is settled', () => rig.delivery.held().length === 0);
    rig.checkBalance();
    expect(letters).toMatchObject([{ source: 'a', stream: 'many 45', spanOffset: 4500, eventInSpan: 0 }]);
    expect(['a', 'b'].map((source) => rig.accounting.get(source)!.settled)).toMatchObject([
      { delivered: 29, dead_lettered: 1 },
      { delivered: 60, dead_lettered: 0 },
    ]);
  },
);

test('disk buffer takes at most half of the memory for what waits to be written, and says when it wants more', async () => {
  const rig = new DiskRig(makeTree({}), { maxBytes: 1, budget: 4096 });
  for (const name of ['sent', 'next']) rig.take(name);
  rig.take('waits', 1, { padding: 1050 });
  await until('the first waits for its answer, the second for the worker', () => rig.delivery.held().length === 2);
  expect(rig.queue.wantsMore('logs', false)).toBe(true);
  rig.take('waits, too', 1, { padding: 1050 });
  expect(rig.queue.wantsMore('logs', false)).toBe(false);
  let isWoken = false;
  void rig.budget
    .wait(
      () => false,
      () => rig.queue.wantsMore('logs', false),
    )
    .then(() => (isWoken = true));
  rig.respond = () => ({ outcome: delivered(1) });
  await rig.open.shift()!.answer(delivered(1));
  await until('there is room again', async () => {
    await rig.clock.advance(1000);
    return isWoken;
  });
});

// Symptom: a source stopped reading after two batches while the service hung, although the disk buffer was almost empty.
// Cause: the batches that were about to be sent kept their slots, and there were no others. Fix: they leave memory, too.
test('disk buffer keeps nothing in memory that is on disk while there is no slot for others', async () => {
  const rig = new DiskRig(makeTree({}), { slots: 0, concurrency: 2 });
  for (const name of LETTERS) rig.take(name, 1, { padding: 5000 });
  await rig.written();
  await until('two are on their way', () => rig.open.length === 2);
  // Those were loaded from their files.
  expect(rig.delivery.held().map(({ payload }) => payload.body.length > 0)).toEqual([true, true, false, false, false, false]);
  expect(rig.budget.usedBytes).toBe(rig.delivery.held().reduce((sum, { payload }) => sum + payload.memory, 0));
  rig.respond = stores;
  for (const request of rig.open.splice(0)) await request.answer(delivered(1));
  await until('all arrive', () => rig.accounting.get('net')!.settled.delivered === 6);
  expect(rig.budget.usedBytes).toBe(0);
});

// Symptom: after a restart with compression switched on, and a pause, a batch was sent as if compressed although it was not,
// and could not be split either. Cause: it had been compressed in memory, left it, and came back as its file has it. Fix: the
// encoding comes back with the body.
test('disk buffer brings a batch back in the encoding of its file', async ({ folder }) => {
  const before = new DiskRig(folder);
  before.take('a', 2);
  await before.written();
  await before.stop();
  const rig = new DiskRig(folder, { compression: 'gzip' });
  await rig.buffer.recover();
  await (await rig.next()).answer(pause(), 401);
  expect(rig.delivery.held()[0]!.payload.body).toHaveLength(0);
  await rig.clock.advance(1000);
  const again = await rig.next();
  expect([nameIn(again.body), countEvents(again.body)]).toEqual(['a', 2]);
});

test.for(['block', 'drop_newest', 'drop_oldest'] as const)(
  'disk buffer that is full does %s, and its accounting balances',
  async (whenFull) => {
    const each = await fileBytes(500);
    const folder = makeTree({});
    const rig = new DiskRig(folder, { whenFull, maxBytes: 3 * each + 10 });
    for (const name of LETTERS) {
      rig.take(name, 1, { padding: 500 });
      rig.checkBalance();
      if (name !== 'a') continue;
      // In flight from now on: no policy takes it away.
      await until('the first request', () => rig.open.length === 1);
    }
    await (whenFull === 'block' ? until('it is full', () => rig.queue.isFull) : rig.written());
    await settleTurns();
    rig.checkBalance();
    expect(rig.queue.isFull).toBe(whenFull !== 'drop_oldest');
    expect(rig.log.find('error', 'takes no more')).toHaveLength(1);
    expect(rig.spool.bytes).toBeLessThan(4 * each);
    const settled = rig.accounting.get('net')!.settled;
    const kept = rig.delivery.held().map((batch) => batch.spans[0]!.firstEvent);
    const expected = {
      block: { dropped: 0, kept: [0, 1, 2], waiting: 3 },
      drop_newest: { dropped: 3, kept: [0, 1, 2], waiting: 0 },
      drop_oldest: { dropped: 3, kept: [0, 4, 5], waiting: 0 },
    }[whenFull];
    expect({ dropped: settled.dropped, kept, waiting: rig.queue.in('recovered', 'writing').length }).toEqual(expected);
    // The service is back: everything that was not dropped arrives, in order.
    rig.respond = stores;
    await rig.open.shift()!.answer(delivered(1));
    await until('the rest goes out', async () => {
      await rig.clock.advance(1000);
      rig.checkBalance();
      return settled.delivered + settled.dropped === 6;
    });
    expect(rig.requests.map(({ body }) => nameIn(body))).toEqual(
      { block: LETTERS, drop_newest: ['a', 'b', 'c'], drop_oldest: ['a', 'e', 'f'] }[whenFull],
    );
    await rig.stop();
    expect([rig.budget.usedBytes, rig.spool.bytes, filesIn(folder)]).toEqual([0, 0, []]);
  },
);

test('disk buffer takes what waits once a reload raises its limit, and drops once one says so', async () => {
  const each = await fileBytes(500);
  const rig = new DiskRig(makeTree({}), { maxBytes: each + 10 });
  for (const name of ['a', 'b', 'c']) rig.take(name, 1, { padding: 500 });
  await until('it is full', () => rig.queue.isFull);
  await until('it waits', () => rig.clock.sleeping > 0);
  rig.queue.settings = { concurrency: 1, policy: diskPolicy(3 * each + 10, 'drop_newest') };
  await until('they are on disk', async () => {
    await rig.clock.advance(1000);
    return rig.spool.bytes > 2 * each;
  });
  await rig.written();
  expect(rig.accounting.get('net')!.settled.dropped).toBe(0);
  for (const name of ['d', 'e', 'f', 'g']) rig.take(name, 1, { padding: 500 });
  await until('some are dropped', () => rig.accounting.get('net')!.settled.dropped > 0);
  await rig.written();
  rig.checkBalance();
  await rig.stop();
});

// Symptom: while the service was away and events came in, drop_oldest logged fifteen lines a second. Cause: each batch found the buffer
// full and made room, and both were logged. Fix: at most one line a minute, and at last the final state.
test('disk buffer that drops under a flood says so once a minute, not for each batch', async () => {
  const each = await fileBytes(500);
  const rig = new DiskRig(makeTree({}), { whenFull: 'drop_oldest', maxBytes: 3 * each + 10 });
  const told = () => ['takes no more', 'takes batches again'].map((text, n) => rig.log.find(n === 0 ? 'error' : 'info', text).length);
  const flood = async () => {
    for (const name of LETTERS) rig.take(name, 1, { padding: 500 });
    await rig.written();
  };
  await flood();
  await flood();
  expect(told()).toEqual([1, 1]);
  await rig.clock.advance(61_000);
  await flood();
  expect(told()).toEqual([2, 2]);
  expect(rig.accounting.get('net')!.settled.dropped).toBe(15);
  rig.checkBalance();
});

test('disk buffer never drops a batch in flight, even where nothing else is left to drop', async () => {
  const each = await fileBytes(500);
  const rig = new DiskRig(makeTree({}), { whenFull: 'drop_oldest', maxBytes: each + 10 });
  rig.take('a', 1, { padding: 500 });
  const first = await rig.next();
  for (const name of ['b', 'c', 'd']) rig.take(name, 1, { padding: 500 });
  await until('it is full', () => rig.queue.isFull);
  await rig.clock.advance(5000);
  rig.checkBalance();
  expect(rig.accounting.get('net')!.settled.dropped).toBe(0);
  rig.respond = stores;
  await first.answer(delivered(1));
  await until('all arrive', async () => {
    await rig.clock.advance(1000);
    return rig.accounting.get('net')!.settled.delivered === 4;
  });
  rig.checkBalance();
});

test('disk buffer on a full disk waits, says so once, and goes on by itself when there is room', async () => {
  const disk = mountTmpfs(256);
  const rig = new DiskRig(join(disk, 'spool'));
  rig.take('a');
  const first = await rig.next();
  const free = fillDisk(disk);
  for (const name of ['b', 'c', 'd']) rig.take(name, 1, { padding: 10_000 });
  await until('it is full', () => rig.queue.isFull);
  // The first one that finds no room waits in memory for a worker; the rest wait behind it.
  await until('it waits', () => rig.clock.sleeping > 0);
  for (let i = 0; i < 3; i++) await rig.clock.advance(1000);
  await until('it waits again', () => rig.clock.sleeping > 0);
  expect(rig.clock.sleeping).toBe(1);
  rig.checkBalance();
  expect(rig.log.find('error', 'takes no more')).toHaveLength(1);
  free();
  await until('it takes batches again', async () => {
    await rig.clock.advance(1000);
    return !rig.queue.isFull;
  });
  await rig.written();
  expect(rig.log.find('info', 'takes batches again')).toHaveLength(1);
  rig.respond = stores;
  await first.answer(delivered(1));
  await until('all arrive', () => rig.accounting.get('net')!.settled.delivered === 4);
  expect(rig.requests.map(({ body }) => nameIn(body))).toEqual(['a', 'b', 'c', 'd']);
  rig.checkBalance();
});

test('disk buffer with drop_oldest on a full disk drops no more than it needs', async () => {
  const disk = mountTmpfs(256);
  const rig = new DiskRig(join(disk, 'spool'), { whenFull: 'drop_oldest' });
  for (const name of LETTERS) rig.take(name, 1, { padding: 20_000 });
  await rig.written();
  fillDisk(disk);
  rig.take('new', 1, { padding: 18_000 });
  await rig.written();
  rig.checkBalance();
  expect(rig.accounting.get('net')!.settled.dropped).toBe(1);
  expect(rig.delivery.held().map((batch) => batch.spans[0]!.firstEvent)).toEqual([0, 2, 3, 4, 5, 6]);
});

test('disk buffer with drop_oldest drops no more than it needs for several that come at once', async () => {
  const disk = mountTmpfs(256);
  const rig = new DiskRig(join(disk, 'spool'), { whenFull: 'drop_oldest' });
  for (const name of LETTERS) rig.take(name, 1, { padding: 20_000 });
  await rig.written();
  fillDisk(disk);
  rig.take('new', 1, { padding: 20_000 });
  // What one of those before leaves is enough for both.
  for (const name of ['newer', 'newest']) rig.take(name, 1, { padding: 7_000 });
  await rig.written();
  expect(rig.accounting.get('net')!.settled.dropped).toBe(2);
});

test('disk buffer that stops writes over its limit what still waits', async () => {
  const each = await fileBytes(500);
  const folder = makeTree({});
  const rig = new DiskRig(folder, { maxBytes: 2 * each + 10 });
  for (const name of LETTERS) rig.take(name, 1, { padding: 500 });
  await until('it is full', () => rig.queue.in('recovered', 'writing').length === 4 && rig.queue.isFull);
  await rig.stop();
  rig.checkBalance();
  expect(rig.delivery.held().every(({ isDurable }) => isDurable)).toBe(true);
  const next = new DiskRig(folder);
  expect(await next.buffer.recover()).toBe(6);
  next.respond = stores;
  await until('all arrive', () => next.accounting.get('net')!.settled.delivered === 6);
  expect(next.requests.map(({ body }) => nameIn(body))).toEqual(LETTERS);
});

// Symptom: SIGTERM with the service down lost a few batches although the disk had room, and ended with 1. Cause: a batch that
// delivery had taken from memory, because the buffer was full, was not written at the stop. Fix: it is, over the limit.
test('disk buffer that stops writes the batches taken from memory while it was full, with the parts that are left', async ({ folder }) => {
  const rig = new DiskRig(folder, { maxBytes: 10, concurrency: 2 });
  rig.take('a', 4);
  rig.take('b', 1);
  const [a, b] = [await rig.next(), await rig.next()];
  rig.take('c', 1);
  await until('it waits in memory', () => rig.delivery.held().length === 3);
  expect(filesIn(folder)).toEqual([]);
  await a.answer({ kind: 'halve', detail: 'too large' }, 413);
  const half = await rig.next();
  expect(half.body.split('\n').length - 1).toBe(2);
  await half.answer(delivered(2));
  await b.answer(retry('network'), 0);
  const left = (await rig.next()).parcel.key;
  await rig.stop();
  rig.checkBalance();
  expect(rig.delivery.held().map(({ isDurable }) => isDurable)).toEqual([true, true, true]);
  const next = new DiskRig(folder);
  await next.buffer.recover();
  next.respond = stores;
  await until('all arrive', () => next.delivery.held().length === 0);
  const byName = Object.groupBy(next.requests, ({ body }) => nameIn(body));
  expect(byName['a']!.map(({ parcel, body }) => [parcel.key, countEvents(body)])).toEqual([[left, 2]]);
  expect([byName['b'], byName['c']].map((requests) => requests?.length)).toEqual([1, 1]);
});

test('disk buffer counts what it recovers as accepted again, also of a source that is not configured any more', async ({ folder }) => {
  const before = new DiskRig(folder);
  before.take('a', 2, { source: 'net' });
  before.take('b', 3, { source: 'former' });
  await before.written();
  const keys = before.delivery.held().map(({ key }) => key);
  const rig = new DiskRig(folder);
  expect(await rig.buffer.recover()).toBe(2);
  expect([...rig.accounting.values()].map(({ source, accepted }) => [source, accepted])).toEqual([
    ['net', 2],
    ['former', 3],
  ]);
  rig.checkBalance();
  rig.respond = stores;
  await until('all arrive', () => rig.delivery.held().length === 0);
  expect(rig.requests.map(({ parcel }) => parcel.key)).toEqual(keys);
  expect([...rig.accounting.values()].map(({ settled }) => settled.delivered)).toEqual([2, 3]);
  await rig.stop();
  expect(filesIn(folder)).toEqual([]);
});

test.for([
  ['damaged', (file: string) => writeFileSync(file, 'damaged')],
  ['removed', (file: string) => rmSync(file)],
] as const)('disk buffer counts the events of a file that was %s after its recovery as dropped, and sends the others', async ([, harm]) => {
  const folder = makeTree({});
  const before = new DiskRig(folder);
  for (const name of ['a', 'b', 'c']) before.take(name, 2);
  await before.written();
  const rig = new DiskRig(folder);
  await rig.buffer.recover();
  // The first one is in flight, the others are on disk only.
  const first = await rig.next();
  harm(join(folder, filesIn(folder)[1]!));
  rig.respond = stores;
  await first.answer(delivered(2));
  await until('nothing is held', () => rig.delivery.held().length === 0);
  rig.checkBalance();
  expect(rig.accounting.get('net')!.settled).toMatchObject({ delivered: 4, dropped: 2 });
  expect(rig.requests.map(({ body }) => nameIn(body))).toEqual(['a', 'c']);
  expect(rig.log.find('error', 'counted as dropped')).toHaveLength(1);
  await rig.stop();
  expect([rig.spool.bytes, rig.budget.usedBytes]).toEqual([0, 0]);
});

test.for<[string, DiskRigOptions]>([
  ['in order', {}],
  ['by several workers', { concurrency: 3 }],
])('disk buffer takes batches while it writes others, %s, and loses none', async ([, options]) => {
  const rig = new DiskRig(makeTree({}), options);
  rig.respond = stores;
  for (let i = 0; i < 60; i++) {
    rig.take(`${i}`);
    rig.checkBalance();
    await settleTurns(i % 7);
  }
  await until('all arrive', () => rig.accounting.get('net')!.settled.delivered === 60);
  const sent = rig.requests.map(({ body }) => Number(nameIn(body)));
  expect(options.concurrency ? sent.toSorted((a, b) => a - b) : sent).toEqual(Array.from({ length: 60 }, (_, i) => i));
});

test.for(['keepDeleted', 'spill'] as const)(
  'disk buffer keeps no file of a batch that was settled while it was written (%s)',
  async (how) => {
    const folder = makeTree({});
    const rig = new DiskRig(folder);
    const batch = rig.take('a', 2, { isOfFile: true });
    const request = await rig.next();
    if (how === 'spill') rig.queue.workers.spill(batch);
    else rig.buffer.keepDeleted(batch);
    await request.answer(delivered(2));
    await until('it is settled', () => batch.state === 'settled');
    await rig.stop();
    expect([rig.spool.bytes, filesIn(folder), rig.budget.usedBytes]).toEqual([0, [], 0]);
    expect(rig.accounting.get('net')!.settled.delivered).toBe(2);
  },
);

test('disk buffer keeps the file of an adopted batch that was settled while it was written, until that is saved', async ({ folder }) => {
  const rig = new DiskRig(folder);
  const batch = rig.take('a', 2, { isOfFile: true });
  const request = await rig.next();
  const saved = vi.spyOn(rig.keeper, 'settle').mockImplementation(() => {});
  rig.buffer.keepDeleted(batch);
  await request.answer(delivered(2));
  await until('it is settled', () => batch.state === 'settled');
  await until('it is written', () => batch.spoolName !== undefined);
  expect(filesIn(folder)).toHaveLength(1);
  saved.mockRestore();
  rig.keeper.settle(batch);
  await rig.stop();
  expect([rig.spool.bytes, filesIn(folder)]).toEqual([0, []]);
});

test('disk buffer says ever less often that the disk does not take an adopted batch, and takes it once it does', async () => {
  const rig = new DiskRig(makeTree({}));
  const batch = rig.take('a', 2, { isOfFile: true });
  const request = await rig.next();
  const write = vi.spyOn(rig.spool, 'write').mockRejectedValue(new Error('no space left'));
  rig.buffer.keepDeleted(batch);
  for (let tries = 1; tries < 20; tries += 1) {
    await until(`try ${tries}`, () => write.mock.calls.length === tries);
    await settleTurns();
    await rig.clock.advance(1000);
  }
  expect(rig.log.find('error', 'cannot be written to the disk buffer')).toHaveLength(5);
  write.mockRestore();
  await rig.clock.advance(1000);
  await until('it is written', () => batch.spoolName !== undefined);
  await request.answer(delivered(2));
  await rig.stop();
});

test('disk buffer leaves a batch of a file in memory while it is being sent, and takes its file away once it is settled', async ({
  folder,
}) => {
  const rig = new DiskRig(folder);
  const batch = rig.take('a', 2, { isOfFile: true });
  const first = await rig.next();
  rig.queue.workers.spill(batch);
  await until('it is on disk', () => batch.spoolName !== undefined);
  expect([batch.payload.body.length > 0, rig.budget.usedBytes]).toEqual([true, batch.payload.memory]);
  await first.answer(retry('network'), 0);
  await rig.clock.advance(1000);
  const again = await rig.next();
  expect(again.body).toBe(first.body);
  await again.answer(delivered(2));
  await rig.stop();
  expect([rig.spool.bytes, filesIn(folder), rig.budget.usedBytes]).toEqual([0, [], 0]);
});

test('disk buffer holds batches of files to a limit that a reload lowered', async ({ folder }) => {
  const rig = new DiskRig(folder);
  rig.queue.settings = { concurrency: 1, policy: diskPolicy(0) };
  const batch = rig.take('a', 2, { isOfFile: true });
  const request = await rig.next();
  const [compress, write] = [vi.spyOn(rig.delivery, 'compress'), vi.spyOn(rig.spool, 'write')];
  rig.queue.workers.spill(batch);
  rig.buffer.keepDeleted(batch);
  await until('both were tried', () => compress.mock.calls.length >= 2);
  await settleTurns();
  expect(write).not.toHaveBeenCalled();
  rig.queue.settings = { concurrency: 1, policy: diskPolicy() };
  await rig.clock.advance(1000);
  await until('it is written', () => batch.spoolName !== undefined);
  await request.answer(delivered(2));
  await rig.stop();
});

/** What a batch goes through that the service takes: committed before it is sent, sent once, settled, and counted. */
import PQueue from 'p-queue';
import { test as base, expect, onTestFinished, vi } from 'vitest';
import { decode } from '../../src/batcher/events.ts';
import { ShapingOutcomes } from '../../src/batcher/shaping-outcomes.ts';
import { settleTurns, until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered, pause, retry, stores } from './sink-rig.ts';

/** Each test begins with a delivery as it is by default. */
const test = base.extend('rig', () => new DeliveryRig());

test('delivery commits a batch, sends it, and settles it when it is stored', async ({ rig }) => {
  rig.seal('a', 3);
  const request = await rig.next();
  expect(request.events).toEqual(['{"batch":"a","n":0}', '{"batch":"a","n":1}', '{"batch":"a","n":2}']);
  expect(request.sent).toMatchObject({ dataset: 'logs', events: 3, encoding: 'identity' });
  expect([rig.accounting.settled.delivered, rig.accountedFor]).toEqual([0, 3]);
  await request.answer(delivered(3));
  expect(rig.trace).toEqual(['commit a', 'send a', 'settle a']);
  expect(rig.accounting.settled).toMatchObject({ delivered: 3 });
  expect([rig.delivery.queue.sending, rig.budget.usedBytes]).toEqual([[], 0]);
  expect(rig.delivery.stats).toMatchObject({ sentBytes: request.sent.body.length });
  expect([...rig.delivery.stats.facts]).toEqual([
    ['toy_bytes_total', 30],
    ['toy_length', 3],
  ]);
  expect(rig.delivery.stats.requests).toEqual(new Map([['200', 1]]));
  expect(rig.delivery.stats.stored).toEqual(new Map([['logs', 3]]));
});

// Symptom: each batch in the disk buffer took 5 KB of memory while the service was away. Cause: half of it was a ticket of the workers' queue. Fix: there is
// one for each worker, not for each batch.
test('delivery asks for no more workers than there may be, however many batches wait, and sends all of them', async () => {
  const asked = vi.spyOn(PQueue.prototype, 'add');
  onTestFinished(() => asked.mockRestore());
  const rig = new DeliveryRig({ concurrency: 2 });
  const batches = 300;
  for (let i = 0; i < batches; i++) rig.seal(`b${i}`);
  const first = [await rig.next(), await rig.next()];
  expect(asked.mock.calls.length).toBeLessThanOrEqual(4);
  await first[0]!.answer(pause(), 403);
  await first[1]!.answer(pause(), 403);
  await rig.clock.advance(1000);
  await (await rig.next()).answer(delivered(1));
  for (let i = 1; i < batches; i++) await (await rig.next()).answer(delivered(1));
  expect(rig.accounting.settled.delivered).toBe(batches);
  expect([rig.delivery.queue.sending, rig.budget.usedBytes]).toEqual([[], 0]);
});

test.for(['gzip', 'zstd'] as const)(
  'delivery compresses with %s within the memory of the batch, and gives it back',
  async (compression) => {
    const rig = new DeliveryRig({ compression });
    const events = [`{"message":"${'x'.repeat(50_000)}"}`];
    const batch = rig.seal('a', 1, { events });
    const before = rig.budget.usedBytes;
    const request = await rig.next();
    expect(request.sent.encoding).toBe(compression);
    expect(request.events).toEqual(events);
    expect(request.sent.body.buffer).toBe(batch.payload.body.buffer);
    expect(rig.budget.usedBytes).toBe(before);
    await request.answer(retry('network'), 0);
    await rig.clock.advance(1000);
    const again = await rig.next();
    expect(Buffer.from(again.sent.body).equals(Buffer.from(request.sent.body))).toBe(true);
    await again.answer(delivered(1));
    expect(rig.budget.usedBytes).toBe(0);
  },
);

// Symptom: a batch of a deleted file could reach the service, or the disk, with a broken body. Cause: two compressed it at once, in its
// own memory. Fix: the second waits for the first.
test('delivery compresses a batch once, whoever else asks for it meanwhile', async () => {
  const rig = new DeliveryRig({ compression: 'gzip' });
  const events = Array.from({ length: 5000 }, (_, n) => `{"n":${n},"id":"${crypto.randomUUID()}"}`);
  const batch = rig.seal('a', events.length, { events });
  // In every turn until it is done, so that some would begin just before.
  const asked: Promise<void>[] = [];
  while (batch.payload.encoding === 'identity') {
    asked.push(rig.delivery.compress(batch));
    await settleTurns(1);
  }
  await Promise.all(asked);
  const request = await rig.next();
  expect(request.sent.encoding).toBe('gzip');
  expect(decode(request.sent.body, 'gzip').toString().trimEnd().split('\n')).toEqual(events);
});

test('delivery sends what compression makes larger as it is', async () => {
  const rig = new DeliveryRig({ compression: 'gzip' });
  rig.seal('a', 1, { events: ['7'] });
  const request = await rig.next();
  expect([request.sent.encoding, request.events]).toEqual(['identity', ['7']]);
});

test('delivery counts the memory of parts while they are in flight', async () => {
  const rig = new DeliveryRig({ compression: 'gzip' });
  const events = [1, 2].map((n) => `{"n":${n},"message":"${'x'.repeat(50_000)}"}`);
  rig.seal('a', 2, { events });
  const before = rig.budget.usedBytes;
  await (await rig.next()).answer({ kind: 'halve', detail: 'HTTP 413' }, 413);
  const half = await rig.next();
  expect(rig.budget.usedBytes).toBe(before + half.sent.body.length + events.join('\n').length + 1);
  await half.answer(delivered(1));
  await (await rig.next()).answer(delivered(1));
  expect(rig.budget.usedBytes).toBe(0);
});

test('delivery has the parts that are left on disk before each request for one of them', async ({ rig }) => {
  rig.respond = ({ sent, events }) =>
    events.some((event) => event.includes('"n":6'))
      ? { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 }
      : { outcome: delivered(sent.events) };
  rig.seal('a', 9);
  await until('it is settled', () => rig.trace.includes('settle a'));
  const sends = rig.trace.flatMap((what, index) => (what.startsWith('send') ? [index] : []));
  expect(sends.length).toBeGreaterThan(4);
  sends.slice(1).forEach((at, n) => {
    const [first] = /\d+\+\d+/.exec(rig.trace[at - 1]!) ?? [];
    const { events } = rig.requests[n + 1]!;
    expect([rig.trace[at - 1], first]).toEqual([
      expect.stringMatching(/^parts of a: /),
      `${(JSON.parse(events[0]!) as { n: number }).n}+${events.length}`,
    ]);
  });
});

// Symptom: a low-water mark was beyond a batch that was not settled. Cause: waiting batches were committed before older ones in flight, and
// a mark takes spans in the order of their commit. Fix: those in flight come first.
test('delivery commits batches in the order in which they were closed', async () => {
  for (const compression of ['none', 'gzip'] as const) {
    for (const concurrency of [1, 2, 4]) {
      const rig = new DeliveryRig({ compression, concurrency });
      const names = Array.from({ length: 9 }, (_, i) => `b${i}`);
      for (const name of names) rig.seal(name);
      await until('all are committed', () =>
        rig.trace.some((each) => each.startsWith('commit') && each.endsWith('b8')),
      );
      const committed = rig.trace
        .filter((each) => each.startsWith('commit'))
        .flatMap((each) => each.slice('commit '.length).split(','));
      expect(committed).toEqual(names);
      rig.respond = stores;
      for (const request of rig.open.splice(0)) await request.answer(delivered(1));
      await rig.delivery.drain(new AbortController().signal);
      for (const name of names)
        expect(rig.trace.indexOf(`send ${name}`)).toBeGreaterThan(
          rig.trace.findIndex((each) => each.startsWith('commit')),
        );
    }
  }
});

test('delivery commits what waits together with the batch that is sent first', async () => {
  const rig = new DeliveryRig({ compression: 'gzip' });
  for (const name of ['a', 'b', 'c']) rig.seal(name);
  await rig.next();
  expect(rig.trace).toEqual(['commit a,b,c', 'send a']);
});

test('delivery settles events that cannot be reread, too', async ({ rig }) => {
  rig.seal('live', 2, { rereadable: false });
  await (await rig.next()).answer(delivered(2));
  expect(rig.accounting.settled.delivered).toBe(2);
});

test('delivery sends nothing while the disk refuses to commit, says so, and goes on by itself', async () => {
  const rig = new DeliveryRig({ concurrency: 2 });
  rig.diskFails = true;
  rig.seal('a');
  rig.seal('b');
  await until('the refusal', () => rig.clock.sleeping > 0);
  await rig.clock.advance(5000);
  expect(rig.requests).toEqual([]);
  expect(rig.accountedFor).toBe(2);
  expect(rig.log.find('error', 'cannot save')[0]?.fields).toMatchObject({ reason: 'database or disk is full' });
  rig.diskFails = false;
  await rig.clock.advance(1000);
  await until('both are sent', () => rig.open.length === 2);
  expect(rig.trace[0]).toBe('commit a,b');
});

test('delivery wants more from files while fewer batches wait than half of its workers', async () => {
  const rig = new DeliveryRig({ concurrency: 4 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) rig.seal(name);
  await until('four requests', () => rig.open.length === 4);
  expect(rig.queue.wantsMore('logs', true)).toBe(true);
  rig.seal('f');
  expect(rig.queue.wantsMore('logs', true)).toBe(false);
});

test('delivery settles a batch without events without sending it', async ({ rig }) => {
  rig.seal('empty', 0, { events: [] });
  await until('it is settled', () => rig.trace.includes('settle empty'));
  expect(rig.requests).toEqual([]);
  expect(rig.delivery.queue.sending).toEqual([]);
});

test('delivery of a batch of which everything is filtered sends nothing, and settles it once its spans are committed', async ({
  rig,
}) => {
  const batch = rig.seal('a', 0, { events: [] });
  batch.spans[0]!.events = 3;
  batch.accepted = 3;
  batch.outcomes = new ShapingOutcomes();
  batch.outcomes.add(3, 0, 'filtered');
  rig.accounting.accept(3, 1);
  await until('it is settled', () => rig.delivery.queue.sending.length === 0);
  expect(rig.trace).toEqual(['commit a', 'settle a']);
  expect(rig.requests).toEqual([]);
  expect(rig.accounting.settled).toEqual({ delivered: 0, dead_lettered: 0, dropped: 0, filtered: 3 });
  expect(rig.budget.usedBytes).toBe(0);
});

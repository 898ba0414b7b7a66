/** Requests that fail: when each is sent again, what the service asks for, and what the log says meanwhile. */
import { test as base, expect } from 'vitest';
import { until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered, pause, retry } from './sink-rig.ts';

/** Each test begins with a delivery as it is by default. */
const test = base.extend('rig', () => new DeliveryRig());

test.for(['rate_limited', 'timeout', 'server_error', 'network', 'bad_answer'] as const)(
  'delivery sends the same events under the same key after %s, once the backoff is over',
  async (reason) => {
    const rig = new DeliveryRig();
    rig.seal('a', 2);
    const first = await rig.next();
    await first.answer(retry(reason), 0);
    expect(rig.clock.sleeps).toEqual([50]);
    await rig.clock.advance(49);
    expect(rig.requests).toHaveLength(1);
    await rig.clock.advance(1);
    const second = await rig.next();
    expect(second.sent.key).toBe(first.sent.key);
    expect(second.events).toEqual(first.events);
    expect(rig.delivery.stats.retries).toEqual(new Map([[reason, 1]]));
    expect([rig.accounting.settled.delivered, rig.accountedFor]).toEqual([0, 2]);
    await second.answer(delivered(2));
    expect(rig.accounting.settled.delivered).toBe(2);
    // Committed once, however often it is sent.
    expect(rig.trace).toEqual(['commit a', 'send a', 'send a', 'settle a']);
  },
);

test('delivery backs off longer and longer up to the maximum, and says so now and then', async () => {
  const rig = new DeliveryRig({ random: () => 0.9999 });
  rig.respond = () => ({ outcome: retry('server_error'), status: 503 });
  rig.seal('a');
  await until('the first wait', () => rig.clock.sleeps.length === 1);
  for (let i = 0; i < 19; i++) await rig.clock.advance(rig.clock.nextMs);
  expect(rig.clock.sleeps.slice(0, 7)).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
  expect(rig.requests).toHaveLength(20);
  expect(rig.log.find('warn', 'sent again')).toHaveLength(3);
});

// Symptom: the log of an outage ended in "a batch is sent again", long after all was stored. Cause: nothing logged the end. Symptom: the
// log called a stored batch "not stored". Fix: it says so only where the service cannot have all of it.
test.for([
  ['a connection that broke behind the request', 'network', 0, true, 'not known'],
  ['a connection that broke before', 'network', 0, false, 'was not stored'],
  ['a gateway that gave up', 'server_error', 504, false, 'not known'],
  ['a service that is away', 'server_error', 503, false, 'was not stored'],
  ['an answer that was torn', 'bad_answer', 200, false, 'not known'],
] as const)('delivery says after %s what is known of the batch', async ([, reason, status, mayBeStored, said]) => {
  const rig = new DeliveryRig();
  rig.respond = () => ({ outcome: retry(reason), status, mayBeStored });
  rig.seal('a');
  await until('it is said', () => rig.log.find('warn', 'it is sent again').length > 0);
  expect(rig.log.find('warn', said)).toHaveLength(1);
});

test('delivery counts what a sink without HTTP stored as stored, never under a status that nobody sent', async () => {
  const rig = new DeliveryRig();
  let isAway = true;
  rig.respond = () =>
    isAway
      ? { outcome: pause(), status: undefined, unsent: 'unconnected' }
      : { outcome: delivered(1), status: undefined };
  rig.seal('a');
  await until('it is paused', () => rig.clock.sleeps.length === 1);
  isAway = false;
  await rig.clock.advance(rig.clock.nextMs);
  await until('it is stored', () => rig.delivery.stats.stored.size === 1);
  expect([...rig.delivery.stats.requests]).toEqual([
    ['none', 1],
    ['stored', 1],
  ]);
  expect(rig.delivery.stats.lastAnswer).toMatchObject({ status: 'stored' });
});

test('delivery says once that an outage is over, and nothing of a request that failed now and then', async () => {
  const rig = new DeliveryRig({ random: () => 0.9999 });
  rig.respond = () => ({ outcome: retry('network'), status: 0 });
  rig.seal('a');
  await until('the first wait', () => rig.clock.sleeps.length === 1);
  for (let i = 0; i < 14; i++) await rig.clock.advance(rig.clock.nextMs);
  rig.respond = undefined;
  await rig.clock.advance(rig.clock.nextMs);
  await (await rig.next()).answer(delivered(1));
  expect(rig.log.find('info', 'stores again').map(({ fields }) => fields)).toEqual([
    { sink: 'store', dataset: 'logs', seconds: 13 },
  ]);
  rig.seal('b');
  await (await rig.next()).answer(retry('network'), 0);
  await rig.clock.advance(rig.clock.nextMs);
  await (await rig.next()).answer(delivered(1));
  expect(rig.log.find('info', 'stores again')).toHaveLength(1);
});

test('delivery of all workers waits when the service says Retry-After', async () => {
  const rig = new DeliveryRig({ concurrency: 3 });
  for (const name of ['a', 'b', 'c', 'd']) rig.seal(name);
  await until('three requests', () => rig.open.length === 3);
  const [a, b, c] = rig.open.splice(0) as [(typeof rig.open)[0], (typeof rig.open)[0], (typeof rig.open)[0]];
  await a.answer(retry('rate_limited', 5000), 429);
  await b.answer(delivered(1));
  // `d` has a worker now, and waits, too. While it does, another answer asks for longer.
  await rig.clock.advance(3000);
  await c.answer(retry('rate_limited', 60_000), 429);
  await rig.clock.advance(59_999);
  expect(rig.requests).toHaveLength(3);
  await rig.clock.advance(1);
  await until('all go on', () => rig.requests.length > 3);
});

test('delivery waits for the longest time that any worker was asked to wait', async () => {
  const rig = new DeliveryRig({ concurrency: 3 });
  for (const name of ['a', 'b', 'c']) rig.seal(name);
  await until('three requests', () => rig.open.length === 3);
  const [a, b, c] = rig.open.splice(0);
  await a!.answer(retry('rate_limited', 60_000), 429);
  await b!.answer(retry('rate_limited', 1000), 429);
  await c!.answer(delivered(1));
  rig.seal('d');
  await rig.clock.advance(59_000);
  expect(rig.open).toEqual([]);
  await rig.clock.advance(2000);
  await until('somebody asks', () => rig.open.length > 0);
});

test('delivery obeys Retry-After up to an hour', async ({ rig }) => {
  rig.seal('a');
  await (await rig.next()).answer(retry('rate_limited', Infinity), 429);
  await rig.clock.advance(3_599_999);
  expect(rig.requests).toHaveLength(1);
  await rig.clock.advance(1);
  await rig.next();
});

// Symptom: a service that answers `Retry-After: 0`, or a reset time that is over, was asked again without any wait, as
// fast as the network goes. Cause: the service's wait replaced the backoff. Fix: the longer of both.
test('delivery backs off also when the service asks for no wait', async () => {
  const rig = new DeliveryRig({ random: () => 0.9999 });
  rig.respond = () => ({ outcome: retry('rate_limited', 0), status: 429 });
  rig.seal('a');
  await until('the first wait', () => rig.clock.sleeps.length > 0);
  for (let i = 0; i < 4; i++) await rig.clock.advance(rig.clock.nextMs);
  expect(rig.requests).toHaveLength(5);
  expect(rig.clock.sleeps).toEqual([100, 200, 400, 800, 1000]);
});

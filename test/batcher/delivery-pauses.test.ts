/** Datasets that are paused: which batches wait, what they may hold of the memory, and how each goes on. */
import { test as base, expect } from 'vitest';
import type { Outcome } from '../../src/core/sink.ts';
import { settleTurns, until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered, pause, retry, stores } from './sink-rig.ts';

const FINAL = { ...pause(), isFinal: true } as Outcome;

/** Each test begins with a delivery as it is by default. */
const test = base.extend('rig', () => new DeliveryRig());

test.for([
  ['rate_limited', 429, 2],
  ['timeout', 0, 2],
  ['server_error', 503, 2],
  ['server_error', 500, 4],
  ['network', 0, 4],
  ['bad_answer', 200, 4],
] as const)('delivery after %s (%i) has at most %i of four requests under way', async ([reason, status, limit]) => {
  const rig = new DeliveryRig({ concurrency: 4 });
  rig.seal('a');
  await (await rig.next()).answer(retry(reason), status);
  expect(rig.delivery.dispatch.concurrency.limit).toBe(limit);
  for (const name of ['b', 'c', 'd', 'e', 'f']) rig.seal(name);
  await rig.clock.advance(1000);
  await until('the others', () => rig.open.length > 0);
  await settleTurns();
  expect(rig.open).toHaveLength(limit);
});

test('delivery sends more at a time at once when the service bears it', async () => {
  const rig = new DeliveryRig({ concurrency: 2 });
  rig.seal('a');
  await (await rig.next()).answer(retry('rate_limited'), 429);
  for (const name of ['b', 'c', 'd']) rig.seal(name);
  await rig.clock.advance(1000);
  expect(rig.open).toHaveLength(1);
  await rig.open.shift()!.answer(delivered(1));
  expect(rig.open).toHaveLength(2);
});

test('delivery gives paused datasets half of the memory, together, and others all that is left', async () => {
  const rig = new DeliveryRig({ concurrency: 8 });
  const third = rig.budget.budgetBytes / 6 + 1;
  const events = ['x'.repeat(third)];
  rig.respond = ({ sent }) => (sent.dataset === 'fine' ? undefined : { outcome: pause(), status: 403 });
  for (const dataset of ['one', 'two', 'two']) {
    expect(rig.queue.wantsMore(dataset, true)).toBe(true);
    rig.seal(dataset, 1, { dataset, events });
    await until('it is paused', () => rig.delivery.queue.paused.has(dataset) && rig.open.length === 0);
    await settleTurns();
  }
  expect([
    rig.queue.wantsMore('one', true),
    rig.queue.wantsMore('two', true),
    rig.queue.wantsMore('fine', true),
  ]).toEqual([false, false, true]);
});

test('delivery pauses the dataset, not the others, probes, and goes on when it works', async () => {
  const rig = new DeliveryRig({ concurrency: 1 });
  rig.seal('a');
  rig.seal('b');
  rig.seal('other', 1, { dataset: 'other' });
  const first = await rig.next();
  await first.answer(pause(), 401);
  expect(rig.paused).toEqual(['logs']);
  expect(rig.delivery.queue.paused.get('logs')).toEqual({
    reason: 'unauthorized',
    detail: 'HTTP 403 no',
    fix: 'check the token',
  });
  const other = await rig.next();
  expect(other.sent.dataset).toBe('other');
  await other.answer(delivered(1));
  expect(rig.delivery.queue.paused.size).toBe(1);

  // Probes come once in half to a whole max_backoff, with the same batch.
  for (let probe = 1; probe <= 3; probe++) {
    expect(rig.open).toHaveLength(0);
    await rig.clock.advance(1000);
    const request = await rig.next();
    expect(request.sent.key).toBe(first.sent.key);
    if (probe < 3) await request.answer(pause(), 401);
    else await request.answer(delivered(1));
  }
  expect(rig.delivery.queue.paused.size).toBe(0);
  expect(rig.log.find('error', 'paused')).toHaveLength(1);
  expect(rig.log.find('info', 'goes on')).toHaveLength(1);
  await (await rig.next()).answer(delivered(1));
  expect(rig.accounting.settled.delivered).toBe(3);
  expect(rig.trace.filter((each) => each.startsWith('settle'))).toEqual(['settle other', 'settle a', 'settle b']);
});

// Symptom: a service that refuses the token was asked as many times as there are workers in each round, for ever. Cause:
// every refused request began probes of its own. Fix: one for each dataset.
test('delivery probes a paused dataset with one request at a time', async () => {
  const rig = new DeliveryRig({ concurrency: 4 });
  for (const name of ['a', 'b', 'c', 'd']) rig.seal(name);
  await until('four requests', () => rig.open.length === 4);
  for (const request of rig.open.splice(0)) await request.answer(pause(), 403);
  for (let round = 1; round <= 3; round++) {
    await rig.clock.advance(1000);
    expect(rig.open).toHaveLength(1);
    await rig.open.shift()!.answer(pause(), 403);
  }
  await rig.clock.advance(1000);
  rig.respond = stores;
  await rig.open.shift()!.answer(delivered(1));
  await until('all are settled', () => rig.accounting.settled.delivered === 4);
});

// Symptom: once the probes of paused datasets came due faster than they were answered, nothing else was sent. Cause: a probe that is due went before
// every batch. Fix: no second one in a row while a batch waits that may be sent.
test('delivery sends a batch between two probes that are due, and a probe between two batches', async () => {
  const rig = new DeliveryRig({ concurrency: 1 });
  const gone = ['gone 1', 'gone 2', 'gone 3'];
  for (const dataset of gone) {
    rig.seal(dataset, 1, { dataset });
    await (await rig.next()).answer(pause('not_found'), 404);
  }
  await rig.clock.advance(1000);
  for (const name of ['a', 'b', 'c']) rig.seal(name);
  const sent: string[] = [];
  for (let i = 0; i < 10; i++) {
    const request = await rig.next();
    // Meanwhile the other probes come due.
    await rig.clock.advance(1000);
    const isGone = request.sent.dataset !== 'logs';
    sent.push(isGone ? 'probe' : 'batch');
    await (isGone ? request.answer(pause('not_found'), 404) : request.answer(delivered(1)));
  }
  const turn = ['probe', 'batch'];
  expect(sent).toEqual([...turn, ...turn, ...turn, 'probe', 'probe', 'probe', 'probe']);
  expect([...rig.delivery.queue.paused.keys()].toSorted()).toEqual(gone);
});

// Symptom: a dataset was asked nothing more until a restart. Cause: a fault in one of its probes, or where the token is watched, and the next was not
// scheduled. Fix: it is in any case.
test('delivery probes a dataset again after a fault in a probe, with another batch', async () => {
  const rig = new DeliveryRig({ concurrency: 1 });
  rig.seal('a');
  rig.seal('b');
  await (await rig.next()).answer(pause(), 401);
  rig.respond = () => {
    throw new Error('no such thing');
  };
  await rig.clock.advance(1000);
  expect(rig.log.find('error', 'held until a restart')).toHaveLength(1);
  rig.respond = stores;
  await rig.clock.advance(1000);
  expect(rig.trace.filter((each) => each.startsWith('settle'))).toEqual(['settle b']);
  expect(rig.delivery.queue.paused.size).toBe(0);
});

test('delivery probes by time where a change of the token cannot be awaited', async () => {
  const rig = new DeliveryRig({ tokenChange: () => Promise.reject(new Error('too many open files')) });
  rig.seal('a');
  for (let probe = 0; probe < 3; probe++) {
    await (await rig.next()).answer(pause(), 401);
    expect(rig.log.find('error', 'cannot be awaited')).toHaveLength(probe + 1);
    await settleTurns();
    expect(rig.open).toHaveLength(0);
    await rig.clock.advance(1000);
    expect(rig.open).toHaveLength(1);
  }
});

// Symptom: a dataset whose pause does not end was asked again. Cause: the probe that was answered so, or one before it, had scheduled the next.
test.for(['in a probe', 'while a probe is waited for', 'while a probe is due'] as const)(
  'delivery sends no probe after a pause that became final %s',
  async (when) => {
    const rig = new DeliveryRig({ concurrency: 2 });
    rig.seal('a');
    rig.seal('b');
    rig.seal('other', 1, { dataset: 'other' });
    await until('two requests', () => rig.open.length === 2);
    const [first, second] = rig.open.splice(0);
    await first!.answer(pause(), 401);
    const other = await rig.next();
    expect(other.sent.dataset).toBe('other');
    if (when === 'while a probe is due') await rig.clock.advance(1000);
    expect(rig.open).toHaveLength(0);
    await second!.answer(when === 'in a probe' ? pause() : FINAL, 401);
    if (when === 'in a probe') {
      await rig.clock.advance(1000);
      await (await rig.next()).answer(FINAL, 401);
    }
    await other.answer(delivered(1));
    await rig.clock.advance(5000);
    expect(rig.open).toHaveLength(0);
    expect(rig.delivery.queue.paused.get('logs')).toMatchObject({ isFinal: true });
  },
);

// Symptom: a paused dataset was asked twice at a time. Cause: another request that was refused while its probe was out scheduled one more.
test('delivery sends no second probe of a dataset while its probe is out', async () => {
  const rig = new DeliveryRig({ concurrency: 2 });
  rig.seal('a');
  rig.seal('b');
  await until('two requests', () => rig.open.length === 2);
  const [first, second] = rig.open.splice(0);
  await first!.answer(pause(), 401);
  await rig.clock.advance(1000);
  const probe = await rig.next();
  await second!.answer(pause(), 401);
  await rig.clock.advance(5000);
  expect(rig.open).toHaveLength(0);
  await probe.answer(pause(), 401);
  await rig.clock.advance(1000);
  expect(rig.open).toHaveLength(1);
});

// Symptom: after a pause one batch was never sent again, and a drain never ended. Cause: the list of waiting batches was
// walked while workers took batches out of it. Fix: it is counted first.
test('delivery takes up every batch of a dataset that goes on', async () => {
  for (const concurrency of [1, 2, 3, 4, 8]) {
    const rig = new DeliveryRig({ concurrency });
    for (let i = 0; i < 9; i++) rig.seal(`b${i}`);
    await until('the first requests', () => rig.open.length === concurrency);
    for (const request of rig.open.splice(0)) await request.answer(pause(), 403);
    rig.respond = stores;
    await rig.clock.advance(1000);
    await rig.delivery.drain(AbortSignal.timeout(10_000));
    expect(rig.delivery.queue.sending).toEqual([]);
    expect(rig.accounting.settled.delivered).toBe(9);
  }
});

// The same, when the good answer comes while refused batches are still on their way back to the list.
test('delivery forgets no batch whose refusal crosses a success', async () => {
  const rig = new DeliveryRig({ concurrency: 4 });
  for (const name of ['a', 'b', 'c', 'd']) rig.seal(name);
  await until('four requests', () => rig.open.length === 4);
  const answers = rig.open
    .splice(0)
    .map((request, i) => request.answer(i === 3 ? delivered(1) : pause(), i === 3 ? 200 : 403));
  rig.respond = stores;
  await Promise.all(answers);
  await rig.clock.advance(1000);
  await rig.delivery.drain(AbortSignal.timeout(10_000));
  expect(rig.accounting.settled.delivered).toBe(4);
});

test('delivery pauses after five bad answers in a row, and sends the service only probes', async () => {
  const rig = new DeliveryRig({ random: () => 0.5 });
  rig.respond = () => ({ outcome: retry('bad_answer'), status: 200 });
  rig.seal('a');
  await until('the first', () => rig.requests.length === 1);
  for (let i = 0; i < 4; i++) {
    expect(rig.delivery.queue.paused.size).toBe(0);
    await rig.clock.advance(rig.clock.nextMs);
  }
  expect(rig.requests).toHaveLength(5);
  expect(rig.delivery.queue.paused.get('logs')).toMatchObject({ reason: 'bad_answer' });
  await rig.clock.advance(10_000);
  expect(rig.requests.length).toBeLessThanOrEqual(5 + 20);
  expect(rig.requests.length).toBeGreaterThanOrEqual(5 + 10);
  rig.respond = stores;
  await rig.clock.advance(1000);
  expect(rig.delivery.queue.paused.size).toBe(0);
  expect(rig.accounting.settled.delivered).toBe(1);
});

test('delivery counts bad answers in a row: a good one between them starts anew', async ({ rig }) => {
  let count = 0;
  rig.respond = (request) => ({ outcome: ++count % 5 === 0 ? delivered(request.sent.events) : retry('bad_answer') });
  for (let i = 0; i < 4; i++) rig.seal(`b${i}`);
  await until('the first', () => rig.requests.length === 1);
  for (let i = 0; i < 40 && rig.clock.sleeping > 0; i++) await rig.clock.advance(rig.clock.nextMs);
  expect(rig.accounting.settled.delivered).toBe(4);
  expect(rig.paused).toEqual([]);
});

// Symptom: a dataset for which the service lied was never paused while another one of the same sink went well, and one bad answer paused
// another after a first was paused. Cause: one count for all. Fix: each has its own.
test('delivery counts bad answers for each dataset by itself', async () => {
  const rig = new DeliveryRig({ concurrency: 2 });
  rig.respond = ({ sent }) => ({
    outcome: sent.dataset === 'fine' ? delivered(sent.events) : retry('bad_answer'),
  });
  rig.seal('a', 1, { dataset: 'lies' });
  await until('the first', () => rig.clock.sleeping > 0);
  for (let i = 0; i < 4; i++) {
    expect(rig.paused).toEqual([]);
    rig.seal(`fine ${i}`, 1, { dataset: 'fine' });
    await until('it is delivered', () => rig.accounting.settled.delivered === i + 1);
    await rig.clock.advance(rig.clock.nextMs);
  }
  expect(rig.paused).toEqual(['lies']);
  // The first bad answer of another one is no sixth.
  const before = rig.requests.length;
  rig.seal('b', 1, { dataset: 'odd once' });
  await until('it is asked', () => rig.requests.length > before);
  await settleTurns();
  expect([...rig.delivery.queue.paused.keys()]).toEqual(['lies']);
});

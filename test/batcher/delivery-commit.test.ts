import { expect, test } from 'vitest';
import { settleTurns, until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered, pause, stores } from './sink-rig.ts';

const commits = (rig: DeliveryRig): string[] => rig.trace.filter((each) => each.startsWith('commit'));

test('delivery commits the first batch at once, and those that close within the window together', async () => {
  const rig = new DeliveryRig({ concurrency: 2, commitEveryMs: 4 });
  rig.respond = stores;
  rig.seal('a');
  await until('a is settled', () => rig.trace.includes('settle a'));
  expect(commits(rig)).toEqual(['commit a']);
  for (const name of ['b', 'c']) rig.seal(name);
  await settleTurns();
  rig.seal('d');
  await settleTurns();
  expect(rig.trace.filter((each) => each.startsWith('send'))).toEqual(['send a']);
  await rig.clock.advance(3);
  expect(commits(rig)).toHaveLength(1);
  await rig.clock.advance(1);
  await until('all are settled', () => rig.accounting.settled.delivered === 4);
  // `d` had no worker yet; it is committed with those before it all the same.
  expect(commits(rig)).toEqual(['commit a', 'commit b,c,d']);
});

test('delivery sends no batch before its commit, whenever it closes', async () => {
  const rig = new DeliveryRig({ concurrency: 3, commitEveryMs: 4 });
  rig.respond = stores;
  for (let i = 0; i < 60; i++) {
    rig.seal(`b${i}`, 1 + (i % 3), i % 5 === 0 ? { rereadable: false } : {});
    if (i % 4 === 0) await rig.clock.advance(i % 7);
  }
  await until('all are settled', async () => {
    await rig.clock.advance(4);
    return rig.delivery.queue.sending.length === 0;
  });
  const committed = new Set<string>();
  let sent = 0;
  for (const each of rig.trace) {
    const [what, names] = each.split(' ') as [string, string];
    if (what === 'commit') for (const name of names.split(',')) committed.add(name);
    if (what !== 'send') continue;
    sent += 1;
    if (Number(names.slice(1)) % 5 !== 0)
      expect(committed.has(names), `${names} is committed when it is sent`).toBe(true);
  }
  expect([sent, committed.size]).toEqual([60, 48]);
  expect(commits(rig).length).toBeLessThan(30);
  // Each once, in the order in which they closed: marks need that.
  const order = commits(rig).flatMap((each) => each.slice('commit '.length).split(','));
  expect(order.map((name) => Number(name.slice(1)))).toEqual(
    order.map((name) => Number(name.slice(1))).toSorted((a, b) => a - b),
  );
});

test('delivery whose shared commit fails sends none of its batches, and commits them together later', async () => {
  const rig = new DeliveryRig({ concurrency: 2, commitEveryMs: 4 });
  rig.respond = stores;
  rig.seal('a');
  await until('a is settled', () => rig.trace.includes('settle a'));
  rig.diskFails = true;
  for (const name of ['b', 'c', 'd']) rig.seal(name);
  await rig.clock.advance(4);
  expect(rig.trace.filter((each) => each.startsWith('send'))).toEqual(['send a']);
  rig.diskFails = false;
  await rig.clock.advance(1000);
  await until('all are settled', () => rig.accounting.settled.delivered === 4);
  expect(commits(rig)).toEqual(['commit a', 'commit b,c,d']);
});

// Symptom: sink_requests_total{status="none"} and sink_sent_bytes_total grew while the token file was missing. Cause: a send
// that made no request was counted as one. Fix: the sink says so.
test('delivery does not count as a request, or as sent, what the sink could not send at all', async () => {
  const rig = new DeliveryRig();
  rig.respond = () => ({ outcome: pause(), status: 0, unsent: 'unsigned' });
  rig.seal('a');
  await until('it is paused', () => rig.paused.length > 0);
  await rig.clock.advance(1000);
  await until('it was asked again', () => rig.requests.length > 1);
  expect([rig.delivery.stats.requests, rig.delivery.stats.sentBytes]).toEqual([new Map(), 0]);
  // A connection that was refused is a request without an answer, but its body went nowhere.
  rig.respond = () => ({ outcome: pause(), status: 0, unsent: 'unconnected' });
  await rig.clock.advance(1000);
  await until('it was tried', () => rig.delivery.stats.requests.size > 0);
  expect([rig.delivery.stats.requests, rig.delivery.stats.sentBytes]).toEqual([new Map([['none', 1]]), 0]);
  rig.respond = () => ({ outcome: delivered(1) });
  await rig.clock.advance(1000);
  await until('it is settled', () => rig.accounting.settled.delivered === 1);
  expect(rig.delivery.stats.requests.get('200')).toBe(1);
  expect(rig.delivery.stats.sentBytes).toBe(rig.requests[0]!.sent.body.length);
});

import { expect, test } from 'vitest';
import { settleTurns, until } from '../support/until.ts';
import { delivered, DeliveryBench, pause } from './delivery-bench.ts';

const commits = (bench: DeliveryBench): string[] => bench.trace.filter((each) => each.startsWith('commit'));

test('delivery commits the first batch at once, and those that close within the window together', async () => {
  const bench = new DeliveryBench({ concurrency: 2, commitEveryMs: 4 });
  bench.respond = ({ parcel }) => ({ outcome: delivered(parcel.events) });
  bench.seal('a');
  await until('a is settled', () => bench.trace.includes('settle a'));
  expect(commits(bench)).toEqual(['commit a']);
  for (const name of ['b', 'c']) bench.seal(name);
  await settleTurns();
  bench.seal('d');
  await settleTurns();
  expect(bench.trace.filter((each) => each.startsWith('send'))).toEqual(['send a']);
  await bench.clock.advance(3);
  expect(commits(bench)).toHaveLength(1);
  await bench.clock.advance(1);
  await until('all are settled', () => bench.books.settled.delivered === 4);
  // `d` had no worker yet; it is committed with those before it all the same.
  expect(commits(bench)).toEqual(['commit a', 'commit b,c,d']);
});

test('delivery sends no batch before its commit, whenever it closes', async () => {
  const bench = new DeliveryBench({ concurrency: 3, commitEveryMs: 4 });
  bench.respond = ({ parcel }) => ({ outcome: delivered(parcel.events) });
  for (let i = 0; i < 60; i++) {
    bench.seal(`b${i}`, 1 + (i % 3), i % 5 === 0 ? { rereadable: false } : {});
    if (i % 4 === 0) await bench.clock.advance(i % 7);
  }
  await until('all are settled', async () => {
    await bench.clock.advance(4);
    return bench.delivery.held().length === 0;
  });
  const committed = new Set<string>();
  let sent = 0;
  for (const each of bench.trace) {
    const [what, names] = each.split(' ') as [string, string];
    if (what === 'commit') for (const name of names.split(',')) committed.add(name);
    if (what !== 'send') continue;
    sent += 1;
    if (Number(names.slice(1)) % 5 !== 0) expect(committed.has(names), `${names} is committed when it is sent`).toBe(true);
  }
  expect([sent, committed.size]).toEqual([60, 48]);
  expect(commits(bench).length).toBeLessThan(30);
  // Each once, in the order in which they closed: marks need that.
  const order = commits(bench).flatMap((each) => each.slice('commit '.length).split(','));
  expect(order.map((name) => Number(name.slice(1)))).toEqual(order.map((name) => Number(name.slice(1))).toSorted((a, b) => a - b));
});

test('delivery whose shared commit fails sends none of its batches, and commits them together later', async () => {
  const bench = new DeliveryBench({ concurrency: 2, commitEveryMs: 4 });
  bench.respond = ({ parcel }) => ({ outcome: delivered(parcel.events) });
  bench.seal('a');
  await until('a is settled', () => bench.trace.includes('settle a'));
  bench.diskFails = true;
  for (const name of ['b', 'c', 'd']) bench.seal(name);
  await bench.clock.advance(4);
  expect(bench.trace.filter((each) => each.startsWith('send'))).toEqual(['send a']);
  bench.diskFails = false;
  await bench.clock.advance(1000);
  await until('all are settled', () => bench.books.settled.delivered === 4);
  expect(commits(bench)).toEqual(['commit a', 'commit b,c,d']);
});

// Symptom: sink_requests_total{status="none"} and sink_sent_bytes_total grew while the token file was missing. Cause: a send
// that made no request was counted as one. Fix: the sink says so.
test('delivery does not count as a request, or as sent, what the sink could not send at all', async () => {
  const bench = new DeliveryBench();
  bench.respond = () => ({ outcome: pause(), status: 0, unsent: 'unsigned' });
  bench.seal('a');
  await until('it is paused', () => bench.paused.length > 0);
  await bench.clock.advance(1000);
  await until('it was asked again', () => bench.requests.length > 1);
  expect([bench.delivery.stats.requests, bench.delivery.stats.sentBytes]).toEqual([new Map(), 0]);
  // A connection that was refused is a request without an answer, but its body went nowhere.
  bench.respond = () => ({ outcome: pause(), status: 0, unsent: 'unconnected' });
  await bench.clock.advance(1000);
  await until('it was tried', () => bench.delivery.stats.requests.size > 0);
  expect([bench.delivery.stats.requests, bench.delivery.stats.sentBytes]).toEqual([new Map([['none', 1]]), 0]);
  bench.respond = () => ({ outcome: delivered(1) });
  await bench.clock.advance(1000);
  await until('it is settled', () => bench.books.settled.delivered === 1);
  expect(bench.delivery.stats.requests.get('200')).toBe(1);
  expect(bench.delivery.stats.sentBytes).toBe(bench.requests[0]!.parcel.body.length);
});

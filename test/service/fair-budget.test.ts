/** An amount shared by tokens: nobody takes all of it, nobody waits for ever. */
import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { FairBudget } from '../../src/service/fairness/fair-budget.ts';
import { takeReplyRoom } from '../../src/service/fairness/unread-replies.ts';

test('a holder gets half while others want some, and any amount alone', () => {
  const budget = new FairBudget(10);
  expect(budget.tryTake('a', 50)?.release()).toBeUndefined();
  const three = [budget.tryTake('a', 2), budget.tryTake('a', 3), budget.tryTake('a', 1)];
  expect(three.map((held) => held !== undefined)).toEqual([true, true, false]);
  expect(budget.tryTake('b', 5)).toBeDefined();
  expect(budget.used).toBe(10);
  expect(budget.tryTake('c', 1)).toBeUndefined();
  three[0]!.release();
  three[0]!.release();
  expect(budget.used).toBe(8);
  expect(budget.tryTake('c', 2)).toBeDefined();
});

test('who holds least comes first, and who leaves gives up the place', async () => {
  const budget = new FairBudget(10, 3);
  const [first, other] = [budget.tryTake('a', 5)!, budget.tryTake('b', 5)!];
  const order: string[] = [];
  const gone = new AbortController();
  const waiting = [
    budget.take('a', 2).then((held) => (order.push('a'), held)),
    budget.take('c', 2, gone.signal).then(
      () => order.push('gone'),
      (reason: unknown) => order.push(String(reason)),
    ),
    budget.take('d', 4).then((held) => (order.push('d'), held)),
  ];
  expect(() => budget.take('e', 1)).toThrow(expect.objectContaining({ status: 429 }));
  gone.abort('left');
  other.release();
  await Promise.all(waiting.slice(1));
  expect(order).toEqual(['left', 'd']);
  first.release();
  await waiting[0];
  expect(order).toEqual(['left', 'd', 'a']);
  expect(budget.used).toBe(6);
});

test('a reservation grows only as far as there is room', () => {
  const budget = new FairBudget(10);
  const [one, two] = [budget.tryTake('a', 1)!, budget.tryTake('b', 1)!];
  expect([one.resize(9), one.resize(10), two.resize(2)]).toEqual([true, false, false]);
  expect(budget.used).toBe(10);
  one.release();
  expect([one.resize(1), two.resize(20), budget.used]).toEqual([false, true, 20]);
});

// Symptom: 256 queries of one token that waited were before every query of others, for minutes, and kept new ones out.
test('holders that wait take turns, and a crowd of one leaves a place for others', async () => {
  const budget = new FairBudget(1, 4);
  const running = [budget.tryTake('crowd', 1)!];
  const order: string[] = [];
  const wait = (holder: string, name: string): Promise<void> =>
    budget.take(holder, 1).then(
      (held) => (order.push(name), void running.push(held)),
      () => void order.push(`${name} refused`),
    );
  const all = [
    wait('crowd', 'c1'),
    wait('crowd', 'c2'),
    wait('crowd', 'c3'),
    wait('crowd', 'c4'),
    wait('honest', 'h1'),
  ];
  await Promise.resolve();
  expect(() => budget.take('crowd', 1)).toThrow(expect.objectContaining({ status: 429 }));
  for (let n = 0; n < 4; n++) {
    running.shift()!.release();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(order).toEqual(['c4 refused', 'c1', 'h1', 'c2', 'c3']);
});

// Symptom: 60 sockets that asked for 20 MB of annotations and did not read took 1.5 GB: only replies to queries were counted.
test('a large answer to any GET has its part of the replies until it is read; what changes something is always answered', () => {
  const budget = new FairBudget(100_000);
  const raws: EventEmitter[] = [];
  const answer = (token: string, payload: unknown, method = 'GET'): boolean => {
    const raw = new EventEmitter();
    raws.push(raw);
    const request = { method, headers: {}, caller: { token }, hasReplyRoom: false } as unknown as FastifyRequest;
    return takeReplyRoom(budget, request, { raw } as unknown as FastifyReply, payload);
  };
  const list = 'x'.repeat(40_000);
  expect([answer('a', list), answer('a', list), answer('b', list), answer('c', list)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([answer('a', list, 'POST'), answer('a', 'x'.repeat(16_000)), answer('a', Buffer.from(list))]).toEqual([
    true,
    true,
    true,
  ]);
  expect(budget.used).toBe(80_000);
  raws[0]!.emit('close');
  expect([answer('c', list), answer('a', list)]).toEqual([true, false]);
  for (const raw of raws) raw.emit('close');
  expect(budget.used).toBe(0);
});

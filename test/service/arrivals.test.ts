/** Waits for events of a dataset: what ends them, and how many there may be. */
import { describe, expect, test as base } from 'vitest';
import { SERVICE_HELD_QUERIES } from '../../src/service/limits.ts';
import { openArrivals } from '../../src/service/datasets/arrivals.ts';

const MINUTE = 60_000;
const never = new AbortController().signal;

const test = base.extend('arrivals', () => openArrivals());

describe('arrivals', () => {
  test('wake those that wait for the dataset, and no others', async ({ arrivals }) => {
    const one = arrivals.wait(1, performance.now(), MINUTE, never, 'me');
    const two = arrivals.wait(2, performance.now(), MINUTE, never, 'me');
    arrivals.stored(1);
    await one;
    expect(arrivals.waiting()).toBe(1);
    arrivals.removed(2);
    await two;
    expect(arrivals.waiting()).toBe(0);
  });

  test('that came after the request began, but before it waits, end the wait', async ({ arrivals }) => {
    const began = performance.now();
    arrivals.stored(1);
    await arrivals.wait(1, began, MINUTE, never, 'me');
    const later = arrivals.wait(1, performance.now() + 1, MINUTE, never, 'me');
    expect(arrivals.waiting()).toBe(1);
    arrivals.close();
    await later;
  });

  test('end a wait whose client goes away, and leave nothing behind', async ({ arrivals }) => {
    const gone = new AbortController();
    const wait = arrivals.wait(1, performance.now(), MINUTE, gone.signal, 'me');
    gone.abort(new Error('gone'));
    await expect(wait).rejects.toThrow('gone');
    expect(arrivals.waiting()).toBe(0);
    await expect(arrivals.wait(1, performance.now(), MINUTE, gone.signal, 'me')).rejects.toThrow('gone');
  });

  // Symptom: one token's queries took all places.
  test('take so many waits and no more, half of them of one holder', async ({ arrivals }) => {
    const wait = (n: number, holder: string): Promise<boolean> =>
      arrivals.wait(n % 3, performance.now(), MINUTE, never, holder);
    const refused = { status: 429, headers: { 'Retry-After': '1' } };
    const half = SERVICE_HELD_QUERIES / 2;
    const waits = Array.from({ length: half }, (_, n) => wait(n, 'one page'));
    await expect(wait(1, 'one page')).rejects.toMatchObject(refused);
    waits.push(...Array.from({ length: half }, (_, n) => wait(n, 'one program')));
    await expect(wait(1, 'other')).rejects.toMatchObject(refused);
    expect(arrivals.waiting()).toBe(SERVICE_HELD_QUERIES);
    arrivals.close();
    await Promise.all(waits);
    await wait(1, 'other');
    expect(arrivals.waiting()).toBe(0);
  });
});

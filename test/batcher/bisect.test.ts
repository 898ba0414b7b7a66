/** Finding the events at fault: what it costs, and that it is right about every one of them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { DeliveryRig } from './delivery-rig.ts';
import { delivered } from './sink-rig.ts';

interface Found {
  /** Beyond the first. */
  readonly extraRequests: number;
  readonly refused: readonly number[];
  readonly reasons: ReadonlySet<string>;
  /** Events that were refused in a request of their own. */
  readonly refusedAlone: ReadonlySet<number>;
  readonly stored: readonly number[];
}

/** Delivers a batch of which the service always refuses requests with the events in `poison`. */
async function deliver(count: number, poison: ReadonlySet<number>): Promise<Found> {
  const rig = new DeliveryRig();
  const stored: number[] = [];
  const refusedAlone = new Set<number>();
  rig.respond = ({ events, sent }) => {
    const numbers = events.map(Number);
    if (!numbers.some((number) => poison.has(number))) {
      stored.push(...numbers);
      return { outcome: delivered(sent.events) };
    }
    if (numbers.length === 1) refusedAlone.add(numbers[0]!);
    return { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 };
  };
  rig.seal('a', count, { events: Array.from({ length: count }, (_, index) => String(index)) });
  await until('it is settled', () => rig.delivery.queue.sending.length === 0);
  const letters = [...rig.letters.values()].flat();
  expect(rig.accounting.settled).toMatchObject({ delivered: stored.length, dead_lettered: letters.length });
  const byReason = Map.groupBy(letters, ({ reason }) => reason);
  expect(rig.delivery.stats.deadLetters).toEqual(new Map([...byReason].map(([reason, each]) => [reason, each.length])));
  const refused = letters.map(({ event }) => Number(Buffer.from(event).toString()));
  expect(letters.map(({ eventInSpan }) => eventInSpan)).toEqual(refused);
  expect(stored.length + letters.length).toBe(count);
  return {
    extraRequests: rig.requests.length - 1,
    refused,
    reasons: new Set(byReason.keys()),
    refusedAlone,
    stored,
  };
}

const bound = (count: number): number => Math.floor(2 * Math.log2(count));

test('one poison event costs at most 2·log2 of the batch in extra requests, wherever it is in batches of up to 40 events', async () => {
  for (let count = 1; count <= 40; count++) {
    for (let at = 0; at < count; at++) {
      const { extraRequests, refused } = await deliver(count, new Set([at]));
      expect(refused).toEqual([at]);
      expect(extraRequests, `event ${at} of ${count}`).toBeLessThanOrEqual(bound(count));
    }
  }
});

test('one poison event costs at most 2·log2 of the batch in extra requests, in batches of any size', async () => {
  const anywhere = fc
    .integer({ min: 2, max: 10_000 })
    .chain((count) => fc.tuple(fc.constant(count), fc.integer({ min: 0, max: count - 1 })));
  await fc.assert(
    fc.asyncProperty(anywhere, async ([count, at]) => {
      const { extraRequests, refused, reasons } = await deliver(count, new Set([at]));
      expect([refused, [...reasons]]).toEqual([[at], ['rejected']]);
      expect(extraRequests).toBeLessThanOrEqual(bound(count));
    }),
    {
      numRuns: 30,
      examples: [
        [[10_000, 0]],
        [[10_000, 9999]],
        [[10_000, 4999]],
        [[10_000, 5000]],
        [[8192, 0]],
        [[8191, 0]],
        [[8193, 8192]],
      ],
    },
  );
});

test('several poison events are found within 64 extra requests, and events unresolved by then are kept whole', async () => {
  const some = fc
    .integer({ min: 1, max: 400 })
    .chain((count) =>
      fc.tuple(fc.constant(count), fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: 12 })),
    );
  await fc.assert(
    fc.asyncProperty(some, async ([count, places]) => {
      const poison = new Set(places);
      const { extraRequests, refused, reasons, refusedAlone, stored } = await deliver(count, poison);
      expect(extraRequests).toBeLessThanOrEqual(64);
      expect(new Set(stored).size, 'nothing is stored twice').toBe(stored.length);
      expect(stored.filter((number) => poison.has(number))).toEqual([]);
      for (const place of poison) expect(refused).toContain(place);
      if (reasons.has('unresolved')) return;
      // Each is named for what it did itself, not for what others did.
      expect(refused.toSorted((a, b) => a - b)).toEqual(places.toSorted((a, b) => a - b));
      for (const number of refused) expect(refusedAlone.has(number)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a batch of which only the whole is refused is delivered: no event is blamed that was not refused alone', async () => {
  const rig = new DeliveryRig();
  rig.respond = ({ sent }) =>
    sent.events > 30
      ? { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 }
      : { outcome: delivered(sent.events) };
  rig.seal('a', 100);
  await until('it is settled', () => rig.delivery.queue.sending.length === 0);
  expect(rig.accounting.settled).toMatchObject({ delivered: 100, dead_lettered: 0 });
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Batch, keyOf } from '../../src/batcher/batch.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import { lettersOf, settleInFlight, InFlightBatch } from '../../src/batcher/send/in-flight-batch.ts';
import type { StoredSpan } from '../../src/state/database/stored-batch.ts';
import { span } from '../state/batches.ts';

/** A batch of spans with these many events each; event `n` is `{"n":n}`. */
function batchOf(counts: readonly number[], key = 'key'): Batch {
  const events = counts.reduce((sum, count) => sum + count, 0);
  const body = Buffer.from(Array.from({ length: events }, (_, n) => `{"n":${n}}\n`).join(''));
  const batch = new Batch(1, 'store', 'logs', 'file', { body });
  const accounting = new Accounting('app');
  counts.forEach((count, i) => {
    batch.spans.push({
      ...span(`s${i}`, 100 * i, 100 * i + 50),
      reads: undefined,
      events: count,
      accounting,
      firstEvent: accounting.accepted,
      closed: true,
    });
    accounting.accept(count, 1);
  });
  batch.events = events;
  batch.payload.bytes = body.length;
  batch.key = key;
  return batch;
}

/** Splits parts of a batch as `choices` say until nothing is left; every key it ever had, with its events. */
function walk(inFlight: InFlightBatch, choices: readonly boolean[]): Map<string, string> {
  const keys = new Map<string, string>();
  for (let i = 0; inFlight.parts.length > 0; i++) {
    const part = inFlight.parts[0]!;
    expect(keys.has(part.key), 'one key, one set of events').toBe(false);
    keys.set(part.key, inFlight.plainOf(part).toString());
    if (part.count > 1 && choices[i % choices.length]) inFlight.split('size');
    else inFlight.finish('stored');
  }
  return keys;
}

test('a batch in flight split the same way has the same keys for the same events, and no key twice', () => {
  const choices = fc.array(fc.boolean(), { minLength: 1 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), choices, choices, (count, first, second) => {
      const one = walk(new InFlightBatch(batchOf([count])), first);
      expect([...walk(new InFlightBatch(batchOf([count])), first)]).toEqual([...one]);
      // Split another way, a recurring key still names the same events.
      for (const [key, events] of walk(new InFlightBatch(batchOf([count])), second))
        if (one.has(key)) expect(one.get(key)).toBe(events);
      // Another batch has other keys.
      for (const key of walk(new InFlightBatch(batchOf([count], 'another')), first).keys())
        expect(one.has(key)).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('a batch in flight that goes on with stored parts splits them into the keys it would have had', () => {
  const whole = new InFlightBatch(batchOf([10]));
  whole.split('size');
  const resumed = new InFlightBatch(batchOf([10]), structuredClone(whole.parts));
  expect([...walk(resumed, [true])]).toEqual([...walk(whole, [true])]);
});

test('a batch in flight splits into halves that are the events of the whole, in order', () => {
  const inFlight = new InFlightBatch(batchOf([5]));
  expect([inFlight.isWhole, inFlight.parts]).toEqual([true, [{ first: 0, count: 5, key: 'key' }]]);
  inFlight.split('size');
  expect(inFlight.isWhole).toBe(false);
  expect(inFlight.parts.map(({ first, count }) => [first, count])).toEqual([
    [0, 2],
    [2, 3],
  ]);
  expect(inFlight.parts.map((part) => inFlight.plainOf(part).toString())).toEqual([
    '{"n":0}\n{"n":1}\n',
    '{"n":2}\n{"n":3}\n{"n":4}\n',
  ]);
});

test.for([
  ['gzip', gunzipSync],
  ['zstd', zstdDecompressSync],
] as const)('a batch in flight compresses each part with %s, under its own key', async ([compression, decompress]) => {
  const inFlight = new InFlightBatch(batchOf([4]));
  inFlight.split('size');
  const request = await inFlight.requestOf(inFlight.parts[1]!, { encoding: compression, isStrict: false });
  expect(request).toMatchObject({ key: inFlight.parts[1]!.key, events: 2, encoding: compression, dataset: 'logs' });
  expect(decompress(request.body).toString()).toBe('{"n":2}\n{"n":3}\n');
  const encoded = await inFlight.requestOf(inFlight.parts[0]!, { encoding: 'identity', isStrict: false }, (ndjson) =>
    Buffer.from(`[${ndjson.toString().trim()}]`),
  );
  expect(Buffer.from(encoded.body).toString()).toBe('[{"n":0}\n{"n":1}]');
});

test('events of several spans settle in the accounting of their own source, each by its own fate', () => {
  const batch = batchOf([2, 0, 3]);
  const other = new Accounting('other');
  other.accept(3, 1);
  batch.spans[2] = { ...batch.spans[2]!, accounting: other, firstEvent: 0 };
  const { accounting } = batch.spans[0]!;
  const inFlight = new InFlightBatch(batch);
  const refusal = { reason: 'rejected', detail: 'no', status: 400, key: 'key' } as const;
  for (const index of [1, 2, 3, 4]) inFlight.refused.set(index, { ...refusal, fate: index === 2 ? 'dropped' : 'kept' });
  inFlight.finish('refused');
  settleInFlight(inFlight);
  expect(accounting.settled).toEqual({ delivered: 1, dead_lettered: 1, dropped: 0, filtered: 0 });
  expect(other.settled).toEqual({ delivered: 0, dead_lettered: 2, dropped: 1, filtered: 0 });
  expect(batch.refusedEvents).toBe(4);
});

test('refused events become letters with the span that each came from, also behind spans without events', () => {
  const inFlight = new InFlightBatch(batchOf([2, 0, 3]));
  const refusal = { reason: 'rejected', detail: 'no', status: 400, key: 'key' } as const;
  const letters = lettersOf(inFlight, new Map([1, 2, 4].map((index) => [index, refusal])));
  expect(
    letters.map(({ stream, spanOffset, spanEnd, eventInSpan, event }) => [
      stream,
      spanOffset,
      spanEnd,
      eventInSpan,
      Buffer.from(event).toString(),
    ]),
  ).toEqual([
    ['s0', 0, 50, 1, '{"n":1}'],
    ['s2', 200, 250, 0, '{"n":2}'],
    ['s2', 200, 250, 2, '{"n":4}'],
  ]);
});

test('key of a batch follows from its spans alone, and changes with each thing that names its events', () => {
  const spans: StoredSpan[] = [span('s1', 0, 10), span('s2', 5, 7)];
  const key = keyOf('store', 'logs', spans);
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(keyOf('store', 'logs', structuredClone(spans))).toBe(key);
  const first = spans[0]!;
  const others = [
    keyOf('other', 'logs', spans),
    keyOf('store', 'other', spans),
    keyOf('store', 'logs', spans, 'run'),
    keyOf('store', 'logs', spans, '', 'run'),
    keyOf('store', 'logs', spans.toReversed()),
    keyOf('store', 'logs', [first]),
    ...[
      { stream: 's3' },
      { source: 'net' },
      { from: 1 },
      { to: 11 },
      { events: 11 },
      { sum: first.sum + 1 },
      { digest: 'd2' },
    ].map((change) => keyOf('store', 'logs', [{ ...first, ...change }, spans[1]!])),
  ];
  expect(new Set([key, ...others]).size).toBe(others.length + 1);
});

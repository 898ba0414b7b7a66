/** Batches of events that are shaped: the events sent, their spans, and how each accepted event is settled. */
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { Accounting } from '../../src/batcher/accounting.ts';
import type { Batch } from '../../src/batcher/batch.ts';
import { eventStarts } from '../../src/batcher/block-events.ts';
import { SourceLane } from '../../src/batcher/fill/lane.ts';
import { lettersOf, settleInFlight, InFlightBatch, withheldLetters } from '../../src/batcher/send/in-flight-batch.ts';
import { shapeAsTold, testShaper } from '../support/test-shaper.ts';
import { blockOf, bodyOf, eventsOf, makeRig, shape, test, NO_MARKS } from './blocks.ts';

const line = (n: number, as: string): string => `{"n":${n},"as":"${as}"}`;
const bytesOf = (words: readonly string[]): Buffer => Buffer.from(words.map((as, n) => `${line(n, as)}\n`).join(''));

/** What the words' events become, one text for each that is sent. */
function expectedOf(bytes: Buffer): string[] {
  return eventsOf(bytes).flatMap((event) => [...shapeAsTold(event.toString().trimEnd()).out]);
}

const sentOf = (batches: readonly Batch[]): string[] =>
  batches.flatMap((batch) => {
    const events = bodyOf(batch).toString().split('\n').slice(0, -1);
    expect(events).toHaveLength(batch.events);
    return events;
  });

/** Everything stored: the batches leave the accounting. */
function settleAll(batches: readonly Batch[], refused: readonly number[] = []): void {
  let index = 0;
  for (const batch of batches) {
    const inFlight = new InFlightBatch(batch);
    for (let n = 0; n < batch.events; n++, index++)
      if (refused.includes(index))
        inFlight.refused.set(n, { reason: 'rejected', detail: '', status: 400, key: '', fate: 'kept' });
    inFlight.parts.length = 0;
    batch.withheld.fate = 'dead_lettered';
    settleInFlight(inFlight);
  }
}

test('shaped intake sends what shaping made, and its spans count the events before it', async ({ rig }) => {
  const bytes = bytesOf(['kept', 'filtered', 'several3', 'withheld', 'dropped', 'kept']);
  await rig.take(blockOf(bytes), { shaper: testShaper(shapeAsTold) });
  rig.batcher.open.flush();
  const [batch] = rig.sealed;
  expect(sentOf(rig.sealed)).toEqual(expectedOf(bytes));
  expect(batch!.events).toBe(5);
  expect(batch!.spans.map(({ from, to, events }) => [from, to, events])).toEqual([[0, bytes.length, 6]]);
  expect(rig.accounting.accepted).toBe(6);
  settleAll(rig.sealed);
  expect(rig.accounting.settled).toEqual({ delivered: 3, dead_lettered: 1, dropped: 1, filtered: 1 });
});

test('shaped intake of which everything is filtered is one batch without events that passes the mark', async () => {
  const rig = makeRig({ maxBytes: 4096 });
  const bytes = bytesOf(Array.from({ length: 2000 }, () => 'filtered'));
  await rig.take(blockOf(bytes), { shaper: testShaper(shapeAsTold) });
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ events, payload, outcomes }) => [events, payload.bytes, outcomes?.runCount])).toEqual([
    [0, 0, 1],
  ]);
  expect(rig.sealed[0]!.spans.map(({ from, to, events }) => [from, to, events])).toEqual([[0, bytes.length, 2000]]);
  settleAll(rig.sealed);
  expect(rig.accounting.settled.filtered).toBe(2000);
});

test('shaped intake of nothing but empty lines settles their bytes', async ({ rig }) => {
  await rig.take(blockOf(Buffer.from('\n\r\n')), { shaper: testShaper(shapeAsTold) });
  rig.batcher.open.flush();
  expect(rig.sealed).toMatchObject([{ events: 0, payload: { bytes: 0 }, spans: [{ from: 0, to: 3, events: 0 }] }]);
});

test('event of which siblings are refused counts once, as the worst of them', async ({ rig }) => {
  const bytes = bytesOf(['kept', 'several3', 'mixed', 'kept']);
  await rig.take(blockOf(bytes), { shaper: testShaper(shapeAsTold) });
  rig.batcher.open.flush();
  const batch = rig.sealed[0]!;
  const refusal = { reason: 'rejected', detail: 'no', status: 400, key: 'k' } as const;
  const letters = lettersOf(
    new InFlightBatch(batch),
    new Map([
      [0, refusal],
      [2, refusal],
    ]),
  );
  expect(letters.map(({ eventInSpan, sub, event }) => [eventInSpan, sub, Buffer.from(event).toString()])).toEqual([
    [0, undefined, expect.stringContaining('"n":0')],
    [1, 1, expect.stringContaining('"sub":1')],
  ]);
  expect(
    withheldLetters(new InFlightBatch(batch)).map(({ eventInSpan, reason, event }) => [
      eventInSpan,
      reason,
      String(event),
    ]),
  ).toEqual([[2, 'transform_failed', expect.stringContaining('"part":2')]]);
  settleAll(rig.sealed, [2]);
  expect(rig.accounting.settled).toEqual({ delivered: 2, dead_lettered: 2, dropped: 0, filtered: 0 });
});

test('event that is larger than a batch after shaping goes alone, in its order', async () => {
  const rig = makeRig({ maxBytes: 4096, slots: 20 });
  const bytes = bytesOf(['kept', 'large9000', 'kept', 'several200', 'kept']);
  await rig.take(blockOf(bytes), { shaper: testShaper(shapeAsTold) });
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ events, accepted }) => [events, accepted])).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
    [200, 1],
    [1, 1],
  ]);
  expect(sentOf(rig.sealed)).toEqual(expectedOf(bytes));
});

test('batch tells shaped from other events when it is settled', async ({ rig }) => {
  const [plain, shaped] = [new Accounting('plain'), new Accounting('shaped')];
  await rig.take(blockOf(Buffer.from('one\ntwo\n')), { accounting: plain });
  await rig.take(blockOf(bytesOf(['filtered', 'kept']), { stream: 's2', shape: { ...shape } }), {
    accounting: shaped,
    shaper: testShaper(shapeAsTold),
  });
  await rig.take(blockOf(Buffer.from('three\n'), { offset: 8 }), { accounting: plain });
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ events, accepted }) => [events, accepted])).toEqual([[4, 5]]);
  settleAll(rig.sealed, [1, 2]);
  expect(plain.settled).toEqual({ delivered: 2, dead_lettered: 1, dropped: 0, filtered: 0 });
  expect(shaped.settled).toEqual({ delivered: 0, dead_lettered: 1, dropped: 0, filtered: 1 });
});

test('event has the worst outcome of its sinks, and is filtered only when each of them filtered it', async () => {
  const rigs = [makeRig(), makeRig()];
  const accounting = new Accounting('app');
  const shaper = testShaper((event) => (event.includes('"as":"kept"') ? { out: [event] } : { out: [] }));
  const lane = new SourceLane({
    accounting,
    routes: rigs.map(({ batcher }, sink) => ({
      sink: String(sink),
      dataset: 'logs',
      batcher,
      shaper: sink === 0 ? shaper : testShaper(shapeAsTold),
    })),
    isTracked: true,
    deleted: new Set(),
    streams: NO_MARKS,
  });
  await lane.accept(blockOf(bytesOf(['kept', 'several2', 'filtered', 'withheld'])));
  for (const { batcher } of rigs) batcher.open.flush();
  settleAll(rigs[0]!.sealed);
  expect(accounting.settled).toEqual({ delivered: 0, dead_lettered: 0, dropped: 0, filtered: 0 });
  settleAll(rigs[1]!.sealed);
  expect(accounting.settled).toEqual({ delivered: 2, dead_lettered: 1, dropped: 0, filtered: 1 });
  expect(accounting.transformErrors).toBe(1);
});

test('batch whose events are made once is kept apart from those that can be rebuilt', async ({ rig }) => {
  await rig.take(blockOf(bytesOf(['kept'])));
  const shaper = testShaper(shapeAsTold, { isDeterministic: false });
  await rig.take(blockOf(bytesOf(['kept']), { stream: 's2', shape: { ...shape } }), { shaper });
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ origin, isTracked, canBeRebuilt }) => [origin, isTracked, canBeRebuilt])).toEqual([
    ['file', true, true],
    ['once', true, false],
  ]);
});

test('checksum of a body is that of all its events, shaped or not', async ({ rig }) => {
  await rig.take(blockOf(Buffer.from('one\n')), { rereadable: false });
  await rig.take(blockOf(bytesOf(['filtered', 'kept']), { stream: 's2', shape: { ...shape } }), {
    rereadable: false,
    shaper: testShaper(shapeAsTold),
  });
  rig.batcher.open.flush();
  expect(rig.sealed[0]!.payload.bodyCrc).toBe(crc32(bodyOf(rig.sealed[0]!)));
});

test('changed shaper gives another digest, and so another key', async () => {
  const digests = [];
  for (const digest of ['one', 'two', 'one']) {
    const rig = makeRig();
    await rig.take(blockOf(bytesOf(['kept'])), { shaper: testShaper(shapeAsTold, { digest }) });
    rig.batcher.open.flush();
    digests.push(rig.sealed[0]!.spans[0]!.digest);
  }
  expect(digests[0]).toBe(digests[2]);
  expect(new Set(digests).size).toBe(2);
});

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('kept', 'filtered', 'withheld', 'dropped', 'mixed') },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }).map((n) => `several${n}`) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 9000 }).map((n) => `large${n}`) },
);
const LAYOUTS = ['lines', 'breaks', 'joined', 'made'] as const;

test('shaped intake loses, doubles and moves nothing, however blocks and batches end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(word, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...LAYOUTS),
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      async (blocks, layout, maxEvents, isAsync) => {
        const rig = makeRig({ maxBytes: 4096, maxEvents, slots: 500 });
        const shaper = testShaper(shapeAsTold, { isAsync });
        const expected: string[] = [];
        const seen: string[] = [];
        let offset = 0;
        let n = 0;
        for (const words of blocks) {
          const parts = words.map(
            (as) => `${line(n++, as)}\n${layout === 'breaks' || layout === 'joined' ? '\n\r\n'.slice(0, n % 4) : ''}`,
          );
          // A lone CR would belong to the next line.
          const texts = parts.map((part) => part.replace(/\r$/, ''));
          const bytes = Buffer.from(texts.join(''));
          const ends: number[] = [];
          texts.forEach((text) => ends.push((ends.at(-1) ?? 0) + text.length));
          const block = blockOf(bytes, {
            offset,
            ...(layout === 'joined' || layout === 'made' ? { ends: Uint32Array.from(ends) } : {}),
            ...(layout === 'made' ? { made: { from: Buffer.from(bytes), used: Uint32Array.from(ends) } } : {}),
          });
          let at = 0;
          for (const text of texts) {
            const [, event = ''] = /^(\{.*\})/.exec(text)!;
            seen.push(
              `s1 ${offset + at} ${eventsOf(Buffer.from(`${event}\n`))
                .toString()
                .trimEnd()}`,
            );
            at += text.length;
          }
          expected.push(...texts.flatMap((text) => expectedOf(Buffer.from(`${text.split('\n')[0]}\n`))));
          await rig.take(block, { shaper });
          offset += bytes.length;
        }
        rig.batcher.open.flush();
        expect(sentOf(rig.sealed)).toEqual(expected);
        expect(shaper.seen).toEqual(seen);
        let reached = 0;
        for (const batch of rig.sealed) {
          expect(batch.events <= maxEvents || batch.accepted === 1).toBe(true);
          expect(batch.accepted).toBe(batch.spans.reduce((sum, { events }) => sum + events, 0));
          for (const { from, to } of batch.spans) {
            expect(from).toBe(reached);
            reached = to;
          }
        }
        expect(reached).toBe(offset);
        expect(rig.accounting.accepted).toBe(n);
        const withheld = rig.sealed.flatMap((batch) => withheldLetters(new InFlightBatch(batch)));
        expect(withheld.every(({ spanOffset, spanEnd }) => spanOffset < spanEnd)).toBe(true);
        expect(withheld.length).toBe(seen.filter((each) => /"as":"(withheld|mixed)"/.test(each)).length);
        settleAll(rig.sealed);
        const { settled } = rig.accounting;
        expect(settled.delivered + settled.dead_lettered + settled.dropped + settled.filtered).toBe(n);
        expect(settled.filtered).toBe(seen.filter((each) => /"as":"(filtered|several0)"/.test(each)).length);
        expect(settled.dead_lettered).toBe(withheld.length);
      },
    ),
    { numRuns: 150 },
  );
});

test('starts of events are where the kernel found them', () => {
  const window = Buffer.from('\r\n\none\n\r\ntwo\r\n\nthree\n');
  const { window: region } = blockOf(window);
  region.bytes.set(window, 0);
  const block = { ...blockOf(window), window: region };
  expect(eventStarts(block, 0, 3).map((at) => window.subarray(at, at + 3).toString())).toEqual(['one', 'two', 'thr']);
});

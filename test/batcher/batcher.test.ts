import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, expect, vi } from 'vitest';
import type { Block } from '../../src/core/block.ts';
import { keyOf } from '../../src/batcher/batch.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import { Shapes } from '../../src/batcher/fill/batcher.ts';
import type { StoppedError } from '../../src/core/errors.ts';
import { settleTurns, until } from '../support/until.ts';
import { blockOf, bodyOf, checkSpans, eventsOf, kernel, makeRig, shape, test } from './blocks.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

const lines = (count: number, first = 0): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, i) => `line number ${first + i}\n`).join(''));

afterEach(() => void vi.useRealTimers());

test('batcher closes a batch at max_events', async () => {
  const rig = makeRig({ maxEvents: 10 });
  const bytes = lines(25);
  await rig.take(blockOf(bytes));
  expect(rig.sealed.map(({ events }) => events)).toEqual([10, 10]);
  expect(rig.batcher.open.list().map(({ events }) => events)).toEqual([5]);
  rig.batcher.open.flush();
  expect(Buffer.concat(rig.sealed.map(bodyOf)).equals(Buffer.concat(eventsOf(bytes)))).toBe(true);
  checkSpans(rig.sealed, new Map([['s1', bytes]]));
  expect(rig.accounting.accepted).toBe(25);
});

test('batcher closes a batch before it would be larger than max_bytes', async () => {
  const bytes = lines(100);
  const each = eventsOf(bytes)[50]!.length;
  const rig = makeRig({ maxBytes: 10 * each, slots: 20 });
  await rig.take(blockOf(bytes));
  rig.batcher.open.flush();
  for (const batch of rig.sealed) expect(batch.payload.bytes).toBeLessThanOrEqual(10 * each);
  // Full ones hold ten: no room is wasted.
  expect(rig.sealed.slice(1, -1).every(({ events }) => events === 10)).toBe(true);
  expect(Buffer.concat(rig.sealed.map(bodyOf)).equals(Buffer.concat(eventsOf(bytes)))).toBe(true);
  checkSpans(rig.sealed, new Map([['s1', bytes]]));
});

test('batcher closes a batch max_age after its first event, however many follow', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const rig = makeRig({ maxAgeMs: 1000 });
  await rig.take(blockOf(lines(1)));
  await vi.advanceTimersByTimeAsync(600);
  await rig.take(blockOf(lines(1, 1), { offset: lines(1).length }));
  await vi.advanceTimersByTimeAsync(399);
  expect(rig.sealed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(rig.sealed.map(({ events }) => events)).toEqual([2]);
  // The next one has an age of its own.
  await rig.take(blockOf(lines(1)));
  await vi.advanceTimersByTimeAsync(999);
  expect(rig.sealed).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rig.sealed).toHaveLength(2);
  // A batch that was closed at its size leaves no timer that could close a later one early.
  const full = makeRig({ maxAgeMs: 1000, maxEvents: 2 });
  await full.take(blockOf(lines(2)));
  await vi.advanceTimersByTimeAsync(999);
  await full.take(blockOf(lines(1)));
  await vi.advanceTimersByTimeAsync(999);
  expect(full.sealed).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(full.sealed).toHaveLength(2);
  // What keeps the process alive is gone with the last batch.
  await full.take(blockOf(lines(1)));
  full.batcher.open.flush();
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('batcher sets no timer for a batch that is closed for an idle sink once it was read, and one for any other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  const rig = makeRig({ closesEarly: true });
  await rig.take(blockOf(lines(1)));
  rig.batcher.open.closeEarly();
  await settleTurns();
  expect([rig.sealed.length, setTimer.mock.calls.length]).toEqual([1, 0]);
  await rig.take(blockOf(lines(1)));
  await settleTurns();
  expect([rig.sealed.length, vi.getTimerCount()]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(rig.sealed).toHaveLength(2);
});

test('batcher refuses a block that does not end in a whole line', async ({ rig }) => {
  await expect(rig.take(blockOf(Buffer.from('whole\nhalf')))).rejects.toThrow(
    'nothing of the last 4 bytes of a block can be taken',
  );
  expect(rig.batcher.open.list().map(({ events }) => events)).toEqual([1]);
});

test('batcher knows the checksum of what goes to the disk buffer as it is, however it came', async () => {
  const rig = makeRig({ maxEvents: 10 });
  for (const count of [3, 4, 20]) await rig.take(blockOf(lines(count)), { rereadable: false });
  await rig.take(blockOf(lines(3), { stream: 's2' }));
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ origin, events }) => [origin, events])).toEqual([
    ['live', 10],
    ['live', 10],
    ['live', 7],
    ['file', 3],
  ]);
  for (const batch of rig.sealed)
    expect(batch.payload.bodyCrc).toBe(batch.origin === 'file' ? undefined : crc32(batch.payload.body));
});

test('batcher counts empty lines as no events and still covers their bytes', async ({ rig }) => {
  const bytes = Buffer.from('\n\r\none\n\n\r\n');
  await rig.take(blockOf(bytes));
  const blank = Buffer.from('\n\n\n');
  await rig.take(blockOf(blank, { stream: 's2' }));
  rig.batcher.open.flush();
  expect(rig.sealed).toHaveLength(1);
  expect(rig.sealed[0]!.spans).toMatchObject([
    { stream: 's1', from: 0, to: bytes.length, events: 1 },
    { stream: 's2', from: 0, to: 3, events: 0 },
  ]);
  checkSpans(
    rig.sealed,
    new Map([
      ['s1', bytes],
      ['s2', blank],
    ]),
  );
  expect(bodyOf(rig.sealed[0]!).toString()).toBe(eventsOf(bytes).join(''));
});

test('batcher seals a batch of nothing but empty lines, so that its bytes are settled', async ({ rig }) => {
  await rig.take(blockOf(Buffer.from('\n\n')));
  rig.batcher.open.flush();
  expect(rig.sealed).toMatchObject([{ events: 0, payload: { bytes: 0 }, spans: [{ from: 0, to: 2, events: 0 }] }]);
});

test('batcher gives an event larger than a batch one of its own, in its place', async () => {
  const rig = makeRig({ maxBytes: 2000, slots: 10 });
  const bytes = Buffer.concat([
    lines(3),
    Buffer.from(`${'x'.repeat(5000)}\n`),
    lines(3, 3),
    Buffer.from(`${'"'.repeat(1500)}\n`),
    lines(1, 6),
  ]);
  await rig.take(blockOf(bytes));
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ events }) => events)).toEqual([3, 1, 3, 1, 1]);
  expect(rig.sealed.map(({ payload }) => payload.slot !== undefined)).toEqual([true, false, true, false, true]);
  expect(Buffer.concat(rig.sealed.map(bodyOf)).equals(Buffer.concat(eventsOf(bytes)))).toBe(true);
  checkSpans(rig.sealed, new Map([['s1', bytes]]));
  // An empty batch that was open for nothing gave its memory back.
  const memory = rig.sealed.reduce((sum, batch) => sum + batch.payload.memory, 0);
  expect(rig.budget.usedBytes).toBe(memory);
  expect(rig.accounting.accepted).toBe(9);
});

test('batcher lets one event that is larger than all memory in when it is alone', async () => {
  const rig = makeRig({ maxBytes: 2000, slots: 2 });
  await rig.take(blockOf(lines(3)));
  const big = Buffer.from(`${'x'.repeat(50_000)}\n`);
  const taken = rig.take(blockOf(big, { stream: 's2' }));
  await settleTurns();
  expect(rig.sealed).toHaveLength(1);
  const [first] = rig.sealed;
  first!.payload.release(rig.budget);
  await taken;
  expect(rig.sealed[1]).toMatchObject({ events: 1 });
  expect(rig.waits).toHaveLength(1);
});

test('batcher keeps a single event’s own range and checksum, and joins nothing to it', async ({ rig }) => {
  const before = lines(2);
  await rig.take(blockOf(before));
  const cut = Buffer.from('a long line that was cut\n');
  const single = {
    length: 1000,
    sum: 77,
    tail: { length: 64, crc: 99 },
    marks: { truncated: true, original_bytes: 999 },
  };
  await rig.take(blockOf(cut, { offset: before.length, single }));
  await rig.take(blockOf(lines(1, 9), { offset: before.length + 1000 }));
  const rest = Buffer.from('unfinished\n');
  await rig.take(
    blockOf(rest, {
      offset: before.length + 1000 + lines(1, 9).length,
      single: { length: 10, sum: 78, tail: { length: 10, crc: 98 } },
    }),
  );
  rig.batcher.open.flush();
  const after = before.length + 1000;
  const end = after + lines(1, 9).length;
  expect(rig.sealed[0]!.spans).toMatchObject([
    { from: 0, to: before.length, events: 2, closed: false },
    { from: before.length, to: after, events: 1, sum: 77, tail: { length: 64, crc: 99 }, closed: true },
    { from: after, to: end, events: 1, sum: contentSum(lines(1, 9), after) },
    { from: end, to: end + 10, events: 1, sum: 78, closed: true },
  ]);
  const events = bodyOf(rig.sealed[0]!).toString().trimEnd().split('\n');
  expect(JSON.parse(events[2]!)).toMatchObject({
    message: 'a long line that was cut',
    truncated: true,
    original_bytes: 999,
  });
  expect(JSON.parse(events[4]!)).not.toHaveProperty('truncated');
});

test('batcher gives an event that is not to be sent a batch of its own, after the events taken before', async ({
  rig,
}) => {
  await rig.take(blockOf(lines(2)));
  const single = {
    length: 1000,
    sum: 77,
    tail: { length: 64, crc: 99 },
    marks: { truncated: true },
    refusal: 'too long',
  };
  await rig.take(blockOf(Buffer.from('long line\n'), { offset: lines(2).length, single }));
  await rig.take(blockOf(lines(1, 9), { offset: lines(2).length + 1000 }));
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ events, refusal }) => [events, refusal])).toEqual([
    [2, undefined],
    [1, 'too long'],
    [1, undefined],
  ]);
  expect(rig.sealed[1]!.spans).toMatchObject([{ from: lines(2).length, to: lines(2).length + 1000, events: 1 }]);
  expect(JSON.parse(bodyOf(rig.sealed[1]!).toString())).toMatchObject({ message: 'long line', truncated: true });
});

test('batcher gives parts of a line digests of their own, as their numbers are not in their bytes', async ({ rig }) => {
  const part = (n: number) => ({ length: 5, sum: 7, tail: { length: 5, crc: 7 }, marks: { part: n } });
  await rig.take(blockOf(Buffer.from('part\n'), { single: part(1) }));
  await rig.take(blockOf(Buffer.from('part\n'), { offset: 5, single: part(2) }));
  rig.batcher.open.flush();
  const [first, second] = rig.sealed[0]!.spans;
  expect(first!.digest).not.toBe(second!.digest);
});

const SHOUT = { ...shape, fields: { service: 'app', shout: true } };

/** A block of events made from the stream's bytes: each of these pieces is one, in capitals. */
function madeOf(pieces: readonly string[], offset = 0): Block {
  const made = Buffer.from(pieces.map((piece) => `${piece.trim().toUpperCase()}!\n`).join(''));
  const ends: number[] = [];
  const used: number[] = [];
  pieces.forEach((piece, n) => {
    ends.push((ends[n - 1] ?? 0) + piece.trim().length + 2);
    used.push((used[n - 1] ?? 0) + piece.length);
  });
  const from = Buffer.from(pieces.join(''));
  const tables = { ends: Uint32Array.from(ends), made: { from, used: Uint32Array.from(used) } };
  return blockOf(made, { shape: SHOUT, offset, sum: contentSum(from, offset), ...tables });
}

test('batcher gives events that were made from the stream’s bytes spans of those bytes, wherever batches are cut', async () => {
  const pieces = Array.from({ length: 50 }, (_, n) => `${'  '.repeat(n % 4)}line ${n}   \n`);
  const stream = Buffer.from(pieces.join(''));
  for (const limits of [{ maxEvents: 3, slots: 60 }, { maxBytes: 400, slots: 60 }, {}]) {
    const rig = makeRig(limits);
    await rig.take(madeOf(pieces.slice(0, 20)));
    await rig.take(madeOf(pieces.slice(20), Buffer.byteLength(pieces.slice(0, 20).join(''))));
    rig.batcher.open.flush();
    checkSpans(rig.sealed, new Map([['s1', stream]]));
    const events = Buffer.concat(rig.sealed.map(bodyOf)).toString().trimEnd().split('\n');
    expect(events.map((event) => (JSON.parse(event) as { message: string }).message)).toEqual(
      pieces.map((_, n) => `LINE ${n}!`),
    );
  }
});

test('batcher takes joined lines as one event each, wherever batches are cut', async () => {
  const groups = Array.from({ length: 40 }, (_, n) =>
    Array.from({ length: 1 + (n % 4) }, (_, line) => `group ${n} line ${line}\n`).join(''),
  );
  const stream = Buffer.from(groups.join(''));
  const ends = Uint32Array.from(groups.map((_, n) => Buffer.byteLength(groups.slice(0, n + 1).join(''))));
  for (const limits of [
    { maxEvents: 3, slots: 60 },
    { maxBytes: 400, slots: 60 },
    { maxBytes: 110, slots: 90 },
  ]) {
    const rig = makeRig(limits);
    await rig.take(blockOf(stream, { ends }));
    rig.batcher.open.flush();
    const events = Buffer.concat(rig.sealed.map(bodyOf)).toString().trimEnd().split('\n');
    expect(events.map((event) => (JSON.parse(event) as { message: string }).message)).toEqual(
      groups.map((group) => group.trimEnd()),
    );
    const spans = rig.sealed.flatMap((batch) => batch.spans);
    expect(spans.map(({ from }) => from)).toEqual([0, ...spans.slice(0, -1).map(({ to }) => to)]);
    expect(
      spans.every(({ to, sum, from }) => ends.includes(to) && sum === contentSum(stream.subarray(from, to), from)),
    ).toBe(true);
  }
});

test('batcher waits for memory, says how long, and goes on when some comes free', async () => {
  const rig = makeRig({ maxEvents: 10, slots: 2 });
  const bytes = lines(50);
  let isDone = false;
  const taken = rig.take(blockOf(bytes)).then(() => (isDone = true));
  await settleTurns();
  expect(rig.sealed).toHaveLength(2);
  expect([isDone, rig.accounting.accepted]).toEqual([false, 20]);
  for (let n = 0; n < 5; n++) {
    await until(`batch ${n}`, () => rig.sealed.length > n);
    // Memory never exceeds its budget.
    expect(rig.budget.usedBytes).toBeLessThanOrEqual(rig.budget.budgetBytes);
    rig.sealed[n]!.payload.release(rig.budget);
    // One slot at a time, however many turns the batcher takes to go on.
    await settleTurns();
  }
  await taken;
  expect(rig.accounting.accepted).toBe(50);
  expect(rig.waits).toHaveLength(3);
  expect(rig.budget.usedBytes).toBe(0);
});

test.for([true, false])(
  'batcher holds back one kind of source while enough of its batches wait (files: %s)',
  async (files) => {
    const rig = makeRig();
    rig.wantsMore = { files: !files, live: files };
    let isIn = false;
    const held = rig.take(blockOf(lines(1)), { rereadable: files }).then(() => (isIn = true));
    await rig.take(blockOf(lines(1), { stream: 's2' }), { rereadable: !files });
    await settleTurns();
    expect(isIn).toBe(false);
    rig.wantsMore = { files: true, live: true };
    blockOf(lines(1));
    rig.budget.wake();
    await held;
    expect(isIn).toBe(true);
  },
);

test('batcher turns away what waits when the agent stops, and says how much of it was not accepted', async () => {
  const rig = makeRig({ maxEvents: 10, slots: 2 });
  const file = rig.take(blockOf(lines(30)));
  const live = rig.take(blockOf(lines(30), { stream: 's2' }), { rereadable: false, accounting: new Accounting('net') });
  const errors = [file, live].map((each) => each.then(undefined, (error: unknown) => error as StoppedError));
  await settleTurns();
  rig.budget.close('rereadable');
  const fromFile = await errors[0];
  const files = rig.sealed.filter(({ origin }) => origin === 'file');
  expect(rig.accounting.accepted).toBe(files.reduce((sum, { events }) => sum + events, 0));
  const takenBytes = files.flatMap(({ spans }) => spans).reduce((sum, { from, to }) => sum + to - from, 0);
  expect(takenBytes).toBeGreaterThan(0);
  const { start, end } = blockOf(lines(30));
  expect(fromFile).toMatchObject({ code: 'E_STOPPED', remainingBytes: end - start - takenBytes });
  rig.budget.close('all');
  expect(await errors[1]).toMatchObject({ code: 'E_STOPPED' });
});

test('batcher never mixes datasets, nor files with input that cannot be reread', async ({ rig }) => {
  await rig.take(blockOf(lines(1)));
  await rig.take(blockOf(lines(2), { stream: 's2' }), { rereadable: false });
  await rig.take(blockOf(lines(3), { stream: 's3' }), { dataset: 'other' });
  rig.batcher.open.flush();
  expect(rig.sealed.map(({ dataset, origin, events }) => [dataset, origin, events])).toEqual([
    ['logs', 'file', 1],
    ['logs', 'live', 2],
    ['other', 'file', 3],
  ]);
});

test('batcher lets two sources share a batch, each in spans of its own', async ({ rig }) => {
  const net = new Accounting('net');
  const [one, two] = [lines(2), lines(3)];
  await rig.take(blockOf(one));
  await rig.take(blockOf(two, { stream: 's2' }), { accounting: net });
  await rig.take(blockOf(one, { offset: one.length }));
  await rig.take(blockOf(one, { offset: 2 * one.length }));
  rig.batcher.open.flush();
  expect(rig.sealed[0]!.spans).toMatchObject([
    { source: 'app', stream: 's1', from: 0, to: one.length, firstEvent: 0, events: 2 },
    { source: 'net', stream: 's2', from: 0, to: two.length, firstEvent: 0, events: 3 },
    { source: 'app', stream: 's1', from: one.length, to: 3 * one.length, firstEvent: 2, events: 4 },
  ]);
  checkSpans(
    rig.sealed,
    new Map([
      ['s1', Buffer.concat([one, one, one])],
      ['s2', two],
    ]),
  );
});

test('batcher begins a span when the shape of the events changes, and tells shapes apart in the digest', async ({
  rig,
}) => {
  const bytes = lines(1);
  await rig.take(blockOf(bytes));
  await rig.take(blockOf(bytes, { offset: bytes.length, shape: { ...shape, fields: { service: 'other' } } }));
  rig.batcher.open.flush();
  const digests = rig.sealed[0]!.spans.map(({ digest }) => digest);
  expect(new Set(digests).size).toBe(2);
  // The same shape, made again, has the same digest: a restart recognises its batches.
  const shapes = new Shapes(kernel, 'ndjson', undefined);
  expect(shapes.compile({ ...shape, fields: { service: 'app' } }).digest).toBe(digests[0]);
  for (const changed of [{ format: 'text' as const }, { wrapFields: { host: 'other' } }, { fields: {} }])
    expect(shapes.compile({ ...shape, ...changed }).digest).not.toBe(digests[0]);
});

test('batcher begins a span where another header names the columns, and tells headers apart in the digest', async ({
  rig,
}) => {
  const bytes = lines(1);
  for (const [n, header] of ['#Fields: a b', '#Fields: a b', '#Fields: c d'].entries())
    await rig.take(blockOf(bytes, { offset: n * bytes.length, header }));
  rig.batcher.open.flush();
  const { spans } = rig.sealed[0]!;
  expect(spans.map(({ events }) => events)).toEqual([2, 1]);
  const shapes = new Shapes(kernel, 'ndjson', undefined);
  expect(shapes.digestOf(blockOf(bytes, { header: '#Fields: c d' }))).toBe(spans[1]!.digest);
  expect(spans[0]!.digest).not.toBe(spans[1]!.digest);
});

test('shapes name the transforms that a reload put into force, for shapes that it knows', () => {
  const shapes = new Shapes(kernel, 'ndjson', undefined);
  const shaperOf = (digest: string, isDeterministic = true) => ({
    digest,
    isDeterministic,
    hidesFields: false,
    shape: () => expect.unreachable(),
  });
  const digestWith = (...args: Parameters<typeof shaperOf>) => shapes.compile(shape, shaperOf(...args)).digest;
  const [first, plain] = [digestWith('first'), shapes.compile(shape).digest];
  expect(new Set([first, plain, digestWith('second'), digestWith('once', false)]).size).toBe(4);
  expect(digestWith('first')).toBe(first);
  expect(shapes.compile(shape).digest).toBe(plain);
});

const line = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom('', '\r', '{"a":1}', '{"_time":"x","service":1}', '{"broken"') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 100, maxLength: 900 }) },
);

test('batcher loses, repeats and reorders nothing for any lines, blocks and limits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.array(line, { minLength: 1, maxLength: 12 })), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.integer({ min: 150, max: 2000 }),
      fc.integer({ min: 1, max: 20 }),
      async (blocks, maxBytes, maxEvents) => {
        const rig = makeRig({ maxBytes, maxEvents, slots: 3 });
        // Sealed bodies are given back at once: the memory of many batches passes through three slots.
        const bodies: Buffer[] = [];
        const push = rig.sealed.push.bind(rig.sealed);
        rig.sealed.push = (batch) => {
          bodies.push(bodyOf(batch));
          expect(batch.events).toBeLessThanOrEqual(maxEvents);
          if (batch.payload.slot || batch.events !== 1) expect(batch.payload.bytes).toBeLessThanOrEqual(maxBytes);
          queueMicrotask(() => rig.budget.release(batch.payload.memory, batch.payload.slot));
          return push(batch);
        };
        const streams = new Map<string, Buffer>();
        const expected: Buffer[] = [];
        for (const [stream, texts] of blocks) {
          const name = `s${stream}`;
          const bytes = Buffer.from(texts.map((text) => `${text.replaceAll('\n', ' ')}\n`).join(''));
          const before = streams.get(name) ?? Buffer.alloc(0);
          await rig.take(blockOf(bytes, { stream: name, offset: before.length }));
          streams.set(name, Buffer.concat([before, bytes]));
          expected.push(...eventsOf(bytes));
        }
        rig.batcher.open.flush();
        await settleTurns(1);
        expect(Buffer.concat(bodies).equals(Buffer.concat(expected))).toBe(true);
        checkSpans(rig.sealed, streams);
        expect(rig.accounting.accepted).toBe(expected.length);
        expect(rig.budget.usedBytes).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
});

test('batcher joins nothing over a gap in the stream', async ({ rig }) => {
  const bytes = lines(1);
  await rig.take(blockOf(bytes));
  await rig.take(blockOf(bytes, { offset: bytes.length + 7 }));
  rig.batcher.open.flush();
  expect(rig.sealed[0]!.spans.map(({ from, to }) => [from, to])).toEqual([
    [0, bytes.length],
    [bytes.length + 7, 2 * bytes.length + 7],
  ]);
});

test('events that come from the same bytes have keys of their own where they come in batches of their own', async () => {
  // What comes of one group of lines, as container messages of two streams do.
  const bytes = Buffer.from('one\ntwo\n');
  const single = { length: 5, sum: 1, tail: { length: 0, crc: 0 } };
  for (const limits of [{ maxEvents: 1 }, { maxEvents: 2 }, { maxBytes: 20 }]) {
    const rig = makeRig(limits);
    await rig.take(blockOf(bytes, { ends: Uint32Array.of(4, 8), single }));
    rig.batcher.open.flush();
    const keys = rig.sealed.map(({ spans }) => keyOf('store', 'logs', spans));
    expect(new Set(keys).size).toBe(rig.sealed.length);
    expect(rig.sealed.reduce((sum, { events }) => sum + events, 0)).toBe(2);
  }
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestContinued } from '../../src/batcher/span.ts';
import { Accounting, countEvents } from '../../src/batcher/accounting.ts';
import { SourceLane } from '../../src/batcher/fill/lane.ts';
import { settleTurns, until } from '../support/until.ts';
import { type Rig, blockOf, bodyOf, checkSpans, eventsOf, makeRig, NO_MARKS, marksAt } from './blocks.ts';

/** A lane into these sinks; `committed` is what each has of the stream already. */
function makeLane(rigs: readonly Rig[], committed: readonly (number | undefined)[] = []) {
  const accounting = new Accounting('app');
  const lane = new SourceLane({
    accounting,
    routes: rigs.map(({ batcher }, sink) => ({ sink: String(sink), dataset: 'logs', batcher })),
    isTracked: true,
    deleted: new Set(),
    streams: marksAt(committed),
  });
  /** As the agent counts it: events in batches, and those the lane holds. */
  const held = (): number =>
    countEvents([
      ...lane.held(),
      ...rigs
        .flatMap(({ batcher, sealed }) => [...batcher.open.list(), ...sealed].flatMap(({ spans }) => spans))
        .map(({ firstEvent, events }) => [firstEvent, firstEvent + events] as const),
    ]);
  return { lane, accounting, held };
}

const BYTES = Buffer.from(Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(''));
const LINE_ENDS = [...BYTES.keys()].filter((at) => BYTES[at] === 10).map((at) => at + 1);

test('lane offers a block to every sink and accepts each event once', async () => {
  const rigs = [makeRig({ maxEvents: 7 }), makeRig({ maxEvents: 3 })];
  const { lane, accounting, held } = makeLane(rigs);
  await lane.accept(blockOf(BYTES));
  for (const { batcher } of rigs) batcher.open.flush();
  for (const { sealed } of rigs) {
    expect(Buffer.concat(sealed.map(bodyOf)).equals(Buffer.concat(eventsOf(BYTES)))).toBe(true);
    checkSpans(sealed, new Map([['s1', BYTES]]));
  }
  expect([accounting.accepted, held()]).toEqual([20, 20]);
  expect(lane.held()).toEqual([]);
});

test('event that goes on in another stream is a span of each in one batch, and waits for the disk if either cannot be read again', async () => {
  const single = { length: 5, sum: 1, tail: { length: 0, crc: 0 } };
  const continued = [{ stream: 's2', from: 0, to: 7, sum: 2, tail: { length: 0, crc: 0 } }];
  for (const gone of ['none', 's1', 's2']) {
    const rig = makeRig();
    const routes = [{ sink: '0', dataset: 'logs', batcher: rig.batcher }];
    const lane = new SourceLane({
      accounting: new Accounting('app'),
      routes,
      isTracked: true,
      deleted: new Set([gone]),
      streams: NO_MARKS,
    });
    await lane.accept({ ...blockOf(Buffer.from('a whole line\n')), single, continued });
    rig.batcher.open.flush();
    const [batch] = rig.sealed;
    expect(batch!.origin).toBe(gone === 'none' ? 'file' : 'orphan');
    expect(batch!.spans).toMatchObject([
      { stream: 's1', from: 0, to: 5, events: 1, closed: true },
      { stream: 's2', from: 0, to: 7, events: 0, closed: true },
    ]);
    expect(batch!.spans.map(digestContinued)).toEqual([undefined, batch!.spans[0]!.digest]);
  }
});

test('characters that are no UTF-8 are counted once for all sinks, in text, in objects and in an event that goes alone', async () => {
  const rigs = [makeRig({ maxEvents: 2 }), makeRig({ maxEvents: 3 }), makeRig({ maxBytes: 300 })];
  const { lane, accounting } = makeLane(rigs);
  const lines = ['\xff\xfe', '{"a":"\xe2\x82"}', `\xff${'x'.repeat(400)}`, '\xef\xbf\xbd', '', 'plain'];
  await lane.accept(blockOf(Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1')));
  expect([accounting.accepted, accounting.invalidCharacters]).toEqual([5, 4]);
});

test('lane gives each sink exactly the bytes from its own position on, after any restart', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: LINE_ENDS.length - 1 })), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      async (positions, blockLines) => {
        const committed = positions.map((position) => (position === undefined ? undefined : LINE_ENDS[position]!));
        const rigs = positions.map(() => makeRig({ maxEvents: 4, slots: 10 }));
        const { lane, accounting } = makeLane(rigs, committed);
        // Reading goes on where the sink that is furthest behind is.
        const start = Math.min(...committed.map((position) => position ?? 0));
        let line = LINE_ENDS.indexOf(start) + 1;
        for (let n = 0; line < LINE_ENDS.length; n++) {
          const from = line === 0 ? 0 : LINE_ENDS[line - 1]!;
          line = Math.min(LINE_ENDS.length, line + blockLines[n % blockLines.length]!);
          await lane.accept(blockOf(BYTES.subarray(from, LINE_ENDS[line - 1]), { offset: from }));
        }
        rigs.forEach(({ batcher, sealed }, sink) => {
          batcher.open.flush();
          const rest = BYTES.subarray(committed[sink] ?? 0);
          expect(Buffer.concat(sealed.map(bodyOf)).toString()).toBe(eventsOf(rest).join(''));
          expect(sealed[0]?.spans[0]?.from ?? committed[sink]).toBe(committed[sink] ?? 0);
        });
        expect(accounting.accepted).toBe(eventsOf(BYTES.subarray(start)).length);
        // All settle all: every event has one outcome.
        for (const { sealed } of rigs)
          for (const { spans } of sealed)
            for (const { firstEvent, events } of spans) accounting.settle(firstEvent, firstEvent + events, 'delivered');
        expect(accounting.settled).toEqual({
          delivered: accounting.accepted,
          dead_lettered: 0,
          dropped: 0,
          filtered: 0,
        });
      },
    ),
    { numRuns: 100 },
  );
});

test('lane gives a single event only to the sinks that do not have it', async () => {
  const rigs = [makeRig(), makeRig(), makeRig()];
  const single = { length: 100, sum: 1, tail: { length: 1, crc: 1 } };
  const { lane, accounting } = makeLane(rigs, [150, 100, undefined]);
  await lane.accept(blockOf(Buffer.from('the event\n'), { offset: 50, single }));
  expect(
    rigs.map(({ batcher }) => batcher.open.list().map(({ spans }) => spans.map(({ from, to }) => [from, to]))),
  ).toEqual([[], [[[50, 150]]], [[[50, 150]]]]);
  expect(accounting.accepted).toBe(1);
});

// An event with a place of its own, then two that come of the same bytes: the first of them uses up nothing by itself.
test.each([
  [0, 'ABCD'],
  [4, 'BCD'],
  [5, 'CD'],
  [8, 'D'],
  [12, ''],
])(
  'lane gives a sink that has the stream up to %i of made events what it may lack: %s',
  async (committed, expected) => {
    const rigs = [makeRig(), makeRig()];
    const { lane } = makeLane(rigs, [committed, undefined]);
    const used = Uint32Array.from([4, 4, 8, 12]);
    const ends = Uint32Array.from([2, 4, 6, 8]);
    await lane.accept(
      blockOf(Buffer.from('A\nB\nC\nD\n'), { ends, made: { from: Buffer.from('aaa\nbcc\nddd\n'), used } }),
    );
    const messages = rigs.map(({ batcher }) => {
      const [batch] = batcher.open.list();
      const events = batch ? bodyOf(batch).toString().split('\n').slice(0, -1) : [];
      return events.map((event) => (JSON.parse(event) as { message: string }).message).join('');
    });
    expect(messages).toEqual([expected, 'ABCD']);
  },
);

test('lane counts what one sink has and another waits for as held, at every moment', async () => {
  const rigs = [makeRig({ maxEvents: 4, slots: 10 }), makeRig({ maxEvents: 4, slots: 2 })];
  const { lane, accounting, held } = makeLane(rigs);
  let isDone = false;
  const accepted = lane.accept(blockOf(BYTES)).then(() => (isDone = true));
  await settleTurns();
  expect([isDone, accounting.accepted, held()]).toEqual([false, 20, 20]);
  // The first sink settles all of its batches; the second still lacks 12 events.
  for (const batch of rigs[0]!.sealed.splice(0))
    for (const { firstEvent, events } of batch.spans) accounting.settle(firstEvent, firstEvent + events, 'delivered');
  rigs[0]!.batcher.open.flush();
  expect([accounting.settled.delivered, held()]).toEqual([0, 20]);
  for (let n = 0; n < 5; n++) {
    await until(`batch ${n}`, () => rigs[1]!.sealed.length > 0);
    const batch = rigs[1]!.sealed.shift()!;
    for (const { firstEvent, events } of batch.spans) accounting.settle(firstEvent, firstEvent + events, 'delivered');
    rigs[1]!.budget.release(batch.payload.memory, batch.payload.slot);
    await settleTurns();
    expect(accounting.settled.delivered + held()).toBe(20);
  }
  await accepted;
  expect(lane.backpressureMs).toBeGreaterThan(0);
  expect(accounting.settled.delivered).toBe(20);
});

// Symptom: `backpressure_seconds_total` did not move while a service answered nothing at all. Cause: a wait counted only once it was over.
// Fix: the current wait counts, and names its reason.
test('lane counts a wait while it lasts, and says for which sink it waits', async () => {
  const rig = makeRig({ maxEvents: 4, slots: 2 });
  const { lane } = makeLane([rig]);
  expect(lane.waiting).toBeUndefined();
  const accepted = lane.accept(blockOf(BYTES));
  await until('it waits', () => lane.waiting !== undefined && lane.backpressureMs > 0);
  expect(lane.waiting?.rereadable).toBe(true);
  const early = lane.backpressureMs;
  await until('the wait grows', () => lane.backpressureMs > early);
  let isDone = false;
  void accepted.then(() => (isDone = true));
  await until('all is taken', () => {
    for (const batch of rig.sealed.splice(0)) rig.budget.release(batch.payload.memory, batch.payload.slot);
    return isDone;
  });
  expect(lane.waiting).toBeUndefined();
  expect(lane.backpressureMs).toBeGreaterThanOrEqual(early);
});

test('lane lets blocks of one source in one after the other', async () => {
  const rig = makeRig({ maxEvents: 4, slots: 2 });
  const { lane } = makeLane([rig]);
  const order: string[] = [];
  const first = lane.accept(blockOf(BYTES)).then(() => order.push('first'));
  const second = lane.accept({ ...blockOf(BYTES), stream: 's2' }).then(() => order.push('second'));
  for (let n = 0; n < 10; n++) {
    await until(`batch ${n}`, () => rig.sealed.length > n);
    // The second block must not have begun before the first one is in.
    if (rig.sealed[n]!.spans.some(({ stream }) => stream === 's2')) expect(order).toContain('first');
    rig.sealed[n]!.payload.release(rig.budget);
  }
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('lane goes on with the next block after one that was turned away', async () => {
  const rig = makeRig({ maxEvents: 4, slots: 2 });
  const { lane } = makeLane([rig]);
  const refused = expect(lane.accept(blockOf(BYTES))).rejects.toMatchObject({ code: 'E_STOPPED' });
  await settleTurns();
  rig.budget.close('all');
  await refused;
  await expect(lane.accept(blockOf(BYTES))).rejects.toMatchObject({ code: 'E_STOPPED' });
});

import { expect, onTestFinished } from 'vitest';
import type { Batch } from '../../src/batcher/batch.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import type { Delivery } from '../../src/batcher/send/delivery.ts';
import { SourceLane } from '../../src/batcher/fill/lane.ts';
import { restoreBatches, type RestoreOptions } from '../../src/batcher/keep/restore.ts';
import type { Block, EventShape, Span } from '../../src/core/block.ts';
import { newStats, type Source } from '../../src/core/source.ts';
import { openState, type State } from '../../src/state/database/store.ts';
import type { Shaper } from '../../src/core/shaping.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { makeTree } from '../support/temp-tree.ts';
import { shapeAsTold, testShaper } from '../support/test-shaper.ts';
import { until } from '../support/until.ts';
import { blockOf, bodyOf, eventsOf, kernel, makeRig, shape, NO_MARKS } from './blocks.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';
import { beginning } from '../support/begin.ts';

const MAX_BYTES = 4096;

/** A file source that has these bytes of its streams. */
function sourceOf(id: string, files: Map<string, Buffer>, as: EventShape = shape, header?: string): Source {
  return {
    id,
    stats: newStats(),
    open: () => Promise.resolve(),
    run: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    async reread(span: Span, lane) {
      const bytes = files.get(span.stream);
      if (!bytes || bytes.length < span.to) return span.from;
      // In two blocks where there are two lines, as a reader's window may cut it.
      const part = bytes.subarray(span.from, span.to);
      const cut = part.indexOf(10) + 1;
      const same = { stream: span.stream, shape: as, ...(header === undefined ? {} : { header }) };
      await lane.accept(blockOf(part.subarray(0, cut), { ...same, offset: span.from }));
      if (cut < part.length) await lane.accept(blockOf(part.subarray(cut), { ...same, offset: span.from + cut }));
      return span.to;
    },
  };
}

interface Site {
  /** Closes the state, and opens it again as the next process does. */
  readonly reopen: () => State;
}

interface Left {
  readonly files: Map<string, Buffer>;
  readonly state: State;
  readonly left: Batch[];
}

function makeState(): Site & { state: State } {
  const folder = makeTree({});
  let state: State | undefined;
  const reopen = (): State => {
    state?.close();
    return (state = openState({ folder, sinksOf: () => ['store'], log: new MemoryLog() }));
  };
  onTestFinished(() => void state?.close());
  return { state: reopen(), reopen };
}

/** Writes these batches of whole files as a process would that then dies, and opens the state again. */
async function leave(files = FILES(), maxEvents = 3, shaper?: Shaper): Promise<Site & Left> {
  const { state, reopen } = makeState();
  const rig = makeRig({ maxBytes: MAX_BYTES, maxEvents, slots: 20 });
  const lane = new SourceLane({
    accounting: rig.accounting,
    routes: [{ sink: 'store', dataset: 'logs', batcher: rig.batcher, shaper }],
    isTracked: true,
    deleted: new Set(),
    streams: NO_MARKS,
  });
  for (const [path, bytes] of [...files]) {
    const { id } = state.streams.mint('app', path);
    files.delete(path);
    files.set(id, bytes);
    await lane.accept(blockOf(bytes, { stream: id }));
  }
  rig.batcher.open.flush();
  rig.sealed.forEach((batch, i) => (batch.key = `key ${i}`));
  state.commit(rig.sealed.map((batch) => batch.toStored()));
  return { files, state: reopen(), reopen, left: rig.sealed };
}

const test = beginning(() => leave(), 'files', 'left', 'reopen', 'state');

interface Restored {
  readonly sealed: Batch[];
  readonly log: MemoryLog;
  readonly accounting: Accounting;
  readonly source: Source;
}

async function restore(
  state: State,
  source: Source,
  names: { sink?: string; source?: string; others?: readonly Source[]; shaper?: Shaper } = {},
  changes: Partial<RestoreOptions> = {},
): Promise<Restored> {
  const rig = makeRig({ maxBytes: MAX_BYTES, slots: 20 });
  const sealed: Batch[] = [];
  const log = new MemoryLog();
  const delivery = { enqueue: (batch: Batch) => void sealed.push(batch) } as unknown as Delivery;
  await restoreBatches({
    batches: state.ledger.unsettled(),
    log,
    slot: kernel.reserve(MAX_BYTES + 64),
    target: (sink) =>
      sink === (names.sink ?? 'store')
        ? { batcher: rig.batcher, delivery, budget: rig.budget, shaperOf: () => names.shaper }
        : undefined,
    source: (id) => {
      if (id === (names.source ?? 'app')) return { source, accounting: rig.accounting };
      const other = names.others?.find((each) => each.id === id);
      return other && { source: other, accounting: new Accounting(id) };
    },
    clock: new SteppedClock(),
    retryMs: 1000,
    stopping: new AbortController().signal,
    state,
    ...changes,
  });
  return { sealed, log, accounting: rig.accounting, source };
}

const keysOf = (batches: readonly Batch[]): string[] => batches.map(({ key }) => key);
const bodiesOf = (batches: readonly Batch[]): string[] => batches.map((batch) => bodyOf(batch).toString());

const FILES = (): Map<string, Buffer> =>
  new Map([
    ['/a', Buffer.from('a one\n\na two\n{"a":"three"}\na four\n')],
    ['/b', Buffer.from(`b one\n${'b'.repeat(9000)}\nb three\n`)],
  ]);

test('restore builds the same events under the same keys', async ({ files, state, left }) => {
  const { sealed, log, accounting } = await restore(state, sourceOf('app', files));
  expect(keysOf(sealed)).toEqual(keysOf(left));
  expect(bodiesOf(sealed)).toEqual(bodiesOf(left));
  expect(sealed.map((batch) => batch.toStored())).toEqual(left.map((batch) => batch.toStored()));
  expect(sealed.every(({ isCommitted, origin }) => isCommitted && origin === 'file')).toBe(true);
  expect(log.lines).toEqual([]);
  const events = [...files.values()].flatMap((bytes) => eventsOf(bytes));
  expect(Buffer.concat(sealed.map(bodyOf)).toString()).toBe(events.join(''));
  // They count as accepted again, in this process.
  expect(accounting.accepted).toBe(events.length);
  expect(sealed.flatMap(({ spans }) => spans.map(({ firstEvent }) => firstEvent))).toEqual(
    sealed
      .flatMap(({ spans }) => spans)
      .map((_, i, spans) => spans.slice(0, i).reduce((sum, { events: count }) => sum + count, 0)),
  );
});

test('restore a second time, after another kill, keeps the keys', async ({ files, reopen, state, left }) => {
  await restore(state, sourceOf('app', files));
  const again = reopen();
  const { sealed } = await restore(again, sourceOf('app', files));
  expect(keysOf(sealed)).toEqual(keysOf(left));
});

test('restore retires the key when the bytes or what shapes the events changed, durably', async () => {
  const changes: [name: string, change: (files: Map<string, Buffer>) => EventShape | undefined][] = [
    ['a byte', (files) => void (files.get([...files.keys()][0]!)![0] = 0x41)],
    ['fields', () => ({ ...shape, fields: { service: 'renamed' } })],
    ['format', () => ({ ...shape, format: 'text' })],
  ];
  for (const [name, change] of changes) {
    const files = FILES();
    const { reopen, state, left } = await leave(files, 100);
    const as = change(files);
    const { sealed, log } = await restore(state, sourceOf('app', files, as));
    expect(sealed[0]!.key, name).not.toBe(left[0]!.key);
    expect(bodyOf(sealed[0]!).toString()).not.toBe(bodyOf(left[0]!).toString());
    expect(log.find('warn', 'new key').length).toBeGreaterThan(0);
    // The next process finds the new key, and keeps it.
    const again = reopen();
    const { sealed: second } = await restore(again, sourceOf('app', files, as));
    expect(second.map(({ key }) => key)).toEqual(sealed.map(({ key }) => key));
  }
});

// Symptom: bytes that were gone at a restart were counted by two processes. Cause: the first was killed between counting and
// saving that they are gone. Fix: the other order.
test('restore counts lost bytes only once that loss is saved', async ({ files, state }) => {
  files.delete([...files.keys()][0]!);
  const source = sourceOf('app', files);
  let counted: number | undefined;
  const replace: State['replace'] = (id, batches) => {
    counted ??= source.stats.lostBytes;
    state.replace(id, batches);
  };
  await restore(state, source, {}, { state: { ledger: state.ledger, run: state.run, replace } });
  expect(counted).toBe(0);
  expect(source.stats.lostBytes).toBeGreaterThan(0);
});

test('restore sends the beginning of a span of which the rest is gone, counts the rest, and knows the checksums as before', async () => {
  const lines = 'a one\na two\na three\na four\n';
  const end = 'a one\na two\na thr'.length;
  const files = new Map([['/a', Buffer.from(lines)]]);
  const { reopen, state } = await leave(files, 100);
  const known = state.streams.list('app');
  const short: Source = {
    ...sourceOf('app', files),
    async reread({ stream, from, to }, lane) {
      const bytes = files.get(stream)!.subarray(0, end);
      const cut = bytes.lastIndexOf(10) + 1;
      if (from < cut) await lane.accept(blockOf(bytes.subarray(from, cut), { stream, offset: from, shape }));
      if (to <= cut) return to;
      const rest = bytes.subarray(cut);
      const single = { length: rest.length, sum: contentSum(rest, cut), tail: { length: 0, crc: 0 } };
      await lane.accept({
        ...blockOf(Buffer.concat([rest, Buffer.from('\n')]), { stream, offset: cut, shape }),
        single,
      });
      return end;
    },
  };
  const { sealed, source } = await restore(state, short);
  expect(sealed.map((batch) => bodyOf(batch).toString())).toEqual([
    eventsOf(Buffer.from('a one\na two\na thr\n')).join(''),
  ]);
  expect(source.stats.lostBytes).toBe(lines.length - end);
  const again = reopen();
  expect(again.streams.list('app')).toMatchObject(
    known.map(({ id, resumeAt, contentSum, tail }) => ({ id, resumeAt, contentSum, tail })),
  );
  const { sealed: second, source: counter } = await restore(again, {
    ...sourceOf('app', files),
    reread: short.reread!.bind(short),
  });
  expect(second.map((batch) => bodyOf(batch).toString())).toEqual(sealed.map((batch) => bodyOf(batch).toString()));
  expect(counter.stats.lostBytes).toBe(0);
});

test('restore counts bytes that are gone as lost, says so, and lets the mark pass', async ({ files, state }) => {
  const [a] = [...files.keys()] as [string];
  const gone = files.get(a)!.length;
  files.delete(a);
  const { sealed, log, source } = await restore(state, sourceOf('app', files));
  expect(source.stats.lostBytes).toBe(gone);
  expect(log.find('error', 'are gone').length).toBeGreaterThan(0);
  for (const batch of sealed) state.ledger.settle(batch.toStored());
  expect(state.streams.isSettled(a)).toBe(true);
  expect(state.ledger.unsettled().length).toBeGreaterThan(0);
  state.save();
  expect(state.ledger.unsettled()).toEqual([]);
});

/** Entries of a journal, by the positions behind them. */
const ENTRIES: ReadonlyMap<number, string> = new Map([
  [10, '{"n":1}\n'],
  [11, '{"n":2,"a":"longer"}\n'],
  [30, '{"n":3}\n'],
  [31, '{"n":4,"b":"longer"}\n'],
]);

const entriesAt = (positions: readonly number[], changes: Partial<Block>): Block => {
  const parts = positions.map((position) => Buffer.from(ENTRIES.get(position)!));
  const ends = Uint32Array.from(parts, (_, n) => Buffer.concat(parts.slice(0, n + 1)).length);
  return { ...blockOf(Buffer.concat(parts), changes), ends, positions };
};

/** A source of them that has no others any more. */
function journalOf(positions: readonly number[], as: EventShape = shape): Source {
  return {
    ...sourceOf('app', new Map()),
    async reread({ stream, from, to }, lane) {
      const there = positions.filter((position) => position > from && position <= to);
      if (there.length > 0) await lane.accept(entriesAt(there, { stream, offset: from, shape: as }));
      return there.at(-1) ?? from;
    },
  };
}

// Symptom: lost entries of a journal counted as a byte each, and not at all where later ones of their span were there. Cause: positions were
// taken for bytes, and an end that was there for all of the span. Fix: a span knows how many bytes its events have.
test.each([
  ['all', []],
  ['the first', [11, 30, 31]],
  ['the last', [10, 11, 30]],
  ['one in the middle', [10, 11, 31]],
  ['both ends', [11, 30]],
  ['none', [10, 11, 30, 31]],
])('restore counts the bytes of entries that are gone, once: %s', async (_, there) => {
  const { state, reopen } = makeState();
  const { id } = state.streams.mint('app', 'journal:a', undefined, 9);
  const rig = makeRig({ maxEvents: 100 });
  await rig.take(entriesAt([10, 11], { stream: id, offset: 9 }));
  await rig.take(entriesAt([30, 31], { stream: id, offset: 11 }));
  rig.batcher.open.flush();
  state.commit(rig.sealed.map((batch) => batch.toStored()));
  const gone = [...ENTRIES]
    .filter(([position]) => !there.includes(position))
    .reduce((sum, [, text]) => sum + text.length, 0);
  const lost: number[] = [];
  const shapes = [shape, shape, { ...shape, format: 'text' as const }];
  for (const as of shapes) {
    const { source, log, sealed } = await restore(reopen(), journalOf(there, as));
    lost.push(source.stats.lostBytes);
    expect(log.find('error', 'are gone')).toHaveLength(lost.length === 1 && gone > 0 ? 1 : 0);
    expect(sealed.map(({ events }) => events)).toEqual([there.length]);
  }
  expect(lost).toEqual([gone, 0, 0]);
  const again = reopen();
  for (const batch of again.ledger.unsettled()) again.ledger.settle(batch);
  expect(again.streams.isSettled(id)).toBe(true);
});

test('restore counts a lost entry as one byte at least when the shape changed', async () => {
  const { state, reopen } = makeState();
  const { id } = state.streams.mint('app', 'journal:a', undefined, 9);
  const rig = makeRig();
  await rig.take(entriesAt([10, 11], { stream: id, offset: 9 }));
  rig.batcher.open.flush();
  state.commit(rig.sealed.map((batch) => batch.toStored()));
  const longer: Source = {
    ...journalOf([]),
    async reread({ stream, from }, lane) {
      const text = Buffer.from(`{"n":1,"all":"${'x'.repeat(100)}"}\n`);
      const changes = {
        stream,
        offset: from,
        ends: Uint32Array.of(text.length),
        positions: [10],
        shape: { ...shape, shaping: 'all' },
      };
      await lane.accept(blockOf(text, changes));
      return 10;
    },
  };
  expect((await restore(reopen(), longer)).source.stats.lostBytes).toBe(1);
});

// Symptom: lost bytes were counted and logged anew at each start for as long as the service was away. Cause: their span stays in the batch,
// without events, and was read again. Fix: a span without events is not read again.
test('restore counts bytes that are gone once, however often it starts again before the batch is delivered', async () => {
  const { files, reopen, state } = await leave();
  const [a] = [...files.keys()] as [string];
  files.delete(a);
  await restore(state, sourceOf('app', files));
  const again = reopen();
  const { sealed, log, source } = await restore(again, sourceOf('app', files));
  expect(source.stats.lostBytes).toBe(0);
  expect(log.find('error', 'are gone')).toEqual([]);
  for (const batch of sealed) again.ledger.settle(batch.toStored());
  expect(again.streams.isSettled(a)).toBe(true);
});

test('restore keeps the batches of a sink that is not configured any more', async ({ files, state, left }) => {
  const { sealed, log } = await restore(state, sourceOf('app', files), { sink: 'another' });
  expect(sealed).toEqual([]);
  expect(log.find('warn', 'kept until the sink is back')).toHaveLength(left.length);
  expect(state.ledger.unsettled()).toHaveLength(left.length);
});

// Symptom: lines were never delivered when their source was taken out of the configuration for one start. Cause: bytes of
// an unknown source counted as gone, and were settled. Fix: they are kept, as those of an unknown sink are.
test('restore keeps the batches of a source that is not configured any more', async ({
  files,
  reopen,
  state,
  left,
}) => {
  const { sealed, log } = await restore(state, sourceOf('app', files), { source: 'another' });
  expect(sealed).toEqual([]);
  expect(log.find('warn', 'kept until the source is back')).toHaveLength(left.length);
  const again = reopen();
  const { sealed: back } = await restore(again, sourceOf('app', files));
  expect(back.map(({ key }) => key)).toEqual(left.map(({ key }) => key));
});

/** One batch of the lines of two sources, as one dataset makes it, left behind. */
async function leaveMixed(): Promise<Site & { files: Map<string, Buffer>; key: string; net: string }> {
  const { state, reopen } = makeState();
  const rig = makeRig({ maxBytes: MAX_BYTES, slots: 20 });
  const files = new Map<string, Buffer>();
  let net = '';
  for (const [source, text] of [
    ['app', 'app one\napp two\n'],
    ['net', 'net one\n'],
    ['app', 'app three\n'],
  ] as const) {
    const bytes = Buffer.from(text);
    const { id } = state.streams.mint(source, `/${source}`);
    if (source === 'net') net = id;
    files.set(id, bytes);
    await rig.take(blockOf(bytes, { stream: id }), { accounting: new Accounting(source) });
  }
  // The other source has gone on: its later lines are in a batch of their own.
  rig.batcher.open.flush();
  files.set(net, Buffer.from('net one\nnet two\n'));
  const accounting = new Accounting('net');
  await rig.take(blockOf(Buffer.from('net two\n'), { stream: net, offset: 8 }), { accounting });
  rig.batcher.open.flush();
  rig.sealed.forEach((batch, i) => (batch.key = `mixed ${i}`));
  state.commit(rig.sealed.map((batch) => batch.toStored()));
  return { reopen, files, key: 'mixed 0', net };
}

const textOf = (batches: readonly Batch[]): string[] =>
  batches
    .flatMap((batch) => bodyOf(batch).toString().trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { message: string }).message);

// Symptom: of a batch that held lines of two sources, those of the one that was taken out of the configuration were never
// delivered. Cause: they counted as gone, and settled with the batch at the second restart. Fix: they become a batch of
// their own, which waits for its source.
test('restore keeps the lines of a source that is not configured any more out of a batch whose other lines it sends', async () => {
  const { reopen, files, key, net } = await leaveMixed();
  const keys = new Set([key]);
  const app = sourceOf('app', files);
  const first = reopen();
  const { sealed, log } = await restore(first, app);
  expect(textOf(sealed)).toEqual(['app one', 'app two', 'app three']);
  expect(app.stats.lostBytes).toBe(0);
  expect(log.find('warn', 'kept until the source is back')).toMatchObject([
    { fields: { source: 'net', events: 1 } },
    { fields: { source: 'net', events: 1 } },
  ]);
  expect(log.find('error', 'gone')).toEqual([]);
  keys.add(sealed[0]!.key);
  for (const batch of sealed) first.ledger.settle(batch.toStored());
  // Two more starts without it: nothing is sent, logged as lost, or settled.
  for (let start = 0; start < 2; start++) {
    const state = reopen();
    const again = await restore(state, app);
    expect(again.sealed).toEqual([]);
    expect(again.log.find('error', 'gone')).toEqual([]);
    expect(state.streams.isSettled(net)).toBe(false);
  }
  const last = reopen();
  const back = await restore(last, app, { others: [sourceOf('net', files)] });
  expect(textOf(back.sealed).toSorted()).toEqual(['net one', 'net two']);
  for (const batch of back.sealed) keys.add(batch.key);
  expect(keys.size, 'no key stands for different events').toBe(4);
  // The mark goes over both, whichever is settled first.
  for (const batch of back.sealed) last.ledger.settle(batch.toStored());
  expect(last.save()).toBe(true);
  expect([last.streams.isSettled(net), last.ledger.unsettled()]).toEqual([true, []]);
  const after = reopen();
  expect([after.ledger.unsettled(), after.streams.list('net').map(({ resumeAt }) => resumeAt)]).toEqual([[], [16]]);
});

// Symptom: an agent whose disk was full at its start ended with a fault of its own. Cause: a new key that could not be saved.
// Fix: it is tried again; nothing of the batch is sent, and nothing counts as accepted, meanwhile.
test('restore waits while a new key cannot be saved, and goes on by itself', async ({ files, state, left }) => {
  const clock = new SteppedClock();
  let refusals = 3;
  const other = sourceOf('app', files, { ...shape, fields: { changed: true } });
  const replace: State['replace'] = (id, batches) => {
    if (refusals-- > 0) throw new Error('database or disk is full');
    state.replace(id, batches);
  };
  const log = new MemoryLog();
  const restoring = restore(state, other, {}, { clock, state: { ledger: state.ledger, run: state.run, replace }, log });
  for (const logged of [1, 2, 2]) {
    await until('it waits', () => clock.sleeping === 1);
    expect(log.find('error', 'cannot save the new key')).toHaveLength(logged);
    await clock.advance(1000);
  }
  const { sealed } = await restoring;
  expect(sealed).toHaveLength(left.length);
  expect(state.ledger.unsettled().map(({ key }) => key)).toEqual(sealed.map(({ key }) => key));
});

test('restore that waits for the disk gives up when the agent stops, and leaves the batches to the next one', async () => {
  const { files, reopen, state, left } = await leave();
  const clock = new SteppedClock();
  const stopping = new AbortController();
  const replace = (): never => {
    throw new Error('database or disk is full');
  };
  const other = sourceOf('app', files, { ...shape, fields: { changed: true } });
  const restoring = restore(
    state,
    other,
    {},
    { clock, state: { ledger: state.ledger, run: state.run, replace }, stopping: stopping.signal },
  );
  await until('it waits', () => clock.sleeping === 1);
  stopping.abort();
  await expect(restoring).rejects.toMatchObject({ code: 'E_STOPPED' });
  const again = reopen();
  expect((await restore(again, sourceOf('app', files))).sealed.map(({ key }) => key)).toEqual(
    left.map(({ key }) => key),
  );
});

const SHAPED = (): Map<string, Buffer> => {
  const words = ['kept', 'filtered', 'several3', 'withheld', 'large9000', 'dropped', 'kept', 'mixed', 'filtered'];
  return new Map([['/a', Buffer.from(words.map((as, n) => `{"n":${n},"as":"${as}"}\n`).join(''))]]);
};

test('restore shapes the events again, to the same bodies and outcomes under the same keys', async () => {
  const files = SHAPED();
  const { state, left } = await leave(files, 4, testShaper(shapeAsTold));
  const { sealed, accounting } = await restore(state, sourceOf('app', files), {
    shaper: testShaper(shapeAsTold, { isAsync: true }),
  });
  expect(keysOf(sealed)).toEqual(keysOf(left));
  expect(bodiesOf(sealed)).toEqual(bodiesOf(left));
  expect(sealed.map((batch) => batch.toStored())).toEqual(left.map((batch) => batch.toStored()));
  expect(sealed.map(({ withheld }) => withheld)).toEqual(left.map(({ withheld }) => withheld));
  const outcomes = (batches: readonly Batch[]) => batches.map((batch) => batch.outcomes?.toStored());
  expect(outcomes(sealed)).toEqual(outcomes(left));
  expect(left).toHaveLength(3);
  expect(accounting.accepted).toBe(9);
});

test('restore of events that are shaped passes blocks of nothing but empty lines', async () => {
  const files = new Map([['/a', Buffer.from(`${'\n'.repeat(9)}{"n":1,"as":"kept"}\n`)]]);
  const { state, left } = await leave(files, 100, testShaper(shapeAsTold));
  const { sealed } = await restore(state, sourceOf('app', files), { shaper: testShaper(shapeAsTold) });
  expect(sealed.map(({ key, events }) => [key, events])).toEqual(left.map(({ key }) => [key, 1]));
});

test('restore of what a changed transform would make otherwise retires the key', async () => {
  const files = SHAPED();
  const { state, left } = await leave(files, 100, testShaper(shapeAsTold));
  const { sealed } = await restore(state, sourceOf('app', files), {
    shaper: testShaper((event) => ({ out: [event] }), { digest: 'changed' }),
  });
  for (const { key } of sealed) expect(left.map((batch) => batch.key)).not.toContain(key);
  expect(sealed.flatMap((batch) => bodyOf(batch).toString().split('\n').slice(0, -1))).toHaveLength(9);
});

test('restore of rows that another header names now retires the key', async () => {
  const files = FILES();
  const { state, left } = await leave(files);
  const { sealed } = await restore(state, sourceOf('app', files, shape, '#Fields: c d'));
  expect(sealed.length).toBeGreaterThan(0);
  for (const { key } of sealed) expect(left.map((batch) => batch.key)).not.toContain(key);
});

test('restore of events that are made once retires the key, as they may be others now', async () => {
  const files = SHAPED();
  const once = { isDeterministic: false };
  const { state, left } = await leave(files, 100, testShaper(shapeAsTold, once));
  const { sealed } = await restore(state, sourceOf('app', files), { shaper: testShaper(shapeAsTold, once) });
  for (const { key } of sealed) expect(left.map((batch) => batch.key)).not.toContain(key);
  expect(bodiesOf(sealed)).toEqual(bodiesOf(left));
});

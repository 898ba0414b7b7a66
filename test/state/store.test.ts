import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { prepareStatements } from '../../src/state/database/rows.ts';
import { openState } from '../../src/state/database/store.ts';
import { Streams } from '../../src/state/database/streams.ts';
import type { StoredBatch } from '../../src/state/database/stored-batch.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { batch, commit, span } from './batches.ts';
import { openInTurn } from './open-in-turn.ts';
import { beginning } from '../support/begin.ts';

const identity = { device: '2049', inode: '18446744073709551615', headLength: 12, headHash: 'ab' };

function open(folder: string, sinks: readonly string[] = ['store']) {
  const log = new MemoryLog();
  const state = openInTurn(folder, () =>
    openState({ folder, sinksOf: (source) => (source === 'app' ? sinks : []), log }),
  );
  return { log, state };
}

function begin(sinks?: readonly string[]) {
  const folder = makeTree({});
  return { folder, ...open(folder, sinks) };
}

const test = beginning(() => begin(), 'folder', 'log', 'state');

/** What a kill leaves of it. */
function copyOf(folder: string): string {
  const copy = makeTree({});
  cpSync(folder, copy, { recursive: true, filter: (path) => !/lock/.test(path) });
  return copy;
}

/** Rows that a table of the database has now. */
function rowsOf(folder: string, table: string): number {
  const database = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
  const { n } = database.prepare(`select count(*) as n from ${table}`).get() as { n: number };
  database.close();
  return n;
}

test('state mints streams with random ids and has them again after a restart, with identity and position', ({
  folder,
  state,
}) => {
  const one = state.streams.mint('app', '/var/log/a.log', identity);
  const two = state.streams.mint('app', '/var/log/a.log', identity, 500);
  expect(one.id).toMatch(/^[0-9a-f]{32}$/);
  expect(two.id).not.toBe(one.id);
  expect([one.resumeAt, two.resumeAt]).toEqual([0, 500]);
  const grown = { ...identity, headLength: 1024, headHash: 'cd', path: '/var/log/a.log.1' };
  state.streams.identify(one.id, grown);
  commit(state, span(one.id, 0, 10));
  const again = open(folder).state;
  const records = new Map(again.streams.list('app').map((record) => [record.id, record]));
  expect(records.get(one.id)).toEqual({
    id: one.id,
    source: 'app',
    path: '/var/log/a.log',
    identity: grown,
    startAt: 0,
    createdMs: one.createdMs,
    resumeAt: 10,
    settledTo: 0,
    tail: span(one.id, 0, 10).tail,
    contentSum: span(one.id, 0, 10).sum,
    contentPoints: [{ at: 0, sum: 0 }],
  });
  expect(records.get(two.id)).toMatchObject({ resumeAt: 500, identity });
  expect(again.streams.list('other')).toEqual([]);
});

// A start takes the newest stream first. Rows that nobody asked an order of come in the order of their numbers by chance.
test('state lists streams as they were minted, in whatever order the database gives rows', ({ folder, state }) => {
  const minted = Array.from({ length: 5 }, () => state.streams.mint('app', '/var/log/a.log', identity).id);
  for (const id of minted.toReversed()) commit(state, span(id, 0, 10));
  state.close();
  const database = new DatabaseSync(join(folder, 'state.db'));
  database.exec('pragma reverse_unordered_selects = on');
  const streams = new Streams(prepareStatements(database), () => ['store']);
  streams.load(database);
  database.close();
  expect(streams.list('app').map(({ id }) => id)).toEqual(minted);
});

test('state has a stream begin in its file where nothing was read of it, also after a kill right behind that', ({
  folder,
  state,
}) => {
  const old = state.streams.mint('app', '/var/log/a.log', identity);
  state.save();
  const { id } = state.streams.mint('app', '/var/log/b.log', identity);
  const tail = { length: 64, crc: 7 };
  for (const stream of [old.id, id]) state.streams.begin(stream, 5000, tail);
  expect(
    state.streams.list('app').map((record) => [record.startAt, record.resumeAt, record.contentSum, record.tail]),
  ).toEqual([
    [5000, 5000, 0, tail],
    [5000, 5000, 0, tail],
  ]);
  commit(state, span(old.id, 5000, 5010));
  const { state: again } = open(copyOf(folder));
  const read = span(old.id, 5000, 5010);
  expect(
    again.streams.list('app').map((record) => [record.startAt, record.resumeAt, record.contentSum, record.tail]),
  ).toEqual([
    [5000, 5010, read.sum, read.tail],
    [5000, 5000, 0, tail],
  ]);
});

test('state knows after a restart where its marks were, with the checksums up to there', ({ folder, state }) => {
  const { id } = state.streams.mint('app', '/var/log/a.log');
  for (let n = 0; n < 5; n += 1) {
    const each = commit(state, span(id, n * 10, n * 10 + 10));
    if (n < 3) state.ledger.settle(each);
  }
  state.save();
  const [before] = state.streams.list('app');
  expect(before!.contentPoints!.map(({ at }) => at)).toEqual([0, 10, 20, 30, 40]);
  const again = open(folder).state;
  expect(again.streams.list('app')).toEqual([before]);
});

test('state gives back a batch of several streams until all of it is settled, and moves each mark by itself', ({
  folder,
  state,
}) => {
  const [a, b] = [state.streams.mint('app', '/a').id, state.streams.mint('app', '/b').id];
  const first = batch(state.ledger.nextId(), [span(a, 0, 10), span(b, 0, 20)]);
  const second = batch(state.ledger.nextId(), [span(b, 20, 30), span(a, 10, 15)]);
  state.commit([first, second]);
  state.ledger.settle(second);
  expect([state.streams.isSettled(a), state.streams.isSettled(b)]).toEqual([false, false]);
  state.close();
  expect([rowsOf(folder, 'batches'), rowsOf(folder, 'spans')]).toEqual([2, 4]);

  const { state: again } = open(folder);
  expect(again.ledger.unsettled()).toEqual([first]);
  expect(again.streams.markOf(a, 'store')?.committedTo).toBe(15);
  again.ledger.settle(first);
  expect([again.streams.isSettled(a), again.streams.isSettled(b)]).toEqual([true, true]);
  again.close();
  expect([rowsOf(folder, 'batches'), rowsOf(folder, 'spans')]).toEqual([0, 0]);

  const { state: last } = open(folder);
  expect(last.streams.list('app').map(({ path, resumeAt }) => [path, resumeAt])).toEqual(
    expect.arrayContaining([
      ['/a', 15],
      ['/b', 30],
    ]),
  );
});

test('state never gives an id to a batch that an unsettled one has', ({ folder, state }) => {
  const a = state.streams.mint('app', '/a').id;
  const held = commit(state, span(a, 0, 10));
  const { state: again } = open(folder);
  expect(again.ledger.nextId()).toBeGreaterThan(held.id);
});

test('state keeps no parts of a batch that is settled, so that none are taken for those of a later one with its id', () => {
  const { folder, state } = begin();
  const a = state.streams.mint('app', '/a').id;
  const split = commit(state, span(a, 0, 10));
  state.commitParts(split.id, [{ first: 5, count: 5, key: 'half' }]);
  state.ledger.settle(split);
  state.close();
  expect(rowsOf(folder, 'parts')).toBe(0);
  const { state: again } = open(folder);
  const next = commit(again, span(a, 10, 20));
  expect([next.id, again.ledger.partsOf(next.id)]).toEqual([split.id, []]);
});

test('state commits all batches of a group or none', ({ state }) => {
  const a = state.streams.mint('app', '/a').id;
  const good = batch(state.ledger.nextId(), [span(a, 0, 10)]);
  const same = { ...batch(good.id, [span(a, 10, 20)]), key: 'another' };
  expect(() => state.commit([good, same])).toThrow(/UNIQUE/);
  expect(state.streams.markOf(a, 'store')?.committedTo).toBe(0);
  expect(state.ledger.unsettled()).toEqual([]);
  state.commit([good]);
  expect(state.ledger.unsettled()).toEqual([good]);
});

test('state replaces a batch by one with another key in the same place', ({ folder, state }) => {
  const a = state.streams.mint('app', '/a').id;
  const old = commit(state, span(a, 0, 10));
  const renewed = { ...old, key: 'another key', spans: [{ ...span(a, 0, 10), digest: 'd2' }] };
  state.replace(old.id, [renewed]);
  expect(state.ledger.unsettled()).toEqual([renewed]);
  state.ledger.settle(renewed);
  expect(state.streams.isSettled(a)).toBe(true);
  state.close();
  expect(rowsOf(folder, 'batches')).toBe(0);
});

test('state lets a sink that was added take up a known stream where the others are', ({ folder, state }) => {
  const a = state.streams.mint('app', '/a').id;
  const first = commit(state, span(a, 0, 10));
  state.ledger.settle(first);
  const { state: two } = open(folder, ['store', 'second']);
  expect(two.streams.markOf(a, 'second')?.committedTo).toBe(10);
  expect(two.streams.list('app')[0]).toMatchObject({ resumeAt: 10 });
  commit(two, span(a, 10, 30));
  // The sink that is behind decides where reading goes on.
  expect(two.streams.list('app')[0]).toMatchObject({ resumeAt: 10 });
  const { state: three } = open(folder, ['store', 'second']);
  expect([three.streams.markOf(a, 'store')?.committedTo, three.streams.markOf(a, 'second')?.committedTo]).toEqual([
    30, 10,
  ]);
});

// Symptom: after a sink was taken out of the configuration, every restart read its files again from where that sink had
// stopped. Cause: its mark still counted. Fix: only marks of sinks that the source feeds do.
test('state does not let a sink that was removed hold reading back, and keeps its place for its return', () => {
  const { folder, state } = begin(['store', 'gone']);
  const a = state.streams.mint('app', '/a').id;
  const both = [batch(state.ledger.nextId(), [span(a, 0, 10)]), batch(state.ledger.nextId(), [span(a, 0, 10)], 'gone')];
  state.commit(both);
  state.ledger.settle(both[0]!);
  const { state: without } = open(folder, ['store']);
  const more = commit(without, span(a, 10, 50));
  without.ledger.settle(more);
  without.save();
  expect(without.streams.list('app')[0]).toMatchObject({ resumeAt: 50 });
  expect(without.ledger.unsettled()).toEqual([both[1]]);

  // A third sink starts where the configured one is, not in the past of the removed one.
  const { state: third } = open(folder, ['store', 'third']);
  expect(third.streams.markOf(a, 'third')?.committedTo).toBe(50);
  const { state: back } = open(folder, ['store', 'gone']);
  expect(back.streams.list('app')[0]).toMatchObject({ resumeAt: 10 });
  expect(back.ledger.unsettled()).toEqual([both[1]]);
});

test('state lets a renamed sink go on where the old one was', () => {
  const { folder, state } = begin(['old']);
  const a = state.streams.mint('app', '/a').id;
  const first = batch(state.ledger.nextId(), [span(a, 0, 10)], 'old');
  state.commit([first]);
  state.ledger.settle(first);
  const { state: renamed } = open(folder, ['new']);
  expect(renamed.streams.markOf(a, 'new')?.committedTo).toBe(10);
  expect(renamed.streams.list('app')[0]).toMatchObject({ resumeAt: 10 });
});

test('state forgets a settled stream for good, and never one that is not settled', ({ folder, state }) => {
  const [a, b] = [state.streams.mint('app', '/a').id, state.streams.mint('app', '/b').id];
  const [first, second] = [
    batch(state.ledger.nextId(), [span(a, 0, 10)]),
    batch(state.ledger.nextId(), [span(b, 0, 10)]),
  ];
  state.commit([first, second]);
  state.ledger.settle(first);
  state.streams.forget(a);
  state.streams.forget(b);
  expect(state.streams.list('app').map(({ id }) => id)).toEqual([b]);
  const { state: again } = open(folder);
  expect(again.streams.list('app').map(({ id }) => id)).toEqual([b]);
  again.close();
  expect(rowsOf(folder, 'marks')).toBe(1);
});

// Symptom: rows of settled batches stayed in the database for ever. Cause: a batch whose span belongs to a stream that is
// forgotten waited for a mark that no longer exists. Fix: only spans that a mark follows are waited for.
test('state removes a settled batch of which one stream was forgotten meanwhile', ({ folder, state }) => {
  const [a, b] = [state.streams.mint('app', '/a').id, state.streams.mint('app', '/b').id];
  const blocker = batch(state.ledger.nextId(), [span(b, 0, 10)]);
  const mixed = batch(state.ledger.nextId(), [span(a, 0, 10), span(b, 10, 20)]);
  const late = batch(state.ledger.nextId(), [span('f'.repeat(32), 0, 10)]);
  state.commit([blocker, mixed, late]);
  state.ledger.settle(mixed);
  state.ledger.settle(late);
  state.streams.forget(a);
  const { state: again } = open(folder);
  expect(again.ledger.unsettled()).toEqual([blocker]);
  again.ledger.settle(blocker);
  again.close();
  expect([rowsOf(folder, 'batches'), rowsOf(folder, 'spans')]).toEqual([0, 0]);
});

test('state counts a save only when something moved', () => {
  const { state } = open(makeTree({}));
  const before = state.saves;
  expect(state.save()).toBe(true);
  expect(state.saves).toBe(before);
  state.streams.mint('app', '/a');
  expect(state.save()).toBe(true);
  expect(state.saves).toBe(before + 1);
});

// Symptom: scans further apart than files live while deleted files go to a slow disk. Cause: each settled batch of the disk buffer
// had its save wait for the disk on the loop, and every commit after it. Fix: the thread pool waits, one sync for all of them.
test('state does not wait for the disk: what a settled batch needed is removed after a sync, and commits go on meanwhile', async () => {
  const syncs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const sync = (): Promise<void> => new Promise((resolve, reject) => syncs.push({ resolve, reject }));
  const folder = makeTree({});
  const log = new MemoryLog();
  const state = openState({ folder, sinksOf: () => ['store'], log, sync });
  const stream = state.streams.mint('app', '/var/log/a.log', identity).id;
  const removed: number[] = [];
  const settle = (from: number): boolean => {
    const taken = commit(state, span(stream, from, from + 10));
    state.ledger.settle(taken);
    return state.whenSaved(() => removed.push(from));
  };
  expect([settle(0), settle(10), settle(20)]).toEqual([true, true, true]);
  expect([removed, syncs.length]).toEqual([[], 1]);
  syncs[0]!.resolve();
  await until('the next sync serves all that came during the first', () => syncs.length === 2);
  expect(removed).toEqual([0]);
  // A disk that refuses is asked again with the next save.
  syncs[1]!.reject(new Error('EIO'));
  await until('the refusal is logged', () =>
    log.lines.some(({ message }) => message.startsWith('cannot save checkpoints')),
  );
  state.save();
  expect([removed, syncs.length]).toEqual([[0], 3]);
  // A stop waits for the disk itself.
  expect(state.close()).toBe(true);
  expect(removed).toEqual([0, 10, 20]);
});

// Symptom: each kill resent the events delivered within the second before it. Cause: settlements waited for a save once a second. Fix: they
// travel in the commit that the next batch makes anyway.
test('state writes settlements with the next commit', ({ folder, state }) => {
  const stream = state.streams.mint('app', '/var/log/a.log', identity).id;
  const [first, second, third] = [0, 10, 20].map((from) =>
    batch(state.ledger.nextId(), [span(stream, from, from + 10)]),
  ) as [StoredBatch, StoredBatch, StoredBatch];
  state.commit([first, second]);
  state.ledger.settle(first);
  expect([state.hasSettlements, state.settlementWrites]).toEqual([true, 0]);
  state.commit([third]);
  expect([state.hasSettlements, state.settlementWrites]).toEqual([false, 1]);
  const { state: next } = open(copyOf(folder));
  expect(next.ledger.unsettled().map(({ id }) => id)).toEqual([second.id, third.id]);
  expect(next.streams.list('app')[0]?.settledTo).toBe(10);
});

test('state removes the parts of a settled batch with it, also those that an earlier process wrote', ({
  folder,
  state,
}) => {
  const stream = state.streams.mint('app', '/var/log/a.log', identity).id;
  const [first, second] = [0, 10].map((from) => batch(state.ledger.nextId(), [span(stream, from, from + 10)])) as [
    StoredBatch,
    StoredBatch,
  ];
  state.commit([first, second]);
  for (const { id } of [first, second]) state.commitParts(id, [{ first: 0, count: 5, key: `part of ${id}` }]);
  state.ledger.settle(first);
  state.save();
  expect([state.ledger.partsOf(first.id), state.ledger.partsOf(second.id)]).toEqual([
    [],
    [expect.objectContaining({ count: 5 })],
  ]);
  const { state: next } = open(folder);
  next.ledger.settle(second);
  next.save();
  expect(next.ledger.partsOf(second.id)).toEqual([]);
});

test('state remembers which sources ran on the folder, also without its database', ({ folder, state }) => {
  expect(state.hasStarted('app')).toBe(false);
  state.noteStarted(['app', 'net']);
  const { state: again } = open(folder);
  expect([again.hasStarted('app'), again.hasStarted('net'), again.hasStarted('other')]).toEqual([true, true, false]);
  again.noteStarted(['other']);
  const { state: last } = open(folder);
  expect([last.hasStarted('app'), last.hasStarted('other')]).toEqual([true, true]);
});

// Symptom: everything was sent again after a restart, without a line in the log. Cause: a database deleted under the running agent goes on
// working.
test('state says once when its database is removed while it is open', ({ folder, log, state }) => {
  state.save();
  expect(log.find('error', 'was removed')).toHaveLength(0);
  rmSync(join(folder, 'state.db'));
  state.save();
  state.save();
  expect(log.find('error', 'was removed')).toHaveLength(1);
});

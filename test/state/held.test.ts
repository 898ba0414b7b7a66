/**
 * Symptom: a shell or a backup that held state.db stopped the whole agent: /healthz answered once in a minute, and the watchdog struck. Cause: each statement
 * waited five seconds on the event loop. Fix: a statement waits for milliseconds, says who is in the way, and what it was to write is written later.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { readAuditRows } from '../../src/state/database/audit-rows.ts';
import { openState } from '../../src/state/database/store.ts';
import { HELD_PAUSE_MS, HELD_WAIT_MS } from '../../src/state/limits.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { expect, test as base } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { batch, commit, span } from './batches.ts';

const test = base.extend('held', () => {
  const folder = makeTree({});
  const log = new MemoryLog();
  const open = () => openState({ folder, sinksOf: () => ['store'], log });
  const hold = (how = 'begin immediate') => {
    const other = new DatabaseSync(join(folder, 'state.db'));
    onTestFinished(() => void (other.isOpen && other.close()));
    other.exec(how);
    return () => other.close();
  };
  return { folder, log, open, hold };
});

/** The answers of work that the database refuses at first. */
const until = async (work: () => boolean): Promise<number> => {
  for (let tries = 1; ; tries += 1) {
    if (work()) return tries;
    await new Promise((resolve) => setTimeout(resolve, HELD_PAUSE_MS / 2));
  }
};

test('state that another process holds refuses each write with that reason, and takes all of them once it is free', async ({
  held,
}) => {
  const state = held.open();
  const stream = state.streams.mint('app', '/log/a').id;
  commit(state, span(stream, 0, 10));
  state.ledger.settle(batch(1, [span(stream, 0, 10)]));
  const release = held.hold();
  const writes: (() => unknown)[] = [
    () => state.commit([batch(2, [span(stream, 10, 20)])]),
    () => state.commitParts(1, [{ first: 0, count: 1, key: 'k' }]),
    () => state.replace(1, []),
  ];
  // More often than there is time for in five seconds, if each of them waited.
  for (let round = 0; round < 20; round += 1) {
    for (const write of writes) expect(write).toThrow(expect.objectContaining({ code: 'E_STATE_HELD' }));
    expect([state.save(), state.addDataset('store', 'other')]).toEqual([false, false]);
  }
  expect(state.refused.refusal).toMatchObject({
    isHeld: true,
    reason: expect.stringContaining('another process holds state.db'),
    fix: expect.stringContaining('fuser'),
  });
  expect(held.log.lines.map(({ message }) => message)).toEqual([expect.stringContaining('cannot save checkpoints')]);
  expect(held.log.lines[0]!.message).toContain('end the transaction of that process');
  release();
  await until(() => state.save());
  expect(state.refused.refusal).toBeUndefined();
  state.commit([batch(2, [span(stream, 10, 20)])]);
  expect(state.close()).toBe(true);
  const again = held.open();
  expect(again.ledger.unsettled().map(({ id }) => id)).toEqual([2]);
  expect(again.streams.list('app').map(({ resumeAt, settledTo }) => [resumeAt, settledTo])).toEqual([[20, 10]]);
  again.close();
});

// Symptom: a journal's lost entries counted once for each try of a disk that refused their replaced batch. Cause: each try added them to those
// that wait for the next save, and bytes without a place add up. Fix: they are written with the batch alone.
test('losses of a batch that a held state refuses to replace count once, and not before it is replaced', async ({
  held,
}) => {
  const state = held.open();
  const { id } = state.streams.mint('app', 'journal:a');
  const lost = { ...span(id, 0, 10), bytes: 700 };
  const first = commit(state, lost);
  state.streams.see(id, 10);
  const bytesOf = () => readAuditRows(held.folder).losses.map(({ bytes }) => bytes);
  const replace = (): void => state.replace(first.id, [{ ...first, spans: [{ ...lost, events: 0 }] }], [lost]);
  const release = held.hold();
  for (let tries = 0; tries < 3; tries += 1) expect(replace).toThrow(expect.objectContaining({ code: 'E_STATE_HELD' }));
  release();
  await until(() => state.save());
  expect(bytesOf()).toEqual([]);
  replace();
  const { saves } = state;
  expect(state.close()).toBe(true);
  expect([bytesOf(), state.saves]).toEqual([[700], saves]);
});

test('state that another process holds is opened, explained and audited, and closed without what could not be saved', ({
  held,
}) => {
  const first = held.open();
  const stream = first.streams.mint('app', '/log/a').id;
  commit(first, span(stream, 0, 10));
  first.close();
  const release = held.hold();
  const state = held.open();
  expect(state.streams.list('app').map(({ resumeAt }) => resumeAt)).toEqual([10]);
  expect(readAuditRows(held.folder).streams).toHaveLength(1);
  expect(state.close()).toBe(true);
  const next = held.open();
  next.ledger.settle(batch(1, [span(stream, 0, 10)]));
  expect(next.close()).toBe(false);
  release();
});

test('state that cannot even be read says that another process holds it, and is not set aside', ({ held }) => {
  held.open().close();
  const release = held.hold('pragma locking_mode = exclusive; begin exclusive');
  expect(() => held.open()).toThrow(
    expect.objectContaining({ code: 'E_STATE_HELD', fix: expect.stringContaining('fuser') }),
  );
  release();
  held.open().close();
  expect(held.log.lines).toEqual([]);
}, 30_000);

test('state waits for another process no longer than a commit takes', () => {
  expect([HELD_WAIT_MS, HELD_PAUSE_MS]).toEqual([5, 100]);
});

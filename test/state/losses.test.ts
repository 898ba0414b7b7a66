/** Bytes that were lost or dropped, as the state remembers them over restarts. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Loss } from '../../src/core/stream.ts';
import { readAuditRows } from '../../src/state/database/audit-rows.ts';
import { openState } from '../../src/state/database/store.ts';
import { MAX_LOSSES } from '../../src/state/limits.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { batch, commit, span } from './batches.ts';
import { openInTurn } from './open-in-turn.ts';

function open(folder = makeTree({}), sinks = ['store']) {
  const log = new MemoryLog();
  return { folder, log, state: openInTurn(folder, () => openState({ folder, sinksOf: () => sinks, log })) };
}

const loss = (stream: string, from: number | null, bytes: number, reason: Loss['reason'] = 'deleted'): Loss => ({
  ...{ source: 'app', path: stream === '' ? '' : '/log/a', stream, from, bytes, reason },
});

/** `from-to reason` of each row, with its owner where that is not the one sink. */
function rowsOf(folder: string): string[] {
  return readAuditRows(folder).losses.map(({ from, bytes, reason, owner }) => {
    const place = from === null ? `${bytes} bytes` : `${from}-${from + bytes}`;
    return `${place} ${reason}${owner === 'store' ? '' : ` ${owner}`}`;
  });
}

test('losses that touch are one row, over commits and restarts; others stay apart, and outlive their stream', () => {
  const { folder, state } = open();
  const { id } = state.streams.mint('app', '/log/a');
  state.lose(loss(id, 10, 5));
  state.lose(loss(id, 15, 5));
  state.lose(loss(id, 30, 5, 'truncated'));
  state.lose(loss(id, 40, 5));
  expect(rowsOf(folder)).toEqual([]);
  expect(state.save()).toBe(true);
  expect(rowsOf(folder)).toEqual(['10-20 deleted', '30-35 truncated', '40-45 deleted']);
  const { state: again } = open(folder);
  again.lose(loss(id, 18, 22));
  again.lose(loss('', null, 3, 'not_taken'));
  again.lose(loss('', null, 4, 'not_taken'));
  again.streams.forget(id);
  again.close();
  expect(rowsOf(folder)).toEqual(['7 bytes not_taken', '10-45 deleted', '30-35 truncated']);
});

test('a loss is noted for each sink that has not committed the bytes already', () => {
  const { folder, state } = open(undefined, ['store', 'other']);
  const { id } = state.streams.mint('app', '/log/a');
  state.commit([batch(state.ledger.nextId(), [span(id, 0, 10)], 'store')]);
  state.lose(loss(id, 4, 10));
  state.lose(loss(id, 0, 9));
  state.close();
  expect(rowsOf(folder)).toEqual(['0-14 deleted other', '10-14 deleted']);
});

test('bytes that are read after all are lost no more; those that were cut off, dropped or not there again stay lost', () => {
  const { folder, state } = open();
  const { id } = state.streams.mint('app', '/log/a');
  state.lose(loss(id, 10, 20));
  for (const reason of ['cut_off', 'dropped', 'not_there_again', 'disk_buffer'] as const)
    state.lose(loss(id, 10, 20, reason));
  state.close();
  const { state: again } = open(folder);
  commit(again, span(id, 0, 12), span(id, 15, 20));
  const kept = ['10-30 cut_off', '10-30 disk_buffer', '10-30 dropped', '10-30 not_there_again'];
  expect(rowsOf(folder).sort()).toEqual([...kept, '12-15 deleted', '20-30 deleted'].sort());
});

test('losses of a batch that is replaced, or dropped, are on disk with the mark that steps over it', () => {
  const { folder, state } = open();
  const { id } = state.streams.mint('app', '/log/a');
  const first = commit(state, span(id, 0, 10));
  const second = commit(state, span(id, 10, 20));
  state.replace(first.id, [{ ...first, spans: [{ ...span(id, 0, 10), events: 0 }] }], [span(id, 0, 10)]);
  expect(rowsOf(folder)).toEqual(['0-10 not_there_again']);
  state.ledger.settle(first);
  state.settle(second, 'dropped');
  expect(rowsOf(folder)).toEqual(['0-10 not_there_again']);
  state.save();
  expect(rowsOf(folder)).toEqual(['0-10 not_there_again', '10-20 dropped']);
  expect(readAuditRows(folder).streams[0]!.marks[0]!.settledTo).toBe(20);
});

test('losses are bounded: of the oldest beyond the limit only the sums are kept, for each source, sink and reason', () => {
  const { folder, state } = open();
  const count = MAX_LOSSES + 100;
  // Every other save meets what the ones before it wrote.
  for (let n = 0; n < count; n++) {
    state.lose(loss(`stream ${n}`, 0, 3, n % 2 === 0 ? 'deleted' : 'truncated'));
    if (n % 1000 === 0) state.save();
  }
  state.close();
  const { losses } = readAuditRows(folder);
  expect(losses.length).toBeLessThanOrEqual(MAX_LOSSES + 2);
  expect(losses.length).toBeGreaterThan(MAX_LOSSES / 2);
  expect(losses.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(3 * count);
  expect(losses.filter(({ from }) => from === null).map(({ reason }) => reason)).toEqual(['deleted', 'truncated']);
  expect(losses.some(({ stream }) => stream === 'stream 0')).toBe(false);
  expect(losses.some(({ stream }) => stream === `stream ${count - 1}`)).toBe(true);
});

test('losses that wait for a disk are bounded, too', () => {
  const { state } = open();
  for (let n = 0; n < 2 * MAX_LOSSES; n++) state.losses.add({ ...loss(`stream ${n}`, 0, 3), owner: 'store', atMs: n });
  state.losses.add({ ...loss('', null, 3, 'not_taken'), owner: 'store', atMs: 0 });
  expect(state.save()).toBe(true);
  expect(state.hasSettlements).toBe(false);
});

test('database of the seventh version keeps its positions and unsettled batches, and knows of no loss before', () => {
  const { folder, state } = open();
  const { id } = state.streams.mint('app', '/log/a');
  commit(state, span(id, 0, 10));
  state.close();
  const seventh = new DatabaseSync(join(folder, 'state.db'));
  seventh.exec(
    'drop table losses; drop table letters; alter table streams drop column in_line; alter table streams drop column headers; alter table spans drop column behind; alter table spans drop column bytes; alter table marks drop column behind; pragma user_version = 7',
  );
  seventh.close();
  const { state: again, log } = open(folder);
  expect(log.lines).toEqual([]);
  expect(again.streams.list('app')).toMatchObject([{ id, resumeAt: 10 }]);
  expect(again.ledger.unsettled().flatMap(({ spans }) => spans)).toMatchObject([{ from: 0, to: 10 }]);
  expect(rowsOf(folder)).toEqual([]);
  again.lose(loss(id, 10, 5));
  again.close();
  expect(rowsOf(folder)).toEqual(['10-15 deleted']);
});

test('a loss that is acknowledged stays where its stream is known, until more is lost beside it', () => {
  const { folder, state } = open();
  const { id } = state.streams.mint('app', '/log/a');
  state.lose(loss(id, 10, 5));
  state.lose(loss('forgotten', 10, 5));
  state.save();
  state.acknowledgeLosses(0);
  const acknowledged = () => readAuditRows(folder).losses.map((each) => [each.stream, each.acknowledged]);
  expect(acknowledged()).toEqual([id, 'forgotten'].sort().map((stream) => [stream, 0]));
  state.acknowledgeLosses(Date.now() + 1);
  expect(acknowledged()).toEqual([[id, 1]]);
  state.lose(loss(id, 15, 5));
  state.save();
  expect(acknowledged()).toEqual([[id, 0]]);
  expect(rowsOf(folder)).toEqual(['10-20 deleted']);
});

/** Idempotency keys against a database and an engine that can be stopped at any step: keys kept, rows counted, requests that wait. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SERVICE_KEPT_KEYS } from '../../src/service/limits.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Engine } from '../../src/service/engine/engine.ts';
import { openKeys, type IngestKeys, type StoredRange } from '../../src/service/ingest/keys.ts';
import { openMetadata, type Metadata } from '../../src/service/metadata.ts';
import { makeTree } from '../support/temp-tree.ts';

let metadata: Metadata;
let keys: IngestKeys;
/** The engine's count of rows of each range asked for, and the ranges that it was to delete. */
let found: number[];
let deleted: string[];
let isAway: boolean;

const engine = (): Engine =>
  ({
    ask: (sql: string) =>
      isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve([found.splice(0, sql.split('countIf').length - 1).map(String)]),
    quiesce: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
    deleteRows: (_table: string, condition: string) => {
      deleted.push(condition);
      return Promise.resolve(0);
    },
  }) as unknown as Engine;

const range = (firstRow: number, rows = 10): StoredRange => ({
  firstRow: BigInt(firstRow),
  rows,
  minTime: 0n,
  maxTime: 9n,
});
/** Notes the key and its reply, as before an insert. */
const begin = (key: string, firstRow: number, rows?: number): void =>
  keys.begin(1, key, range(firstRow, rows), `reply ${key}`, () => 'short');
const ask = (key: string): Promise<string> => keys.once(1, key, () => Promise.resolve('anew'));
const reopen = async (): Promise<void> => {
  keys = await openKeys(metadata, engine(), silentLog);
};

beforeEach(async () => {
  metadata = openMetadata(makeTree({}), false);
  [found, deleted, isAway] = [[], [], false];
  await reopen();
});
afterEach(() => metadata.close());

describe('keys', () => {
  test('a finished key answers with its reply, also after a start; another dataset does not know it', async () => {
    begin('a', 1);
    keys.finish(1, 'a');
    expect(await ask('a')).toBe('reply a');
    await reopen();
    expect(await ask('a')).toBe('reply a');
    expect(await keys.once(2, 'a', () => Promise.resolve('other'))).toBe('other');
  });

  test('after a crash every open key is counted: whole is kept, a part is deleted, nothing is forgotten without a delete', async () => {
    begin('whole', 100);
    begin('part', 200);
    begin('none', 300);
    found = [10, 3, 0];
    await reopen();
    expect(deleted).toHaveLength(1);
    expect(deleted[0]).toMatch(/_rowId >= 200 and _rowId < 210/);
    expect(deleted[0]).not.toMatch(/_rowId >= (?:100|300)/);
    expect([await ask('whole'), await ask('part'), await ask('none')]).toEqual(['reply whole', 'anew', 'anew']);
  });

  test('a key that could not be settled while the engine was away is settled when it comes again', async () => {
    begin('a', 1);
    isAway = true;
    await expect(keys.undo(1, 'a', range(1))).rejects.toThrow('away');
    await expect(ask('a')).rejects.toThrow('away');
    isAway = false;
    found = [10];
    expect(await ask('a')).toBe('reply a');
  });

  test('an undone key is new', async () => {
    begin('a', 1);
    await keys.undo(1, 'a', range(1));
    expect(await ask('a')).toBe('anew');
  });

  test('a request waits for the one in flight with its key; when that fails it tries itself', async () => {
    let calls = 0;
    const failing = keys.once(1, 'a', async () => {
      calls++;
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('failed');
    });
    const waiting = keys.once(1, 'a', () => {
      calls++;
      begin('a', 1);
      keys.finish(1, 'a');
      return Promise.resolve('reply a');
    });
    const third = ask('a');
    await expect(failing).rejects.toThrow('failed');
    expect([await waiting, await third, calls]).toEqual(['reply a', 'reply a', 2]);
  });

  test('while a request is in flight no other with its key begins; one with another key does', async () => {
    const begun: string[] = [];
    let finish: (reply: string) => void = () => undefined;
    const first = keys.once(1, 'a', () => {
      begun.push('first');
      return new Promise((resolve) => (finish = resolve));
    });
    const later = (name: string, key: string): Promise<string> =>
      keys.once(1, key, () => {
        begun.push(name);
        return Promise.resolve(name);
      });
    const second = later('second', 'a');
    expect(await later('other', 'b')).toBe('other');
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['first', 'other']);
    finish('first');
    expect([await first, await second, begun.length]).toEqual(['first', 'second', 3]);
  });

  test(`the last ${SERVICE_KEPT_KEYS} keys of a dataset are kept, and at most half as many more`, async () => {
    // One more than fit: they have just been pruned.
    const total = SERVICE_KEPT_KEYS * 1.5 + 1;
    metadata.transaction(() => {
      for (let n = 0; n < total; n++) {
        begin(`key-${n}`, n * 10);
        keys.finish(1, `key-${n}`);
      }
    });
    const kept = metadata.db
      .prepare('select count(*) as n, min(first_row) as oldest from keys where dataset = 1')
      .get()!;
    expect(kept['n']).toBeGreaterThanOrEqual(SERVICE_KEPT_KEYS);
    expect(kept['n']).toBeLessThanOrEqual(SERVICE_KEPT_KEYS * 1.5);
    for (const back of [1, SERVICE_KEPT_KEYS - 1])
      expect(await ask(`key-${total - back}`)).toBe(`reply key-${total - back}`);
    expect(await ask('key-0')).toBe('anew');
  });

  test('an open key is not pruned, however old', async () => {
    begin('open', 1);
    metadata.transaction(() => {
      for (let n = 0; n < SERVICE_KEPT_KEYS * 1.6; n++) {
        begin(`key-${n}`, 100 + n * 10);
        keys.finish(1, `key-${n}`);
      }
    });
    found = [10];
    await reopen();
    expect(await ask('open')).toBe('reply open');
  });
});

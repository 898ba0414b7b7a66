/** A query that finds no memory in the embedded engine: alone it is too large, a 400; beside other work it is too early, a 429. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChdb, type EmbeddedEngine } from '../../src/service/engine/embedded/chdb.ts';
import { KIND, RowBlock } from '../../src/service/engine/rows/row-block.ts';
import { tableOf } from '../../src/service/engine/tables.ts';
import { tempDir } from './support.ts';

const MIB = 1024 * 1024;
const TABLE = tableOf(1);
const TOO_MUCH = 'select length(groupArray(number)) from numbers(100000000)';
const ENOUGH = 'select length(groupArray(number)) from numbers(2000000)';

let [engine, folder] = [{} as EmbeddedEngine, ''];
beforeAll(async () => {
  folder = tempDir();
  // The limit of a query is above that of all work, as where caches and datasets have taken the difference.
  engine = await openChdb(folder, {
    limits: { seconds: 60, memoryBytes: 1024 * MIB, resultBytes: MIB },
    memoryBytes: 200 * MIB,
    sync: false,
  });
  await engine.createTable(TABLE);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

// Symptom: a query that could never run was a 429, so that clients sent it again and again.
test('a query that fills the memory alone is a 400 that says what to write, and the next one runs', async () => {
  for (let n = 0; n < 3; n++) {
    await expect(engine.query(TOO_MUCH)).rejects.toMatchObject({
      status: 400,
      message:
        'the query needs more memory than the engine has: take a shorter time, or fewer fields, rows or groups, or start the service with more memory (--memory)',
    });
    expect((await engine.query(ENOUGH)).rows.at(0)).toEqual(['2000000']);
  }
});

test('beside an insert, also one that waits or ends meanwhile, it is a 429 with Retry-After', async () => {
  const block = new RowBlock(0n);
  for (let n = 0; n < 2000; n++) {
    block.put(KIND.string, 1, 'text', `${n} ${'x'.repeat(1000)}`);
    block.endRow(BigInt(n));
  }
  const bytes = block.bytes(1n);
  let token = 0;
  for (let n = 0; n < 5; n++) {
    const inserts = Array.from({ length: 4 }, () => engine.insert(TABLE, bytes, `token-${token++}`, 'key'));
    const refused = expect(engine.query(TOO_MUCH)).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('taken by other work'),
      headers: { 'Retry-After': '1' },
    });
    await Promise.all([refused, ...inserts]);
  }
  expect((await engine.query(ENOUGH)).rows.at(0)).toEqual(['2000000']);
});

/** A query whose range covers all that a dataset has compares no times, and still finds nothing outside of its range. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DatasetRecord } from '../../src/service/datasets/catalog.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import type { Engine } from '../../src/service/engine/engine.ts';
import { KIND, RowBlock } from '../../src/service/engine/rows/row-block.ts';
import { timeLiteral } from '../../src/service/engine/tables.ts';
import { DEFAULT_LIMITS, queryLimitsOf } from '../../src/service/limits.ts';
import { runQuery } from '../../src/service/query/run.ts';
import { planOf, readQuery } from '../../src/language/text/query-text.ts';
import { makeTree } from '../support/temp-tree.ts';

const HOUR = 3_600_000_000_000n;
const DAY = 1_767_225_600_000_000_000n;
/** The range of every query: hours 10 to 20 of the day. */
const [START, END] = [DAY + 10n * HOUR, DAY + 20n * HOUR];
const TABLE = 'ds_1';
const dataset: DatasetRecord = {
  id: 1,
  name: 'logs',
  table: TABLE,
  created: '',
  who: '',
  description: '',
  retentionDays: 0,
  fields: new Map([['n', 1]]),
  notes: new Map(),
  mapFields: [],
  own: new Map(),
  written: [],
};

let engine: Engine;
let tokens = 0;
/** What the engine was asked, and what happens before it answers. */
let asked: string[];
let meanwhile: () => Promise<unknown>;

beforeEach(async () => {
  engine = await openChdb(makeTree({}), { limits: queryLimitsOf(DEFAULT_LIMITS), sync: false });
  await engine.createTable(TABLE);
  asked = [];
  meanwhile = () => Promise.resolve();
});
afterEach(() => engine.close());

/** Stores an event at each of these hours. */
async function store(...hours: number[]): Promise<void> {
  const block = new RowBlock(0n);
  for (const hour of hours) {
    block.put(KIND.integer, 0, 'n', hour);
    block.endRow(DAY + BigInt(hour) * HOUR);
  }
  const token = `token-${tokens++}`;
  await engine.insert(TABLE, block.bytes(BigInt(tokens * 1000)), token, token, [], {
    rows: block.rows,
    ...block.bounds(),
  });
}

/** How many events the query finds in its range. */
async function found(): Promise<{ rows: number; status: Readonly<Record<string, unknown>>; compared: boolean[] }> {
  asked = [];
  const watched: Engine = {
    ...engine,
    async query(sql, params, options) {
      asked.push(sql);
      await meanwhile();
      return engine.query(sql, params, options);
    },
  };
  const request = {
    datasets: [dataset],
    datasetsOf: () => [dataset],
    range: { now: END, start: START, end: END },
    step: undefined,
    limit: undefined,
    cursor: undefined,
    cursorText: '',
    startedAt: 0,
    options: {},
  };
  const { answer, status } = await runQuery(
    watched,
    request,
    () => planOf(readQuery("['logs'] | where n >= 0"), new Map()),
    [],
  );
  return { rows: answer.rows.length, status, compared: asked.map((sql) => /_time (?:<|>=) /.test(sql)) };
}

test('times are compared only where an event may be outside', async () => {
  expect(await found()).toMatchObject({ rows: 0, compared: [false] });
  await store(10, 15, 19);
  expect(await found()).toMatchObject({
    rows: 3,
    compared: [false],
    status: { minBlockTime: '2026-01-01T10:00:00Z', maxBlockTime: '2026-01-01T19:00:00Z' },
  });
  await store(20);
  expect(await found()).toMatchObject({ rows: 3, compared: [true] });
  expect(asked[0]).not.toContain('_time >=');
  await store(9);
  expect(await found()).toMatchObject({ rows: 3, compared: [true] });
  expect(asked[0]).toContain('_time >=');
});

test.each([[9], [20]])('an event of hour %d that comes in while the query runs is not found', async (hour) => {
  await store(10, 19);
  await found();
  let isNew = true;
  meanwhile = async () => {
    if (isNew) await store(hour);
    isNew = false;
  };
  expect(await found()).toMatchObject({ rows: 2, compared: [false, true] });
  expect(await found()).toMatchObject({ rows: 2, compared: [true] });
});

test('one that comes in and is deleted again meanwhile is not found either', async () => {
  await store(10, 19);
  await found();
  let calls = 0;
  const alone = engine;
  engine = {
    ...alone,
    // It is deleted after the first statement, before the query is done.
    async extent(table) {
      if (++calls === 2) await alone.deleteRows(table, `_time >= ${timeLiteral(END)}`);
      return alone.extent(table);
    },
  };
  let isNew = true;
  meanwhile = async () => {
    if (isNew) await store(21);
    isNew = false;
  };
  expect(await found()).toMatchObject({ rows: 2, compared: [false, true] });
  expect(calls).toBe(2);
});

test('one within the range that comes in meanwhile costs no second statement', async () => {
  await store(10, 19);
  await found();
  meanwhile = () => store(12);
  expect(await found()).toMatchObject({ compared: [false] });
});

test('events that were deleted, or not stored, are not counted', async () => {
  await store(9, 10, 19, 20);
  expect(await engine.extent(TABLE)).toMatchObject({ rows: 4 });
  await engine.deleteRows(TABLE, `_time < ${timeLiteral(START)} or _time >= ${timeLiteral(END)}`);
  expect(await engine.extent(TABLE)).toMatchObject({ rows: 2, min: START, max: END - HOUR });
  expect(await found()).toMatchObject({ rows: 2, compared: [false] });
  const broken = engine.insert(TABLE, Buffer.from('no block'), 'broken', 'broken', [], { rows: 8, min: DAY, max: DAY });
  await expect(broken).rejects.toThrow();
  expect(await engine.extent(TABLE)).toMatchObject({ rows: 2, min: START, max: END - HOUR });
  await store(11);
  expect(await engine.extent(TABLE)).toMatchObject({ rows: 3 });
  await engine.dropTable(TABLE);
  await engine.createTable(TABLE);
  expect(await engine.extent(TABLE)).toMatchObject({ rows: 0 });
});

/** Selects that hold the memory of the embedded engine: inserts and the service's own statements wait for it, in a whole service. */
import { expect, test, vi } from 'vitest';
import type { Engine } from '../../src/service/engine/engine.ts';
import { until } from '../support/until.ts';
import { serviceForSuite, type Answer } from './support.ts';

const MIB = 1024 * 1024;
const EVENTS = 5000;
let engine: Engine;

vi.mock('../../src/service/run/open-engine.ts', async (load) => {
  const original = await load<typeof import('../../src/service/run/open-engine.ts')>();
  return {
    ...original,
    openEngine: async (...given: Parameters<typeof original.openEngine>) =>
      (engine = { ...(await original.openEngine(...given)) }),
  };
});
process.env['UV_THREADPOOL_SIZE'] ??= '12';
const { client } = serviceForSuite(
  { limits: { engineBytes: 165 * MIB, querySeconds: 3600 } },
  { logs: [{ n: -1 }], once: [{ n: -1 }] },
);

const count = async (sql: string): Promise<number> => Number((await engine.ask(sql))[0]?.[0]);
/** How many statements have found no memory. */
const refusals = (): Promise<number> =>
  count("select sum(value) from system.errors where name = 'MEMORY_LIMIT_EXCEEDED'");

/** Selects that fill the memory, and hold it until the returned function is called. Each list doubles as it grows, so that some do not fit. */
async function holdMemory(): Promise<() => Promise<unknown>> {
  const gone = new AbortController();
  const held: Promise<unknown>[] = [];
  for (const numbers of [8e6, 4e6, 2e6, 1e6]) {
    const sql = `select length(list) from (select groupArray(number) as list from numbers(${numbers})) where sleep(3000 + ${held.length}) = 0 settings function_sleep_max_microseconds_per_block = 3600000000`;
    let isRefused = false;
    held.push(engine.query(sql, {}, { signal: gone.signal }).catch(() => (isRefused = true)));
    const rows = `select max(read_rows) from system.processes where query like '%3000 + ${held.length - 1})%' and query_id != queryID()`;
    await until('a select to hold its list', async () => isRefused || (await count(rows)) >= numbers);
  }
  return () => (gone.abort('nobody waits'), Promise.all(held));
}

const store = (dataset: string, from: number, events = EVENTS): Promise<Answer> =>
  client.call('POST', `/v1/ingest/${dataset}`, {
    body: Array.from({ length: events }, (_, n) =>
      JSON.stringify({ n: from + n, text: `${n} ${'x'.repeat(1500)}` }),
    ).join('\n'),
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `from-${from}` },
  });
/** Rows, and different ones by their ids and by the values sent. */
const rowsOf = async (dataset: string): Promise<unknown> =>
  (
    await client.query(dataset, { aggregations: [{ op: 'count' }, { op: 'distinct', field: 'n' }] })
  ).buckets.totals[0]?.aggregations.map(({ value }) => value);

// Symptom: a heavy query made ingest answer 503 beside it: "the memory of the engine is taken by other work".
test('ingest beside selects that hold the memory waits until they end: no request fails, nothing comes twice', async () => {
  const release = await holdMemory();
  const before = await refusals();
  let answered = 0;
  const sent = Array.from({ length: 8 }, (_, n) => store('logs', n * EVENTS).finally(() => answered++));
  await until('inserts to find no memory, twice', async () => (await refusals()) >= before + 2);
  expect(answered).toBeLessThan(sent.length);
  const others = [
    client.call('POST', '/v1/datasets', { body: { name: 'new' } }),
    client.call('POST', '/v1/datasets/once/trim', { body: { maxDuration: '1000h' } }),
    client.call('GET', '/v1/datasets/logs/info'),
  ];
  await release();
  expect((await Promise.all([...sent, ...others])).map(({ status }) => status)).toEqual(Array(11).fill(200));
  expect(await rowsOf('logs')).toEqual([8 * EVENTS + 1, 8 * EVENTS + 1]);
});

test('an insert that found no memory after it had stored its rows stores them once, and its key stays', async () => {
  const original = { ...engine };
  const outOfMemory = new Error('Code: 241. DB::Exception: (total) memory limit exceeded: would use 201.00 MiB');
  let [inserts, deletes] = [0, 0];
  const mocked = engine as { -readonly [Key in keyof Engine]: Engine[Key] };
  mocked.insert = async (...given) => {
    await original.insert(...given);
    if (inserts++ < 2) throw outOfMemory;
  };
  mocked.deleteRows = (...given) => {
    if (deletes++ === 0) throw outOfMemory;
    return original.deleteRows(...given);
  };
  try {
    const first = await store('once', 0, 10);
    expect([first.status, inserts]).toEqual([200, 3]);
    expect(await rowsOf('once')).toEqual([11, 11]);
    expect([(await store('once', 0, 10)).text, inserts]).toEqual([first.text, 3]);
    expect(await rowsOf('once')).toEqual([11, 11]);
  } finally {
    Object.assign(mocked, original);
  }
});

/** What the service needs of an engine, on each of them: the contract of src/service/engine/engine.ts. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import { openClickhouse } from '../../src/service/engine/clickhouse.ts';
import { parseClickhouseUrl } from '../../src/service/engine/clickhouse-url.ts';
import type { Engine, EngineOptions } from '../../src/service/engine/engine.ts';
import { KIND, RowBlock } from '../../src/service/engine/rows/row-block.ts';
import { alignSettings, tableOf, timeLiteral } from '../../src/service/engine/tables.ts';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';
import { tempDir, type EngineUnderTest } from './support.ts';

const MIB = 1024 * 1024;
const LIMITS = { seconds: 2, memoryBytes: 64 * MIB, resultBytes: 4 * MIB };
const YEAR_NS = 31_557_600_000_000_000n;

/** Rows `first …` of a table, a year apart, with a field of each type. */
function rows(count: number, first: number): Buffer {
  const block = new RowBlock(0n);
  for (let n = 0; n < count; n++) {
    block.put(KIND.integer, 0, 'n', first + n);
    block.put(KIND.string, 1, 'text', `text ${first + n}`);
    block.put(KIND.float, 2, 'half', (first + n) / 2);
    block.put(KIND.boolean, 3, 'even', n % 2 === 0);
    block.put(KIND.json, 4, 'list', '[1,null]');
    block.endRow(BigInt((first + n) % 40) * YEAR_NS + 1n);
  }
  return block.bytes(BigInt(first));
}

describe.each<EngineUnderTest>(['embedded', 'clickhouse'])('the engine %s', (kind) => {
  let engine: Engine;
  let cluster: ClickhouseCluster | undefined;
  let dataDir: string;
  let tables = 0;
  let tokens = 0;
  const open = (options: EngineOptions = { limits: LIMITS, sync: false }): Promise<Engine> =>
    cluster
      ? openClickhouse(parseClickhouseUrl(cluster.url, {}), 'instance-1', options, silentLog)
      : openChdb(dataDir, options);
  const filled = async (count: number, inserts = 4): Promise<string> => {
    const table = tableOf(++tables);
    await engine.createTable(table);
    for (let n = 0; n < inserts; n++) {
      const token = `token-${tokens++}`;
      await engine.insert(table, rows(count / inserts, (n * count) / inserts), token, token);
    }
    return table;
  };
  const count = async (table: string): Promise<number> =>
    Number((await engine.ask(`select count() from ${table}`))[0]?.[0]);

  beforeAll(async () => {
    dataDir = tempDir();
    cluster = kind === 'clickhouse' ? await startClickhouse() : undefined;
    engine = await open();
  });
  afterAll(async () => {
    await engine.close();
    await cluster?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('lists the tables there are; making and dropping one twice does no harm', async () => {
    const table = tableOf(1000);
    await engine.createTable(table);
    await engine.createTable(table);
    expect(await engine.tables()).toContain(table);
    await engine.dropTable(table);
    await engine.dropTable(table);
    expect(await engine.tables()).not.toContain(table);
  });

  test('gives back every stored value, over years, in its types', async () => {
    const table = await filled(400);
    const { rows: found, rowsRead } = await engine.query(
      `select i['n'], s['text'], f['half'], b['even'], j['list'], _rowId from ${table} where i['n'] = 398`,
    );
    expect([...found]).toEqual([['398', 'text 398', 199, true, '[1,null]', '398']]);
    expect(rowsRead).toBeGreaterThan(0);
    expect(await count(table)).toBe(400);
  });

  test.each([
    ['quotes', `it's "so" \`here\``],
    ['backslashes', '\\n \\\\ \\'],
    ['control characters', 'a\u0000b\tc\nd\re\bf\f\u001b'],
    ['letters of every length', 'é ß 漢字 \u{1f600}'],
    ['a placeholder', '{p1:String} {p0:UInt8}'],
    ['nothing', ''],
    ['a statement', "'; drop table ds_1; --"],
    ['60 KiB', `'\\\t`.repeat(20 * 1024)],
  ])('a bound text comes through unchanged: %s', async (_name, text) => {
    const list = [text.slice(0, 20_000), 'b'];
    expect((await engine.query('select {p0:String}, {p1:Array(String)}', { p0: text, p1: list })).rows.at(0)).toEqual([
      text,
      list,
    ]);
  });

  test('a longer one is a 400', async () => {
    const long = engine.query('select {p0:String}', { p0: 'x'.repeat(60 * 1024 + 1) });
    await expect(long).rejects.toMatchObject({ status: 400, message: expect.stringContaining('61440 bytes') });
  });

  test('half of a surrogate pair becomes U+FFFD', async () => {
    expect((await engine.query('select {p0:String}', { p0: 'a\ud800b' })).rows.at(0)).toEqual(['a\ufffdb']);
  });

  test('numbers keep their digits, and the values that JSON has not come as text', async () => {
    const sql = 'select {big:Int64}, {list:Array(UInt64)}, 1/0, -1/0, nan, null, true';
    const { rows: found } = await engine.query(sql, { big: -9223372036854775808n, list: [18446744073709551615n, 1n] });
    expect([...found]).toEqual([
      ['-9223372036854775808', ['18446744073709551615', '1'], 'inf', '-inf', 'nan', null, true],
    ]);
    expect(await engine.ask('select 9007199254740993')).toEqual([['9007199254740993']]);
  });

  test('deleted rows are counted exactly and are gone for every later select', async () => {
    const table = await filled(1000);
    expect(await engine.deleteRows(table, `_time < ${timeLiteral(20n * YEAR_NS)}`)).toBe(500);
    expect(await count(table)).toBe(500);
    expect(await engine.deleteRows(table, `_time < ${timeLiteral(20n * YEAR_NS)}`)).toBe(0);
    await engine.reclaim(table);
    expect(await count(table)).toBe(500);
    expect(await engine.deleteRows(table, '1')).toBe(500);
  });

  test('says how many rows there are and of which times, after inserts, deletes and a restart', async () => {
    const table = await filled(400);
    expect(await engine.extent(table)).toMatchObject({ rows: 400, min: 1n, max: 39n * YEAR_NS + 1n });
    // Queries are judged by it, before the engine is asked.
    expect(engine.knownExtent(table)).toMatchObject({ rows: 400, min: 1n, max: 39n * YEAR_NS + 1n });
    await engine.insert(table, rows(1, 440), `more-${kind}`, 'key');
    expect(await engine.extent(table)).toMatchObject({ rows: 401, min: 1n });
    await engine.deleteRows(table, `_time < ${timeLiteral(20n * YEAR_NS)}`);
    expect(await engine.extent(table)).toMatchObject({ rows: 200, min: 20n * YEAR_NS + 1n });
    expect(engine.knownExtent(table)).toMatchObject({ rows: 200 });
    await engine.close();
    engine = await open();
    expect(await engine.extent(table)).toMatchObject({ rows: 200, min: 20n * YEAR_NS + 1n, max: 39n * YEAR_NS + 1n });
  });

  test('inserts, selects and deletes at once do not disturb one another', async () => {
    const table = await filled(400);
    const more = Array.from({ length: 12 }, (_, n) =>
      engine.insert(table, rows(100, 400 + n * 100), `many-${kind}-${n}`, `key ${n}`),
    );
    const reads = Array.from({ length: 12 }, () => count(table));
    const gone = engine.deleteRows(table, `i['n'] < 400`);
    for (const read of await Promise.all(reads)) expect(read).toBeLessThanOrEqual(1600);
    await Promise.all(more);
    expect(await gone).toBe(400);
    expect(await engine.ask(`select count(), uniqExact(i['n']), sum(i['n']) from ${table}`)).toEqual([
      ['1200', '1200', '1199400'],
    ]);
  });

  test.each([
    ['time', 'select max(sipHash64(number, toString(number))) from numbers(100000000000)', 'time limit of 2 s'],
    ['memory', 'select groupArray(number) from numbers(100000000)', 'memory limit of 64 MiB'],
    ['the result', 'select number from numbers(2000000)', 'larger than 4 MiB'],
    ['a pattern', "select match(materialize('x'), '(')", 'regular expression'],
  ])('a select over its limits is a 400 that says which: %s', async (_name, sql, message) => {
    await expect(engine.query(sql)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) });
    expect((await engine.query('select 1')).rows.at(0)).toEqual([1]);
  });

  test('a statement that is wrong is no ApiError: it is a bug of the service', async () => {
    await expect(engine.query('select nonsense')).rejects.not.toHaveProperty('status');
  });

  test('with sync the tables there are and new ones are fsynced; without it they are not', async () => {
    const table = await filled(4);
    await engine.close();
    const made = async (name: string): Promise<string> => {
      const local = cluster ? `${name}_shard` : name;
      return String((await engine.ask(`select engine_full from system.tables where name = '${local}'`))[0]?.[0]);
    };
    engine = await open({ limits: LIMITS, sync: true });
    const later = await filled(4);
    for (const name of [table, later])
      expect(await made(name)).toMatch(/fsync_after_insert = 1, fsync_part_directory = 1/);
    await engine.close();
    engine = await open();
    for (const name of [table, later]) {
      const text = await made(name);
      expect(text).toContain('fsync_after_insert = 0');
      // A table that has all settings is left as it is; one of an earlier version gets those that it lacks.
      expect(alignSettings(name, text, false)).toBeUndefined();
      const earlier = text
        .replace(/, min_rows_to_fsync_after_merge = \d+/, '')
        .replace('cleanup_delay_period = 5,', 'cleanup_delay_period = 50,');
      expect(alignSettings(name, earlier, false)).toBe(
        `alter table ${name} modify setting min_rows_to_fsync_after_merge = 1, cleanup_delay_period = 5`,
      );
    }
    expect(await count(table)).toBe(4);
  });

  // A test that is skipped fails a run of CI: what only a cluster can do is not declared elsewhere.
  if (kind !== 'clickhouse') return;

  test('a server that is away is a 503 that names it, and is used again when it is back', async () => {
    const table = await filled(40);
    const [, second] = cluster!.servers;
    await second!.kill();
    await expect(engine.query(`select count() from ${table}`)).rejects.toMatchObject({ status: 503 });
    const key = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const results = await Promise.allSettled(
      key.map((each) => engine.insert(table, rows(1, 50), `away-${each}`, each)),
    );
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']));
    await expect(engine.quiesce()).rejects.toMatchObject({ status: 503 });
    await second!.restart();
    await engine.quiesce();
    const stored = results.filter(({ status }) => status === 'fulfilled').length;
    await expect.poll(() => count(table), { timeout: 600_000 }).toBe(40 + stored);
  });

  test('the key alone chooses the shard', async () => {
    const table = await filled(4);
    const of = async (shard: number): Promise<number> =>
      Number(await cluster!.ask(shard, `select count() from tailrace_test.${table}_shard`));
    const before = [await of(0), await of(1)];
    for (let n = 0; n < 8; n++) await engine.insert(table, rows(1, 100 + n), `chosen-${n}`, 'one key');
    const added = [(await of(0)) - before[0]!, (await of(1)) - before[1]!];
    expect(added.toSorted((a, b) => a - b)).toEqual([0, 8]);
  });

  test('a shard that lacks a table gets it at the next start', async () => {
    const table = await filled(4);
    await engine.close();
    await cluster!.ask(1, `drop table tailrace_test.${table} sync`);
    await cluster!.ask(1, `drop table tailrace_test.${table}_shard sync`);
    engine = await open();
    expect(await cluster!.ask(1, `exists tailrace_test.${table}_shard`)).toBe('1');
    const key = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(key.map((each) => engine.insert(table, rows(1, 90), `healed-${each}`, each)));
    expect(Number(await cluster!.ask(1, `select count() from tailrace_test.${table}_shard`))).toBeGreaterThan(0);
  });
});

describe('the address of a cluster', () => {
  test.each([
    [
      'clickhouse://db',
      { hosts: ['http://db:8123'], user: 'default', password: '', database: 'tailrace', cluster: '' },
    ],
    [
      'clickhouse://me:p%40ss@db:9/logs?secure=1',
      { hosts: ['https://db:9'], user: 'me', password: 'p@ss', database: 'logs', cluster: '' },
    ],
    [
      'clickhouse://db/?secure=true',
      { hosts: ['https://db:8443'], user: 'default', password: '', database: 'tailrace', cluster: '' },
    ],
    [
      'clickhouse://a:1,[::1]:2/x?cluster=two',
      { hosts: ['http://a:1', 'http://[::1]:2'], user: 'default', password: '', database: 'x', cluster: 'two' },
    ],
  ])('%s is read', (text, wanted) => {
    expect(parseClickhouseUrl(text, {})).toEqual(wanted);
  });

  test('the password may come from the environment', () => {
    expect(parseClickhouseUrl('clickhouse://me@db', { TAILRACE_CLICKHOUSE_PASSWORD: 'x' }).password).toBe('x');
  });

  test.each([
    'clickhouse://',
    'clickhouse:///db',
    'clickhouse://a b',
    'clickhouse://a:99999',
    "clickhouse://a/x'; drop",
    'clickhouse://a?cluster=x y',
    'clickhouse://a?user=x',
    'clickhouse://a,b/x',
  ])('%s is refused with how to write it', (text) => {
    expect(() => parseClickhouseUrl(text, {})).toThrow(
      expect.objectContaining({ fix: expect.stringContaining('clickhouse://user@host') }),
    );
  });
});

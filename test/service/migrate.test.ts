/** Moving a data folder from the embedded engine to a cluster: whole, resumable at any instant, never twice, never to the wrong place. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { clientOf, startForTest, startOn, type Client, type QueryAnswer } from './support.ts';

const ROWS = 3000;
const NAMES = ['events', 'other', 'empty'];
let dataDir: string;
let cluster: ClickhouseCluster;
let before: QueryAnswer[];
let client: Client;
let stop: () => Promise<void>;

const readAll = (from: Client): Promise<QueryAnswer[]> =>
  Promise.all(
    NAMES.map((name) =>
      from.query(name, { limit: ROWS * 2, order: [{ field: '_rowId' }], endTime: '2200-01-01T00:00:00Z' }),
    ),
  );

beforeAll(async () => {
  const under = await startForTest();
  ({ dataDir, client } = under);
  stop = under.stop;
  cluster = await startClickhouse();
  for (const name of NAMES) await client.createDataset(name);
  for (let n = 0; n < 10; n++)
    await client.ingest(
      'events',
      // Half of them at one instant: a chunk may end in the middle.
      Array.from({ length: ROWS / 10 }, (_, k) => ({
        _time: k % 2 ? '2026-01-01T00:00:00Z' : `20${10 + n}-05-05T00:00:00.${String(k).padStart(9, '0')}Z`,
        n,
        text: `é ${k}`,
        list: [k, null],
        mixed: k % 3 ? k / 7 : `${k}`,
        big: '9007199254740993',
        ok: k % 5 === 0,
      })),
      { headers: { 'idempotency-key': `key-${n}` } },
    );
  await client.ingest('other', [{ a: 9007199254740991 }, { a: {}, b: null }]);
  await client.ingest('other', [{ _time: '2000-01-01T00:00:00Z', gone: true }]);
  await client.call('POST', '/v1/datasets/other/trim', { body: { maxDuration: '24h' } });
  before = await readAll(client);
  await under.service.close();
});
afterAll(async () => {
  await stop();
  await cluster.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a move and ends it after so many chunks, or lets it finish. */
function move(chunks: number | undefined, folder = dataDir, to = cluster.url): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'migrate-process.ts'), folder, to, '170'], {
    stdio: 'pipe',
  });
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString();
      if (chunks !== undefined && said.split('chunk').length > chunks)
        setTimeout(() => child.kill('SIGKILL'), randomInt(0, 30));
    });
    child.on('exit', (code, signal) => (signal === 'SIGKILL' || code === 0 ? resolve(said) : reject(new Error(said))));
  });
}

describe('a move to a cluster', () => {
  test('goes on after kills, arrives whole, and the service answers from there', async () => {
    for (const chunks of [1, 3, 4, 2]) expect(await move(chunks)).not.toContain('done');
    expect(await move(undefined)).toContain('done');
    const local = await Promise.all([0, 1].map((n) => cluster.ask(n, 'select count() from tailrace_test.ds_1_shard')));
    expect(local.map(Number).reduce((a, b) => a + b)).toBe(ROWS);
    expect(local.every((count) => Number(count) > 0)).toBe(true);

    const service = await startOn(dataDir, { engine: cluster.url });
    const moved = clientOf(service.address, client);
    const after = await readAll(moved);
    for (const [n, answer] of after.entries()) {
      expect(answer.matches).toEqual(before[n]!.matches);
      expect(answer.fieldsMeta).toEqual(before[n]!.fieldsMeta);
    }
    // The keys moved, too.
    await moved.ingest('events', [{ again: true }], { headers: { 'idempotency-key': 'key-3' } });
    expect((await moved.query('events', { limit: 1 })).status['rowsMatched']).toBe(ROWS);
    await moved.createDataset('later');
    await moved.ingest('later', [{ a: 1 }]);
    expect((await moved.query('later')).matches).toHaveLength(1);
    await service.close();
  });

  test('the folder is the cluster’s from then on', async () => {
    await expect(startOn(dataDir, { engine: 'embedded' })).rejects.toThrow(
      'are in the engine "clickhouse", not in "embedded"',
    );
    await expect(move(undefined)).rejects.toThrow('on ClickHouse already');
    await expect(startOn(makeTree({}), { engine: cluster.url })).rejects.toThrow(
      'holds the events of another data folder',
    );
  });

  test('arrives whole when the folder took and trimmed events between two runs: that dataset is moved anew', async () => {
    // It failed with a checksum that differed, and again each time: rows older than the first run's position were never read.
    const folder = makeTree({});
    const to = cluster.url.replace('tailrace_test', 'tailrace_between');
    const start = (engine: string) => startOn(folder, { engine });
    const first = await start('embedded');
    const { apiToken = '', personalToken = '', orgId } = first.credentials;
    const of = (address: string): Client => clientOf(address, { apiToken, personalToken, orgId });
    const events = (count: number, year: number) =>
      Array.from({ length: count }, (_, n) => ({ _time: `${year}-01-01T00:00:00Z`, n }));
    await of(first.address).createDataset('between');
    await of(first.address).ingest('between', [...events(100, 2001), ...events(1000, 2025)]);
    await first.close();
    expect(await move(5, folder, to)).not.toContain('done');

    const again = await start('embedded');
    await of(again.address).ingest('between', events(50, 2020));
    const trimmed = await of(again.address).call('POST', '/v1/datasets/between/trim', {
      body: { maxDuration: '175200h' },
    });
    expect(trimmed.json).toEqual({ numDeleted: 100 });
    await again.close();
    expect(await move(undefined, folder, to)).toContain('done');
    const moved = await start(to);
    expect(
      (await of(moved.address).query('between', { limit: 1, startTime: '2000-01-01T00:00:00Z' })).status['rowsMatched'],
    ).toBe(1050);
  });

  test('the command says what it needs', async () => {
    const none = startProgram(['migrate', '--data', makeTree({}), '--to', cluster.url]);
    expect(await none.exited).toBe(1);
    expect(none.stderr()).toContain('is no data folder of the service');
    const wrong = startProgram(['migrate', '--data', dataDir, '--to', 'mysql://x']);
    expect(await wrong.exited).toBe(2);
  });
});

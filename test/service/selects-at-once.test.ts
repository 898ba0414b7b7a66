/** Selects run side by side, and one that nobody waits for any more ends: on each engine, and in the real service. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import { openClickhouse } from '../../src/service/engine/clickhouse.ts';
import { parseClickhouseUrl } from '../../src/service/engine/clickhouse-url.ts';
import type { Engine } from '../../src/service/engine/engine.ts';
import { KIND, RowBlock } from '../../src/service/engine/rows/row-block.ts';
import { tableOf } from '../../src/service/engine/tables.ts';
import { SERVICE_EMBEDDED_SELECTS } from '../../src/service/limits.ts';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { until } from '../support/until.ts';
import { tempDir, type EngineUnderTest } from './support.ts';

const MIB = 1024 * 1024;
/** Longer than any test. */
const ENDLESS = 'select count() from numbers(1000000000000) where sipHash64(number) = 1';
const ENDS = Number(process.env['TAILRACE_ENDS'] ?? 20);

describe.each<EngineUnderTest>(['embedded', 'clickhouse'])('selects of the engine %s', (kind) => {
  let engine: Engine;
  let cluster: ClickhouseCluster | undefined;
  let dataDir: string;
  const table = tableOf(1);
  let rows = 0;
  const running = async (): Promise<number> =>
    Number(
      (
        await engine.ask(
          `select count() from system.processes where query like '%sipHash64(number)%' and query_id != queryID()`,
        )
      )[0]?.[0],
    );
  const insert = async (): Promise<void> => {
    const block = new RowBlock(0n);
    for (let n = 0; n < 100; n++) {
      block.put(KIND.integer, 0, 'n', n);
      block.endRow(BigInt(n + 1) * 1_000_000_000n);
    }
    const first = rows;
    rows += 100;
    await engine.insert(table, block.bytes(BigInt(first)), `token-${first}`, `token-${first}`);
  };
  /** An endless select in flight: how it ends, and how to end it. */
  const begin = async (already: number): Promise<{ readonly end: () => Promise<unknown> }> => {
    const gone = new AbortController();
    const outcome = engine.query(ENDLESS, {}, { signal: gone.signal }).catch((error: unknown) => error);
    await until('it runs', async () => (await running()) === already + 1);
    return { end: () => (gone.abort('nobody waits'), outcome) };
  };

  beforeAll(async () => {
    process.env['UV_THREADPOOL_SIZE'] ??= '12';
    dataDir = tempDir();
    cluster = kind === 'clickhouse' ? await startClickhouse() : undefined;
    const options = { limits: { seconds: 3600, memoryBytes: 256 * MIB, resultBytes: 4 * MIB }, sync: false };
    engine = cluster
      ? await openClickhouse(parseClickhouseUrl(cluster.url, {}), 'instance-1', options, silentLog)
      : await openChdb(dataDir, options);
    await engine.createTable(table);
  });
  afterAll(async () => {
    await engine.close();
    await cluster?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('run beside one that never ends, with their own values, and so do inserts', async () => {
    expect(engine.queriesAtOnce).toBeGreaterThanOrEqual(SERVICE_EMBEDDED_SELECTS);
    const endless = await begin(0);
    await insert();
    const asked = Array.from({ length: 50 }, (_, n) =>
      engine.query('select {p0:String}, {p1:UInt64}', { p0: `it's ${n}\t\\`, p1: n }),
    );
    expect((await Promise.all(asked)).map(({ rows: found }) => found.at(0))).toEqual(
      Array.from({ length: 50 }, (_, n) => [`it's ${n}\t\\`, String(n)]),
    );
    expect(await running()).toBe(1);
    expect(await endless.end()).toBe('nobody waits');
    await until('it is listed no more', async () => (await running()) === 0);
  });

  test(`that are ended give the engine back, ${ENDS} times beside inserts: nothing is lost, nothing comes twice`, async () => {
    for (let n = 0; n < ENDS; n++) {
      const [one, other] = [await begin(0), await begin(1)];
      const inserts = [insert(), insert()];
      expect(await one.end()).toBe('nobody waits');
      await until('it is listed no more', async () => (await running()) === 1);
      expect(await other.end()).toBe('nobody waits');
      await until('both have ended', async () => (await running()) === 0);
      await Promise.all(inserts);
    }
    expect(await engine.ask(`select count(), uniqExact(_rowId) from ${table}`)).toEqual([[String(rows), String(rows)]]);
  });

  test('that were aborted before they began do not run', async () => {
    await expect(engine.query(ENDLESS, {}, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(await running()).toBe(0);
  });
});

describe('queries of the service', () => {
  const service = localService(
    'long',
    ({ ask }) =>
      ask(
        'POST',
        '/v1/ingest/long',
        Array.from({ length: 10_000 }, (_, n) => ({ n })),
      ),
    ['--memory', '4GiB', '--query-timeout', '10m'],
  );
  const ask = (apl: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${service.url}/v1/datasets/_apl?format=tabular`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${API_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ apl }),
      ...(signal && { signal }),
    });
  /** 10^12 triples, each of which must be made. */
  const ENDLESS_QUERY = `long | extend a = 1 | join kind=inner (long | extend a = 1) on a | join kind=inner (long | extend a = 1) on a | where n * n1 * n2 == 7 | count`;

  test(
    'one that never ends holds up neither others nor ingest, and ends with its client',
    { timeout: 300_000 },
    async () => {
      const gone = new AbortController();
      let isOver = false;
      const endless = ask(ENDLESS_QUERY, gone.signal).then(
        () => (isOver = true),
        () => undefined,
      );
      for (let n = 0; n < 20; n++) {
        expect((await ask('long | count')).status).toBe(200);
        await service.ask('POST', '/v1/ingest/long', [{ n }]);
      }
      expect(isOver).toBe(false);
      gone.abort();
      await endless;
      // Of two long ones of a token that still ran, the second would wait for ever.
      for (let n = 0; n < 4; n++) {
        const next = new AbortController();
        const other = ask(ENDLESS_QUERY, next.signal).catch(() => undefined);
        expect((await ask('long | count')).status).toBe(200);
        next.abort();
        await other;
      }
    },
  );

  // Symptom: a service that was stopped went on for as long as its longest query might take.
  test('are ended by SIGTERM, running ones and those that wait: each is answered, ingest is stored, exit 0', async () => {
    const [before] = await service.aggregate('long', [{ op: 'count' }]);
    const asked = Array.from({ length: 6 }, async () => {
      const answer = await ask(ENDLESS_QUERY);
      return [answer.status, ((await answer.json()) as { message: string }).message];
    });
    const listed = async (state: string): Promise<number> =>
      ((await service.ask('GET', '/v1/queries')) as { state: string }[]).filter((query) => query.state === state)
        .length;
    await until(
      'some to run, and some to wait',
      async () => (await listed('running')) > 0 && (await listed('waiting')) > 0,
    );
    const sent = Array.from({ length: 4 }, (_, n) => service.ask('POST', '/v1/ingest/long', [{ n }]));
    // A connection may end while the queries are answered.
    const stored = Promise.allSettled(sent);
    await service.ask('GET', '/v1/datasets');
    const exited = service.program.end();
    expect(await Promise.all(asked)).toEqual(asked.map(() => [503, 'the service stops: ask again once it is back']));
    const kept = (await stored).filter(({ status }) => status === 'fulfilled').length;
    expect(await exited).toBe(0);
    Object.assign(service, { program: await service.again() });
    const [after] = await service.aggregate('long', [{ op: 'count' }]);
    expect(Number(after)).toBeGreaterThanOrEqual(Number(before) + kept);
    expect(Number(after)).toBeLessThanOrEqual(Number(before) + sent.length);
  });
});

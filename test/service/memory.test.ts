/**
 * `serve --memory` bounds the process and the engine in it, whatever is asked. Symptom: hostile queries took it to 1.7 to 2.3 GB. Causes:
 * the engine's allocator kept freed memory, its limits were those of the machine, and all values of a result were parsed at once.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMemory, shortMemory } from '../../src/cli/serve/memory.ts';
import { memoryShares } from '../../src/service/limits.ts';
import { API_TOKEN, startLocalService, type LocalService } from '../support/local-service.ts';
import { ask, BODIES, fill, JSON_TYPE, MIB, peakOf, QUERIES, send } from './hostile/loads.ts';

const MEMORY = 1024 * MIB;

describe('serve --memory 1GiB', () => {
  let [service, folder] = [{} as LocalService, ''];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-memory-'));
    service = await startLocalService(folder, 'logs', ['--memory', '1GiB', '--query-timeout', '10m']);
    await fill(service);
  });
  afterAll(async () => {
    await service.program.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Each is answered or refused, and none took more than there is. */
  const expectBounded = async (statuses: readonly number[]): Promise<void> => {
    const peak = peakOf(service);
    process.stdout.write(`peak ${Math.round(peak / MIB)} MiB\n`);
    expect(statuses.filter((status) => ![200, 400, 413, 429].includes(status))).toEqual([]);
    expect(peak).toBeLessThan(MEMORY);
    expect(await ask(service.url, 'long | count')).toBe(200);
  };

  test('has a heap of its share, whatever Node would take', () => {
    const environment = readFileSync(`/proc/${service.program.process.pid}/environ`, 'utf8');
    expect(environment).toContain(`--max-old-space-size=${memoryShares(MEMORY, true).heapBytes / MIB}`);
  });

  test.each(QUERIES)('%s', async (apl) =>
    expectBounded([await ask(service.url, apl), await ask(service.url, apl, 'legacy')]),
  );

  // Symptom: two in a row took the process to 1,304 MiB once, as the first one's memory was not given back yet.
  test('two joins that fill the memory of a query in a row, ten times', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 10; n++)
      for (const kind of ['inner', 'inner', 'leftouter'])
        statuses.push(await ask(service.url, `long | join kind=${kind} (long) on host | take 50000`));
    await expectBounded(statuses);
  });

  // Symptom: 300 unfinished bodies of 1 MiB, and 250 waiting queries with 350,000 values each, were held whole in a heap of 132 MiB.
  test('bodies of JSON that do not end, and queries that wait with large ones', async () => {
    const values = `${'[],'.repeat(340_000)}[]`;
    const unfinished = `{"apl":"long | count","variables":{"a":[${values}`;
    const { port } = new URL(service.url);
    const stalled = Array.from({ length: 300 }, () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket
        .resume()
        .write(
          `POST /v1/query/_apl HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n${unfinished}`,
        );
      return socket;
    });
    const slow = JSON.stringify({ apl: 'long | join kind=leftouter (long) on message | count', variables: {} });
    const waiting = Array.from({ length: 250 }, () =>
      send(service.url, '/v1/query/_apl', slow.replace('{}', `{"a":[${values}]}`), JSON_TYPE),
    );
    const statuses = await Promise.all(waiting);
    for (const socket of stalled) socket.destroy();
    expect(statuses).toContain(200);
    await expectBounded(statuses);
  });

  test('all queries at once, twice, beside ingest of large and packed bodies', { timeout: 1_800_000 }, async () => {
    const queries = [...QUERIES, ...QUERIES].map((apl) => ask(service.url, apl));
    const ingest = Array.from({ length: 60 }, (_, n) => {
      const [body, headers] = BODIES[n % BODIES.length]!;
      return send(service.url, '/v1/ingest/logs', body, headers);
    });
    await expectBounded(await Promise.all([...queries, ...ingest]));
  });
});

test('shares of the memory leave nothing over, and none is less than a service needs', () => {
  for (const memory of [256, 512, 640, 1024, 2048, 4096, 16_384].map((mib) => mib * MIB)) {
    const { queryMemoryBytes, engineBytes, heapBytes, replyBytes, resultBytes, ingestBytes, rowBytes } = memoryShares(
      memory,
      true,
    );
    expect(queryMemoryBytes).toBeLessThanOrEqual(1024 * MIB);
    expect(engineBytes).toBeGreaterThan(queryMemoryBytes);
    expect(2 * resultBytes).toBeLessThanOrEqual(Math.max(2 * MIB, replyBytes));
    expect(Math.min(rowBytes, ingestBytes, heapBytes)).toBeGreaterThanOrEqual(MIB);
    if (memory >= 640 * MIB) expect(360 * MIB + engineBytes + heapBytes + replyBytes).toBeLessThan(memory);
  }
  expect(memoryShares(4096 * MIB, true)).toMatchObject({
    queryMemoryBytes: 1024 * MIB,
    resultBytes: 128 * MIB,
    replyBytes: 256 * MIB,
    ingestBytes: 128 * MIB,
    datasets: 10_000,
    allFields: 1_000_000,
  });
});

test('--memory is a size, by default half of the machine and at most 4 GiB; under 640 MiB serve warns', () => {
  expect([readMemory('1GiB'), readMemory('700MB')]).toEqual([1024 * MIB, 700_000_000]);
  for (const text of ['', '1', 'much', '1gb', '0MiB']) expect(() => readMemory(text)).toThrow(/--memory/);
  expect(readMemory(undefined)).toBeLessThanOrEqual(Math.min(4096 * MIB, totalmem() / 2));
  expect(shortMemory(640 * MIB)).toBeUndefined();
  expect(shortMemory(639 * MIB)).toContain('639 MiB of memory leave queries little');
});

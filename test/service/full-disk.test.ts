/** A disk that fills up under the service: clear answers that clients retry, and nothing lost, stored twice or forgotten once there is room again. */
import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountTmpfs, fillDisk } from '../support/tmpfs.ts';
import { clientOf, startOn, type Answer, type Client, tableOf } from './support.ts';

const NDJSON = 'application/x-ndjson';
/** Free disk, KiB: each lets another step fail (the journal, the reply that is kept, the file of an insert, a part of it). */
const LEFT = [0, 4, 16, 48, 96, 200, 400, 800, 1600, 3200];

const isClear = ({ status, json, headers }: Answer): boolean =>
  status < 400 ||
  (status === 503 &&
    String(json['message']).includes('disk of the service is full') &&
    headers.get('retry-after') !== null);

test('disk that is full: 503 with what to do, then everything is stored once', { timeout: 300_000 }, async () => {
  const disk = mountTmpfs(96 * 1024);
  const dataDir = join(disk, 'data');
  let service = await startOn(dataDir, { limits: { monthlyBytes: 2 ** 40 } });
  const { apiToken = '', personalToken = '', orgId } = service.credentials;
  const connectTo = (): Client => clientOf(service.address, { apiToken, personalToken, orgId });
  let client = connectTo();
  await client.createDataset('logs');
  const owner = { token: personalToken, headers: { 'x-service-org-id': orgId } };

  let next = 0;
  /** A batch under a key, with a field that no other has, in two partitions; some of its events fail. */
  const batch = (count: number): { key: string; body: string } => {
    const key = `key-${next}`;
    const lines = Array.from(
      { length: count },
      (_, n) =>
        `{"_time":"${2020 + (n % 2)}-01-01T00:00:00Z","seq":${next + n},"field${next}":1,"text":"${Math.random().toString(36).repeat(40)}"}`,
    );
    next += count;
    return {
      key,
      body: [...lines, ...Array.from({ length: 200 }, (_, n) => `{"_time":"${Math.random()} ${n}"}`)].join('\n'),
    };
  };
  const send = ({ key, body }: { key: string; body: string }): Promise<Answer> =>
    client.call('POST', '/v1/ingest/logs', { headers: { 'content-type': NDJSON, 'idempotency-key': key }, body });

  const statuses = new Map<number, number[]>();
  const unclear: string[] = [];
  const check = (answer: Answer, what: string): Answer => {
    if (!isClear(answer)) unclear.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  };
  const fields: string[] = [];
  for (const [round, left] of LEFT.entries()) {
    const free = fillDisk(disk);
    const filler = join(disk, 'filler');
    truncateSync(filler, Math.max(0, statSync(filler).size - left * 1024));
    const sent: { key: string; body: string }[] = [];
    for (const count of [1, 100, 1000]) {
      fields.push(`field${next}`);
      const each = batch(count);
      sent.push(each);
      const { status } = check(await send(each), `ingest, ${left} KiB left`);
      statuses.set(left, [...(statuses.get(left) ?? []), status]);
    }
    const name = `made-${round}`;
    const others: readonly (readonly [string, string, object])[] = [
      ['POST', '/v1/datasets', { body: { name } }],
      ['POST', '/v2/tokens', { ...owner, body: { name, orgCapabilities: { datasets: ['read'] } } }],
      ['POST', '/v2/users', { ...owner, body: { name, email: `${name}@example.org`, role: 'user' } }],
      [
        'POST',
        '/v2/annotations',
        { body: { datasets: ['logs'], type: 'deploy', title: 'x', description: 'x'.repeat(9000) } },
      ],
      ['PUT', '/v2/datasets/logs', { body: { description: `${round} ${'d'.repeat(9000)}` } }],
      ['POST', '/v1/datasets/logs/trim', { body: { maxDuration: '800000h' } }],
    ];
    for (const [method, path, options] of others)
      check(await client.call(method, path, options), `${method} ${path}, ${left} KiB left`);
    expect((await client.call('GET', '/healthz')).status).toBe(200);
    expect((await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl: 'print 1' } })).status).toBe(200);
    free();
    for (const each of sent) expect((await send(each)).json).toMatchObject({ failed: 200 });
    // What failed leaves nothing that is in the way.
    expect((await client.call('POST', '/v1/datasets', { body: { name } })).status).toBeOneOf([200, 409]);
    expect((await client.call('GET', `/v1/datasets/${name}`)).status).toBe(200);
    expect((await client.call('DELETE', `/v1/datasets/${name}`, owner)).status).toBe(204);
  }
  expect(unclear).toEqual([]);
  process.stdout.write(`ingest by KiB left: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
  expect(statuses.get(0)).toEqual([503, 503, 503]);

  const counted = async (): Promise<readonly unknown[][]> =>
    tableOf(
      await client.call('POST', '/v1/query/_apl?format=tabular', {
        body: {
          apl: 'logs | summarize count(), dcount(seq), min(seq), max(seq), dcount(_rowId)',
          startTime: '2000-01-01T00:00:00Z',
        },
      }),
    ).rows;
  const known = async (): Promise<unknown[]> => {
    const { rows } = tableOf(
      await client.call('POST', '/v1/query/_apl?format=tabular', {
        body: { apl: 'logs | getschema | project ColumnName', startTime: '2000-01-01T00:00:00Z' },
      }),
    );
    return fields.filter((field) => !rows.some(([column]) => column === field));
  };
  for (let start = 0; start < 2; start++) {
    expect(await counted()).toEqual([[next, expect.closeTo(next, -3), 0, next - 1, expect.anything()]]);
    expect(await known()).toEqual([]);
    await service.close();
    service = await startOn(dataDir);
    client = connectTo();
  }

  // A start on a full disk says so, or succeeds; with room it always does.
  await service.close();
  const free = fillDisk(disk);
  const started = await startOn(dataDir).then(
    (again) => again.close(),
    (error: Error) => error,
  );
  process.stdout.write(`start: ${started instanceof Error ? started.message : 'ok'}\n`);
  if (started instanceof Error)
    expect(started).toMatchObject({ name: 'TailraceError', message: expect.stringMatching(/space|full/i) });
  free();
  service = await startOn(dataDir);
  client = connectTo();
  expect((await counted())[0]![0]).toBe(next);
});

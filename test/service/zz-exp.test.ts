import { test } from 'vitest';
import { startForTest } from './support.ts';
test('exp', async () => {
  const under = await startForTest({ engine: 'clickhouse' });
  const { client, cluster } = under;
  await client.createDataset('d');
  for (let n = 0; n < 10; n++) await client.ingest('d', [{ n }], { headers: { 'idempotency-key': `k${n}` } });
  const timed = async (what: string, work: () => Promise<{ status: number; text: string; headers: Headers }>) => {
    const t = Date.now();
    const a = await work().catch((e: unknown) => ({ status: -1, text: String(e), headers: new Headers() }));
    console.log(what, a.status, a.headers.get('retry-after'), a.text.slice(0, 300), Date.now() - t, 'ms');
  };
  const all = async (label: string) => {
    await timed(`${label} query`, () => client.call('POST', '/v1/datasets/d/query', { body: { aggregations: [{ op: 'count' }] } }));
    for (let n = 0; n < 4; n++)
      await timed(`${label} ingest`, () =>
        client.call('POST', '/v1/ingest/d', {
          headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `${label}-${n}` },
          body: '{"a":1}',
        }),
      );
    await timed(`${label} create`, () => client.call('POST', '/v1/datasets', { body: { name: `x-${label}` } }));
    await timed(`${label} list`, () => client.call('GET', '/v1/datasets'));
    await timed(`${label} trim`, () => client.call('POST', '/v1/datasets/d/trim', { body: { maxDuration: '1h' } }));
    await timed(`${label} delete`, () => client.call('DELETE', '/v1/datasets/d2'));
  };
  await client.createDataset('d2');
  const [, second] = cluster!.servers;
  await second!.kill();
  await all('killed');
  await second!.restart();
  await timed('back query', () => client.call('POST', '/v1/datasets/d/query', { body: { aggregations: [{ op: 'count' }] } }));
  for (let n = 0; n < 4; n++)
    await timed(`back ingest`, () =>
      client.call('POST', '/v1/ingest/d', {
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `killed-${n}` },
        body: '{"a":1}',
      }),
    );
  await timed('back create again', () => client.call('POST', '/v1/datasets', { body: { name: `x-killed` } }));
  await client.createDataset('d2').catch((e: unknown) => console.log(String(e)));
  second!.process.kill('SIGSTOP');
  await all('hung').finally(() => second!.process.kill('SIGCONT'));
  await timed('back query', () => client.call('POST', '/v1/datasets/d/query', { body: { aggregations: [{ op: 'count' }] } }));
  await under.stop();
}, 900_000);

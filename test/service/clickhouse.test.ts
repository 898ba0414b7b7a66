/** The engine on two ClickHouse servers. */
import { describe, expect, test } from 'vitest';
import { serviceForSuite, totalsOf } from './support.ts';

const { under, client } = serviceForSuite({ engine: 'clickhouse' }, { spread: [] });

describe('a cluster', () => {
  test('spreads keys over its shards and answers over all of them', async () => {
    for (let n = 0; n < 20; n++) await client.ingest('spread', [{ n }], { headers: { 'idempotency-key': `key-${n}` } });
    const totals = totalsOf(
      await client.query('spread', { aggregations: [{ op: 'count' }, { op: 'sum', field: 'n' }] }),
    );
    expect(totals).toEqual({ COUNT: 20, SUM: 190 });
    const counts = await Promise.all(
      [0, 1].map((n) => under.cluster!.ask(n, 'select count() from tailrace_test.ds_1_shard')),
    );
    expect(counts.map(Number).reduce((a, b) => a + b)).toBe(20);
    expect(counts.map(Number).every((count) => count > 0)).toBe(true);
  });
});

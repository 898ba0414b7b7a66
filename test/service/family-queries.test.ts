/** Queries as the family's public documentation has them: each is answered with the columns and rows that were written down for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAMILY_QUERIES, LINES, REQUESTS, SPANS } from './family-queries.ts';
import { startForTest, type ServiceUnderTest } from './support.ts';

let under: ServiceUnderTest;
beforeAll(async () => {
  under = await startForTest();
  for (const [name, events] of Object.entries({ H: REQUESTS, T: SPANS, S: LINES })) {
    await under.client.createDataset(name);
    await under.client.ingest(name, events);
  }
});
afterAll(() => under.stop());

interface Table {
  readonly fields: readonly { readonly name: string }[];
  readonly columns: readonly (readonly unknown[])[];
}

test('the table has at least 200 queries, each once', () => {
  expect(FAMILY_QUERIES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(FAMILY_QUERIES.map(([text]) => text)).size).toBe(FAMILY_QUERIES.length);
});

test.each(FAMILY_QUERIES)('%s', async (text, columns, rows) => {
  const body = { apl: text, startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };
  const answer = await under.client.call('POST', '/v1/query/_apl?format=tabular', { body });
  const tables = answer.json['tables'] as readonly Table[] | undefined;
  // Of a series by time the second table has the totals.
  const found = tables?.[0] && { columns: tables[0].fields.map(({ name }) => name).join(' '), rows: tables[0].columns[0]?.length };
  expect(found ?? answer.text).toEqual({ columns, rows });
});

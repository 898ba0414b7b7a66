/** Queries as the public documentation of APL has them: each is answered with the columns and rows that were written down for it. */
import { expect, test } from 'vitest';
import { APL_QUERIES, LINES, REQUESTS, SPANS } from './apl-queries.ts';
import { serviceForSuite, tableOf } from './support.ts';

const { client } = serviceForSuite({}, { H: REQUESTS, T: SPANS, S: LINES });

test('the table has at least 200 queries, each once', () => {
  expect(APL_QUERIES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(APL_QUERIES.map(([text]) => text)).size).toBe(APL_QUERIES.length);
});

test.each(APL_QUERIES)('%s', async (text, columns, rows) => {
  const body = { apl: text, startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };
  // Of a series by time the second table has the totals.
  const found = tableOf(await client.call('POST', '/v1/query/_apl?format=tabular', { body }));
  expect({ columns: found.names.join(' '), rows: found.rows.length }).toEqual({ columns, rows });
});

/** Queries ended in mid-query beside ingest, in the real command on each engine. `npm run test:long -- test/long/ended-queries.test.ts` ends 200. */
import { describe, test } from 'vitest';
import { testEnds } from './ended-queries.ts';

describe.each(['embedded', 'clickhouse'] as const)('the service on the engine %s', (engine) => {
  test('ends 20 queries in mid-query beside ingest: nothing is lost, nothing comes twice, every answer is right', () =>
    testEnds(engine, 20));
});

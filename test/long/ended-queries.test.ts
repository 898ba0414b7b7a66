/** Queries ended in mid-query beside ingest, in the real command on each engine. TAILRACE_ENDS sets how many. */
import { describe, test } from 'vitest';
import { testEnds } from '../service/ended-queries.ts';

const ENDS = Number(process.env['TAILRACE_ENDS'] ?? 200);

describe.each(['embedded', 'clickhouse'] as const)('the service on the engine %s', (engine) => {
  test(
    `ends ${ENDS} queries in mid-query beside ingest: nothing is lost, nothing comes twice, every answer is right`,
    { timeout: 3_600_000 },
    () => testEnds(engine, ENDS),
  );
});

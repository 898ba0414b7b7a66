/**
 * Random queries over random events, by text and in the legacy form: the service's rows must be those of a plain evaluator. TAILRACE_FUZZ_QUERIES sets how many
 * (300 of each), TAILRACE_FUZZ_SEED repeats a run.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { legacyQuery } from './differential/legacy.ts';
import type { Row } from './differential/expressions.ts';
import { events, query, rowsOf, unordered, type Event } from './differential/queries.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { startForTest, type QueryAnswer, type ServiceUnderTest } from './support.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_QUERIES'] ?? 300);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const SETS = 4;
const START = Date.UTC(2026, 0, 1);
const RANGE = { startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };

let under: ServiceUnderTest;
const log = new MemoryLog();
beforeAll(async () => {
  under = await startForTest({ log });
});
afterAll(() => under.stop());

async function store(name: string, list: readonly Event[]): Promise<void> {
  await under.client.createDataset(name);
  // In several requests: several parts.
  for (let from = 0; from < list.length; from += 20)
    await under.client.ingest(name, list.slice(from, from + 20).map(({ at, seq, fields }) => ({ _time: new Date(START + at * 1000).toISOString(), seq, ...fields }))); // prettier-ignore
}

async function ask(text: string): Promise<{ names: string[]; rows: unknown[][] }> {
  const answer = await under.client.call('POST', '/v1/query/_apl?format=tabular&nocache=true', { body: { apl: text, limit: 50_000, ...RANGE } });
  if (answer.status !== 200) throw new Error(`${text}\nanswered ${answer.status}: ${answer.text}\n${JSON.stringify(log.find('error', '').at(-1))}`);
  const [table] = answer.json['tables'] as { fields: { name: string }[]; columns: unknown[][] }[];
  return { names: table!.fields.map(({ name }) => name), rows: (table!.columns[0] ?? []).map((_, n) => table!.columns.map((column) => column[n])) };
} // prettier-ignore

/** Lists as sets where the evaluator has sets, floats where rounding may differ in the last places. */
function aligned(found: unknown, expected: unknown): unknown {
  if (typeof expected === 'object' && expected !== null && 'unordered' in expected) return unordered(found as unknown[]);
  if (typeof found === 'number' && typeof expected === 'number' && Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected))) return expected;
  return found;
} // prettier-ignore

/** For each set of events, what `agrees` has to say about random queries. */
async function eachSet(kind: string, agrees: (name: string, rows: readonly Row[]) => fc.IAsyncProperty<unknown>): Promise<void> {
  for (let set = 0; set < SETS; set++) {
    const [list] = fc.sample(events, { seed: seed + set, numRuns: 1 }) as [Event[]];
    const name = `${kind}-${set}`;
    await store(name, list);
    await fc.assert(agrees(name, rowsOf(list)), { seed: seed + set, numRuns: Math.ceil(wanted / SETS) });
  }
}

const counts = { asked: 0, full: 0 };
function compare(found: unknown[][], expected: unknown[][], what: string): void {
  counts.asked++;
  if (expected.length > 0) counts.full++;
  const compared = found.map((row, n) => row.map((value, m) => aligned(value, expected[n]?.[m])));
  expect(JSON.stringify(compared), what).toBe(JSON.stringify(expected));
}

test(`queries by text agree with the evaluator (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await eachSet('text', (name, rows) =>
    fc.asyncProperty(query, async ({ text, names, of }) => {
      const whole = `['${name}']${text}`;
      const found = await ask(whole);
      expect(found.names).toEqual(names);
      compare(found.rows, of(rows), whole);
    }),
  );
});

test(`legacy queries agree with the evaluator (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await eachSet('legacy', (name, rows) =>
    fc.asyncProperty(legacyQuery, async ({ body, of, grouped }) => {
      const answer = await under.client.call('POST', `/v1/datasets/${name}/query?nocache=true`, { body: { ...RANGE, ...body } });
      if (answer.status !== 200)
        throw new Error(
          `${JSON.stringify(body)}\nanswered ${answer.status}: ${answer.text}\n${JSON.stringify(log.find('error', '').at(-1))}`,
        );
      const { matches, buckets } = answer.json as unknown as QueryAnswer;
      const found = grouped
        ? buckets.totals.map(({ group, aggregations }) => [...Object.values(group), ...aggregations.map(({ value }) => value)])
        : matches.map(({ data }) => [data['seq']]);
      compare(found, of(rows), JSON.stringify(body));
      // Counts of the series add up to those of the totals.
      if (grouped && buckets.totals.length > 0)
        for (const total of buckets.totals) {
          const parts = buckets.series.flatMap(({ groups }) => groups.filter(({ id }) => id === total.id));
          expect(parts.length, JSON.stringify(body)).toBeGreaterThanOrEqual(Object.keys(total.group).length > 0 ? 1 : 0);
        }
    }),
  );
});

test('most queries had rows', () => {
  process.stdout.write(`query differential: ${counts.asked} queries, ${counts.full} with rows, first seed ${seed}\n`);
  expect(counts.full / counts.asked).toBeGreaterThan(0.6);
});

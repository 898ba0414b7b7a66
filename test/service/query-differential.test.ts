/**
 * Random queries over random events, by text and in the legacy form: the service's rows must be those of a plain evaluator. TAILRACE_FUZZ_QUERIES sets how many
 * (200 of each, those of one seed), TAILRACE_FUZZ_SEED draws others.
 */
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LEGACY_OPS, legacyQuery, type LegacyQuery } from './differential/legacy.ts';
import type { Row } from './differential/expression.ts';
import { unordered } from './differential/aggregations.ts';
import { noteText, unused, usesNew } from './differential/coverage.ts';
import { events, query, rowsOf, type Event } from './differential/queries.ts';
import type { Query } from './differential/step.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { serviceForSuite, type QueryAnswer } from './support.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_QUERIES'] ?? 200);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? 20_260_101);
const SETS = 4;
const START = Date.UTC(2026, 0, 1);
const RANGE = { startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };

const log = new MemoryLog();
const { under } = serviceForSuite({ log, limits: { ownColumnSample: 20 } });

async function store(name: string, list: readonly Event[]): Promise<void> {
  await under.client.createDataset(name);
  const written = list.map(({ at, seq, fields }) =>
    JSON.stringify({ _time: new Date(START + at * 1000).toISOString(), seq, ...fields }, digits),
  );
  // In several requests: several parts.
  for (let from = 0; from < list.length; from += 20)
    await under.client.ingest(name, written.slice(from, from + 20).join('\n'));
}

/** Integers of any size as they are, there and back. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
const digits = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? rawJSON(String(value)) : value);
const exactly = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? `${source}n`
    : value;

interface Found {
  readonly names: string[];
  readonly rows: unknown[][];
  /** Of a series. */
  readonly totals: unknown[][] | undefined;
}

/** Undefined for one that the service refuses for its size: each part of a `parse_json` is written several times. */
async function ask(text: string): Promise<Found | undefined> {
  const answer = await under.client.call('POST', '/v1/query/_apl?format=tabular&nocache=true', {
    body: { apl: text, limit: 50_000, ...RANGE },
  });
  if (answer.status === 400 && answer.text.includes('the query is too complex')) return undefined;
  if (answer.status !== 200)
    throw new Error(
      `${text}\nanswered ${answer.status}: ${answer.text}\n${JSON.stringify(log.find('error', '').at(-1))}`,
    );
  const { tables } = JSON.parse(answer.text, exactly) as {
    tables: { fields: { name: string }[]; columns: unknown[][] }[];
  };
  const [rows, totals] = tables.map(({ columns }) =>
    (columns[0] ?? []).map((_, n) => columns.map((column) => column[n])),
  );
  return { names: tables[0]!.fields.map(({ name }) => name), rows: rows!, totals };
}

/** The same with floats beyond 2^53 as floats, which `exactly` takes for integers. */
function loosened(found: unknown): unknown {
  if (typeof found === 'string' && /^-?\d+n$/.test(found)) return Number(found.slice(0, -1));
  if (typeof found !== 'object' || found === null) return found;
  return Array.isArray(found)
    ? found.map(loosened)
    : Object.fromEntries(Object.entries(found).map(([key, value]) => [key, loosened(value)]));
}

/** Lists as sets where the evaluator has sets, floats where rounding may differ in the last places. */
function aligned(found: unknown, expected: unknown): unknown {
  if (typeof expected === 'object' && expected !== null && 'near' in expected) {
    const { near, within } = expected as unknown as { near: number; within: number };
    const value = loosened(found);
    return typeof value === 'number' && Math.abs(value - near) <= within ? expected : found;
  }
  if (typeof expected === 'object' && expected !== null) {
    const form = (value: unknown): unknown =>
      'unordered' in expected && Array.isArray(value) ? unordered(value) : value;
    return JSON.stringify(form(found)) === JSON.stringify(expected) ? expected : form(loosened(found));
  }
  const value = typeof expected === 'number' ? loosened(found) : found;
  if (
    typeof value === 'number' &&
    typeof expected === 'number' &&
    Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))
  )
    return expected;
  return found;
}

/** For each set of events, what `agrees` has to say about random queries. */
async function eachSet(
  kind: string,
  agrees: (name: string, rows: readonly Row[]) => fc.IAsyncProperty<unknown>,
): Promise<void> {
  for (let set = 0; set <= SETS; set++) {
    // The last set has no event at all, and so no fields.
    const list = set < SETS ? (fc.sample(events, { seed: seed + set, numRuns: 1 })[0] as Event[]) : [];
    const name = `${kind}-${set}`;
    await store(name, list);
    await fc.assert(agrees(name, rowsOf(list)), {
      seed: seed + set,
      numRuns: Math.ceil(wanted / (set < SETS ? SETS : 10)),
    });
  }
}

const counts = { asked: 0, full: 0, tooComplex: 0 };
function compare(found: unknown[][], expected: unknown[][], what: string): void {
  counts.asked++;
  if (expected.length > 0) counts.full++;
  const compared = found.map((row, n) => row.map((value, m) => aligned(value, expected[n]?.[m])));
  expect(JSON.stringify(compared), what).toBe(JSON.stringify(expected));
}

async function check(name: string, rows: readonly Row[], { text, names, of, totals }: Query): Promise<void> {
  const whole = `['${name}']${text}`;
  noteText(text);
  const found = await ask(whole);
  if (!found) return void counts.tooComplex++;
  expect(found.names).toEqual(names);
  compare(found.rows, of(rows), whole);
  if (totals) compare(found.totals ?? [], totals(rows), `${whole}\nits totals`);
}

test(`queries by text agree with the evaluator (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await eachSet('text', (name, rows) => fc.asyncProperty(query, (found) => check(name, rows, found)));
  // Some of these rows came from columns that fields have of their own.
  expect(log.find('info', 'common fields have columns of their own now').length).toBeGreaterThan(0);
  expect(log.find('warn', 'common fields could not be given')).toEqual([]);
});

/** Queries that are looked through for what the others left to chance. */
const MORE = 20_000;
test(`what none of those used agrees, too (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const [list] = fc.sample(events, { seed, numRuns: 1 }) as [Event[]];
  await store('more', list);
  const rows = rowsOf(list);
  for (let n = 0; n < MORE && unused().never.length > 0; n += 100) {
    // Drawing takes seconds: let both ends of the connection see that it is idle, or one closes it under a request of the other.
    await setImmediate();
    for (const found of fc.sample(query, { seed: seed + 1000 + n, numRuns: 100 }))
      if (usesNew(found.text)) await check('more', rows, found);
  }
});

const drawn = new Set<string>();
const opsOf = (body: object): string[] => [...JSON.stringify(body).matchAll(/"op":"([^"]+)"/g)].map(([, op]) => op!);
const leftOps = (): string[] => LEGACY_OPS.filter((op) => !drawn.has(op));

async function checkLegacy(name: string, rows: readonly Row[], { body, of, grouped }: LegacyQuery): Promise<void> {
  for (const op of opsOf(body)) drawn.add(op);
  const what = JSON.stringify(body);
  const answer = await under.client.call('POST', `/v1/datasets/${name}/query?nocache=true`, {
    body: { ...RANGE, ...body },
  });
  if (answer.status !== 200)
    throw new Error(
      `${what}\nanswered ${answer.status}: ${answer.text}\n${JSON.stringify(log.find('error', '').at(-1))}`,
    );
  const { matches, buckets } = JSON.parse(answer.text, exactly) as QueryAnswer;
  const found = grouped
    ? buckets.totals.map(({ group, aggregations }) => [
        ...Object.values(group),
        ...aggregations.map(({ value }) => value),
      ])
    : matches.map(({ data }) => [data['seq']]);
  compare(found, of(rows), what);
  // Each of the totals has its group in the series.
  for (const total of grouped ? buckets.totals : []) {
    const parts = buckets.series.flatMap(({ groups }) => groups.filter(({ id }) => id === total.id));
    expect(parts.length, what).toBeGreaterThanOrEqual(Object.keys(total.group).length > 0 ? 1 : 0);
  }
}

test(`legacy queries agree with the evaluator (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await eachSet('legacy', (name, rows) => fc.asyncProperty(legacyQuery, (found) => checkLegacy(name, rows, found)));
});

test(`legacy queries with what none of those used agree, too (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const [list] = fc.sample(events, { seed, numRuns: 1 }) as [Event[]];
  await store('more-legacy', list);
  const rows = rowsOf(list);
  for (let n = 0; n < MORE && leftOps().length > 0; n += 100)
    for (const found of fc.sample(legacyQuery, { seed: seed + 1000 + n, numRuns: 100 }))
      if (opsOf(found.body).some((op) => LEGACY_OPS.includes(op) && !drawn.has(op)))
        await checkLegacy('more-legacy', rows, found);
});

test('most queries had rows, and they used everything that is documented', () => {
  const { never, total, rarest } = unused();
  process.stdout.write(`query differential: ${counts.asked} results, ${counts.full} with rows, first seed ${seed}\n`);
  process.stdout.write(
    `${total - never.length} of ${total} operators, functions and aggregations drawn; the rarest: ${rarest}\n`,
  );
  expect(counts.full / counts.asked).toBeGreaterThan(0.6);
  expect(counts.tooComplex / counts.asked).toBeLessThan(0.01);
  const left = leftOps();
  process.stdout.write(
    `${LEGACY_OPS.length - left.length} of ${LEGACY_OPS.length} operations of the legacy form drawn\n`,
  );
  expect(never).toEqual([]);
  expect(left).toEqual([]);
});

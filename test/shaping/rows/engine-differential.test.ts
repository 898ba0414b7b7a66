/**
 * Random expressions and pipelines over random events: what the row back end makes of them is what the service's engine answers for the same text.
 * Fields keep one type here: of a field of several, a query goes by every type that it ever had, a transform by the event's own value.
 * TAILRACE_FUZZ_ROWS sets how many (60), TAILRACE_FUZZ_SEED draws others.
 */
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { FUNCTIONS, OPERATORS } from '../../../src/language/functions/table.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { column, word } from '../../service/differential/expression.ts';
import { expressions } from '../../service/differential/expressions.ts';
import { inexact } from '../../service/differential/functions.ts';
import { noteText, unused, usesNew } from '../../service/differential/coverage.ts';
import { serviceForSuite } from '../../service/support.ts';
import { context, rowOf, textOf } from './support.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_ROWS'] ?? 60);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? 20_260_101);
const START = Date.UTC(2026, 0, 1);
const RANGE = { startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };
const BIG = [2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n), 1_234_567_890_123_456_789n] as const;

/** Events as JSON texts: each field has one type, and may be missing or null. */
const events = fc.array(
  fc.record(
    {
      a: fc.oneof(fc.integer({ min: -10, max: 10 }).map(String), fc.constant('null')),
      b: fc.integer({ min: -40, max: 40 }).map((n) => String(n + 0.25)),
      c: fc
        .oneof(
          word,
          fc.constantFrom('k=1 q="x y" z=2', 'ß İ Σς', 'line\nbreak', '𝒳y𝒳', '2026-01-02T03:04:05Z', '1h30m', 'a/b'),
        )
        .map((text) => JSON.stringify(text)),
      d: fc.boolean().map(String),
      g: fc.oneof(fc.constantFrom(...BIG), fc.integer({ min: -3, max: 3 }).map(BigInt)).map(String),
      m: fc.constantFrom('[]', '[1,"a",null,2.5]', '["x_y"]', '[[1],{"k":2}]'),
    },
    { requiredKeys: [] },
  ),
  { minLength: 40, maxLength: 40 },
);
const FIRST = { a: '1', b: '0.25', c: '"a"', d: 'true', g: '3', m: '[1]' };

const COLUMNS = [
  column('a', 'dynamic', 'int'),
  column('b', 'dynamic', 'real'),
  column('c', 'dynamic', 'string'),
  column('d', 'dynamic', 'bool'),
  column('m', 'dynamic', 'json'),
  column('never', 'dynamic'),
];
const { number, text, condition, any } = expressions([...COLUMNS, column('g', 'dynamic', 'int')], 2);
/** Of a choice between integers and floats, a query divides floats and a transform what it chose; beyond 2^53 floats round. */
const mixes = (each: string): boolean => /(?:\biff?|\biif|case|coalesce|_of)\(/.test(each) && /\/|\bg\b/.test(each);
const expression = fc
  .oneof(number, text, condition, any, inexact(expressions(COLUMNS, 0)))
  .map((each) => each.text)
  // A transform refuses hash without a key.
  .filter((each) => !each.includes('bin_auto(') && !/\bhash\(/.test(each) && !mixes(each));

const { client } = serviceForSuite({}, { rows: [] });
let lines: string[];
beforeAll(async () => {
  const [list] = fc.sample(events, { seed, numRuns: 1 });
  lines = [FIRST, ...list!].map((fields, seq) => {
    const parts = Object.entries(fields).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
    return `{${[`"_time":"${new Date(START + (seq % 7) * 1000).toISOString()}"`, `"seq":${seq}`, ...parts].join(',')}}`;
  });
  await client.ingest('rows', lines.join('\n'));
});

/** Integers of any size as they are written. */
const exactly = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? `${source}n`
    : value;
const read = (json: string): unknown => JSON.parse(json, exactly);

/** The cells of the named columns, row by row. */
async function ask(pipeline: string): Promise<Record<string, unknown>[]> {
  const apl = `['rows'] | sort by seq asc ${pipeline}`;
  const answer = await client.call('POST', '/v1/query/_apl?format=tabular&nocache=true', {
    body: { apl, limit: 50_000, ...RANGE },
  });
  if (answer.status !== 200) throw new Error(`${apl}\nanswered ${answer.status}: ${answer.text}`);
  const [table] = (read(answer.text) as { tables: { fields: { name: string }[]; columns: unknown[][] }[] }).tables;
  const names = table!.fields.map(({ name }) => name);
  return (table!.columns[0] ?? []).map((_, n) =>
    Object.fromEntries(names.map((name, m) => [name, table!.columns[m]![n] ?? null])),
  );
}

function shaped(pipeline: string, names: readonly string[]): Record<string, unknown>[] {
  const program = compileRows(pipeline, { from: 'test' });
  return lines.flatMap((line) =>
    program.run(rowOf(line), { ...context, readAtMs: Date.now(), random: Math.random }).map((row) => {
      const event = read(textOf(row)) as Record<string, unknown>;
      return Object.fromEntries(names.map((name) => [name, event[name] ?? null]));
    }),
  );
}

/** Whether one of them is a float: a number beyond 64 bits is not an integer. */
const hasFloat = (...values: readonly unknown[]): boolean =>
  values.some((value) => typeof value === 'number' || Math.abs(Number(String(value).slice(0, -1))) >= 2 ** 63);

/** The last digits of floats may differ. */
function near(found: unknown, expected: unknown): boolean {
  if (typeof found === 'number' && typeof expected === 'number')
    return Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  const number = (value: unknown): unknown =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? Number(value.slice(0, -1)) : value;
  if (typeof number(found) === 'number' && typeof number(expected) === 'number' && hasFloat(found, expected))
    return near(number(found), number(expected));
  return JSON.stringify(found) === JSON.stringify(expected);
}

async function compare(pipeline: string): Promise<void> {
  const found = await ask(pipeline);
  const names = Object.keys(found[0] ?? {});
  const mine = shaped(pipeline, names);
  const wrong = found.flatMap((row, n) =>
    names.flatMap((name) =>
      near(mine[n]?.[name], row[name])
        ? []
        : [`${name}: rows ${JSON.stringify(mine[n]?.[name])}, engine ${JSON.stringify(row[name])}, of ${lines[n]}`],
    ),
  );
  expect(wrong.slice(0, 3), pipeline).toEqual([]);
  expect(mine.length, pipeline).toBe(found.length);
}

const projected = (texts: readonly string[]): string =>
  `| project seq, ${texts.map((each, n) => `p${n} = ${each}`).join(', ')}`;

test(`expressions agree with the engine (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(expression, { minLength: 6, maxLength: 6 }), async (texts) => {
      for (const each of texts) noteText(each);
      await compare(projected(texts));
    }),
    { seed, numRuns: wanted },
  );
});

/** Functions of rows that both back ends have. */
const SHARED = new Set([
  ...OPERATORS.keys(),
  ...[...FUNCTIONS].filter(([name, { only }]) => only === undefined && name !== 'hash').map(([name]) => `${name}()`),
]);

test('every shared function was compared', { timeout: 3_600_000 }, async () => {
  for (let n = 0; n < 60 && unused().never.some((name) => SHARED.has(name)); n++) {
    const rare = fc.sample(expression, { seed: seed + n, numRuns: 500 }).filter((each) => usesNew(each));
    for (const each of rare.filter((candidate) => usesNew(candidate))) {
      noteText(each);
      await compare(projected([each]));
    }
  }
  expect(unused().never.filter((name) => SHARED.has(name))).toEqual([]);
});

test.each(
  [
    '| where a > 0 and d',
    '| where not(c contains "a") | project seq, c',
    '| extend x = a * 2, a = b | project seq, x, a',
    '| project-away a, m | project seq, b, c',
    '| project-keep seq, a, c*',
    '| project-rename x = a, y = c | project seq, x, y',
    '| project-rename a = b, b = a | project seq, a, b',
    '| parse c with first " " rest | project seq, first, rest',
    '| parse c with * "k=" k:long * "q=" q " z=" z | project seq, k, q, z',
    '| parse kind=relaxed c with "k=" k:long " " rest | project seq, k, rest',
    '| parse kind=regex c with "[a-z]" k:long @"\\s+" rest | project seq, k, rest',
    '| parse kind=regex flags=i c with "(A)(b)?" rest | project seq, rest',
    '| parse-where c with "a" rest | project seq, rest',
    '| parse-kv c as (k:long, q, z:real, none) | project seq, k, q, z, none',
    `| parse-kv c as (k, z) with (pair_delimiter=' ', kv_delimiter='=', quote='') | project seq, k, z`,
    '| mv-expand with_itemindex=i m | sort by seq asc, i asc | project seq, i, m',
    '| mv-expand x = m to typeof(string) limit 2 | project seq, x',
    '| mv-expand x = m, y = m | project seq, x, y',
  ].map((pipeline) => [pipeline]),
)('%s agrees with the engine', async (pipeline) => {
  // An order is for queries; rows come in it anyway.
  const found = await ask(pipeline);
  const names = Object.keys(found[0] ?? {}).filter(
    (name) => name !== '_time' && name !== '_sysTime' && name !== '_rowId',
  );
  const mine = shaped(pipeline.replace(/\| sort by [^|]*/, ''), names);
  expect(found.length).toBeGreaterThan(0);
  expect(mine).toEqual(found.map((row) => Object.fromEntries(names.map((name) => [name, row[name]]))));
});

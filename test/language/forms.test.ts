/** A query that was read is plain data: it can be copied, and planned later and elsewhere. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { QUERY_OPERATORS } from '../../src/language/operators/table.ts';
import { planOf, planStep, readQuery } from '../../src/language/text/query-text.ts';
import { readTransform } from '../../src/language/text/transform-text.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/query-examples.md'), 'utf8');
const [, operators = ''] = /^## Operators\n(.*?)^## /ms.exec(page) ?? [];
const QUERIES = [...operators.matchAll(/^(.+) → /gm)].map(([, text = '']) => text);
const MORE = [
  "['a'], ['b-*'] | where x == 1",
  'search in (a, b) kind=case_sensitive "term"',
  'let t = a | where x > 1; let f = (n: long) { t | where x > n }; union t, (f(2)) | count',
  "['a'] | where x in ((b | project y)) | extend z = toscalar(c | count)",
];
const TRANSFORMS = [
  'where a > 1 | project-away b*, c[].d | extend m = mask(m, 4), x[].y = mask(x[].y)',
  'sample 0.1 by a | throttle 10 per 1s by a | dedupe by a, b within 1m',
  'parse m with "id=" id:long " " rest | mv-expand with_itemindex=i list to typeof(string) limit 5 | to_dataset(a)',
];

const plan = (query: Parameters<typeof planOf>[0]): unknown => planOf(query, new Map());

describe('a query that was read', () => {
  test.each([...QUERIES, ...MORE])('%s is planned alike from a copy', (text) => {
    const query = readQuery(text);
    const { lets, pipeline } = structuredClone({ lets: query.lets, pipeline: query.pipeline });
    expect(plan({ ...query, lets, pipeline })).toEqual(plan(query));
    expect(plan(query), 'planned again').toEqual(plan(query));
  });

  test('keeps each operator with its name, place and text', () => {
    const { pipeline } = readQuery("['a'] | where x > 1 |  take 5");
    expect(pipeline).toMatchObject({
      source: { kind: 'dataset', name: { text: 'a' } },
      steps: [
        { name: 'where', at: 8, text: 'where x > 1', form: { kind: 'call', name: '>' } },
        { name: 'take', at: 23, text: 'take 5', form: 5 },
      ],
    });
  });
});

test.each(TRANSFORMS)('a transform that was read is planned alike from a copy: %s', (text) => {
  const { steps, problems } = readTransform(text);
  expect(problems).toEqual([]);
  for (const { scope, stages, ...step } of steps)
    expect(planStep(structuredClone(step), { scope, lets: new Map() }).stages).toEqual(stages);
});

test('every operator is among these', () => {
  const texts = [...QUERIES, ...MORE, ...TRANSFORMS].map((text) => `| ${text}`).join('\n');
  expect(
    QUERY_OPERATORS.map(({ names }) => names[0]).filter((name) => !new RegExp(`\\| ${name}\\b`).test(texts)),
  ).toEqual([]);
});

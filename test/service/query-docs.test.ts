/**
 * docs/query.md and docs/query-examples.md: every recipe and example gives the result on the page, each missing one gives the error there,
 * and nothing is left out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findAggregate, FUNCTIONS } from '../../src/language/functions/table.ts';
import { OPERATORS_BY_NAME, QUERY_OPERATORS } from '../../src/language/operators/table.ts';
import { APL_AGGREGATIONS, APL_FUNCTIONS, APL_OPERATORS } from './apl-names.ts';
import { serviceForSuite, tableOf } from './support.ts';

const page = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8');
const EXAMPLES = page('query-examples.md');
const recipes = [...page('query.md').matchAll(/^### ([^\n]*)\n\n```kusto\n(.*?)```\n\n```text\n(.*?)```/gms)].map(
  ([, title = '', text = '', wanted = '']) => ({ title, text, wanted: wanted.trimEnd() }),
);
const examples = [...EXAMPLES.matchAll(/^(.+) → (.+?)(?:   \/\/ .*)?$/gm)].map(
  ([, text = '', wanted = '']) => [text, wanted] as const,
);
const absent = [...EXAMPLES.matchAll(/^\| `(.+)` \| (.+) \|$/gm)].map(
  ([, text = '', message = '']) => [text.replaceAll('\\|', '|'), message.replaceAll('\\|', '|')] as const,
);

const minute = (time: string): string => `2026-01-05T03:${time}Z`;
const before = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const EVENTS = [
  {
    _time: minute('05:00'),
    service: 'web',
    message: 'request',
    path: '/cart',
    ms: 120,
    client: '10.0.0.7',
    bytes: 5000,
    trace: '4bf92f',
  },
  { _time: minute('05:00.04'), service: 'cart', message: 'load items', ms: 80, trace: '4bf92f' },
  { _time: minute('05:00.09'), service: 'db', message: 'query', ms: 30, trace: '4bf92f' },
  {
    _time: minute('06:00'),
    service: 'web',
    message: 'request',
    path: '/search',
    ms: 900,
    client: '10.0.0.9',
    bytes: 200,
  },
  {
    _time: minute('10:00'),
    service: 'web',
    message: 'request',
    path: '/search',
    ms: 700,
    client: '10.0.0.9',
    bytes: 300,
  },
  {
    _time: minute('11:00'),
    service: 'web',
    message: 'request',
    path: '/cart',
    ms: 100,
    client: '10.0.0.7',
    bytes: 4000,
  },
  ...['12:30', '13:00', '14:00'].map((time) => ({
    _time: minute(time),
    service: 'db',
    message: 'too many connections',
  })),
  ...[5, 10].map((ago) => ({ _time: before(ago), service: 'web', level: 'error' })),
  { _time: before(20), service: 'db', level: 'error' },
  { _time: before(30), service: 'web', level: 'info' },
  { _time: before(180), service: 'db', level: 'error' },
];

const { client } = serviceForSuite({}, { logs: EVENTS });

const ask = async (text: string) =>
  tableOf(
    await client.call('POST', '/v1/query/_apl?format=tabular', {
      body: { apl: text, startTime: '2026-01-01T00:00:00Z' },
    }),
  );

describe('docs/query.md', () => {
  test('has recipes', () => {
    expect(recipes.map(({ title }) => title)).toEqual([
      'Errors by service in the last hour',
      'Slowest endpoints',
      'What changed at 03:12',
      'One trace',
      'Top talkers',
    ]);
  });

  test.each(recipes)('recipe "$title" gives what the page says', async ({ text, wanted }) => {
    const { names, rows } = await ask(text);
    expect([names, ...rows].map((row) => row.map(String).join(' | ')).join('\n')).toBe(wanted);
  });
});

/** Whether the text is a whole query. */
const isQuery = (text: string): boolean => /^(?:datatable|print|range|let|union|externaldata)\b(?!\(\d)/.test(text);

describe('docs/query-examples.md', () => {
  test('its queries give the rows that it says', async () => {
    const queries = examples.filter(([text]) => isQuery(text));
    const found = await Promise.all(queries.map(async ([text]) => [text, (await ask(text)).rows]));
    expect(found).toEqual(queries.map(([text, wanted]) => [text, JSON.parse(wanted)]));
  });

  test.each(absent)('%s is refused as it says', async (text, message) => {
    const whole = text.startsWith('|') ? `range x from 1 to 3 step 1 ${text}` : isQuery(text) ? text : `print ${text}`;
    const answer = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl: whole } });
    expect([answer.status, answer.json['message']]).toEqual([400, expect.stringContaining(message)]);
  });

  test('everything that APL’s documentation lists works, or is in the table of exceptions', () => {
    const refused = absent.map(([text]) => text).join(' ');
    const left = [
      ...APL_OPERATORS.filter((name) => !OPERATORS_BY_NAME.has(name) && !refused.includes(name)),
      ...APL_AGGREGATIONS.filter(
        (name) => !findAggregate(name) && !name.startsWith('arg_') && !refused.includes(` ${name}(`),
      ),
      ...APL_FUNCTIONS.filter(
        (name) =>
          FUNCTIONS.get(name)?.only === 'transforms' || (!FUNCTIONS.has(name) && !` ${refused}`.includes(` ${name}(`)),
      ),
    ];
    expect(left).toEqual([]);
  });

  test('it has every operator of queries', () => {
    const texts = examples.map(([text]) => text).join('\n');
    const names = QUERY_OPERATORS.filter(({ only }) => only !== 'transforms').map(({ names }) => names[0]);
    expect(names.filter((name) => !`${texts.replaceAll('\n', ' \n')} `.includes(`| ${name} `))).toEqual([]);
  });
});

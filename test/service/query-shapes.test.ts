/** docs/query-shapes.md: every query gives the rows that the page says, or the sentence, and the messages beside them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceForSuite, tableOf } from './support.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'query-shapes.md'), 'utf8');
const cell = (text: string): string => text.replaceAll('\\|', '|');
const shapes = [...page.matchAll(/^\| `(.+?)` \| (works|says): (.+) \|$/gm)].map(
  ([, query = '', kind = '', answer = '']) => {
    const [, rows, message] = /^`(.+?)`(?:, and says: (.+))?$/.exec(cell(answer)) ?? [];
    return kind === 'works'
      ? { query: cell(query), rows, message }
      : { query: cell(query), rows: undefined, message: cell(answer) };
  },
);

const EVENTS = [
  {
    service: 'web',
    status: '200',
    level: 'ERROR',
    ms: 12,
    message: 'GET /a done',
    ip: '10.0.0.1',
    uri: '/a',
    tags: ['x', 'y'],
  },
  {
    service: 'web',
    status: '404',
    level: 50,
    ms: 5,
    message: 'GET /b missing',
    ip: '10.0.0.2',
    uri: '/b',
    tags: ['x'],
  },
  {
    service: 'db',
    status: '500',
    level: 'ERROR',
    ms: 90,
    message: 'too many connections',
    ip: '10.0.0.1',
    uri: '/a',
    tags: [],
  },
  {
    service: 'db',
    status: '500',
    level: 'info',
    ms: 40,
    message: 'too many connections',
    ip: '10.0.0.3',
    uri: '/a',
    tags: ['y'],
  },
].map((event, n) => ({ _time: `2026-01-05T03:0${n}:00Z`, ...event }));
const { client } = serviceForSuite({}, { logs: EVENTS });

const ask = (query: string) =>
  client.call('POST', '/v1/query/_apl?format=tabular', {
    body: { apl: query, startTime: '2026-01-01T00:00:00Z', endTime: '2036-01-01T00:00:00Z' },
  });

test('the page has at least 180 queries, each once', () => {
  expect(shapes.length).toBeGreaterThanOrEqual(180);
  expect(new Set(shapes.map(({ query }) => query)).size).toBe(shapes.length);
});

/** What the status says, once there is anything: the question behind a hint may take a fifth of a second and no more. */
async function said(query: string): Promise<readonly string[]> {
  for (const deadline = Date.now() + 20_000; ;) {
    const { json } = await ask(query);
    const { messages } = json['status'] as { messages: readonly { msg: string }[] };
    if (messages.length > 0 || Date.now() > deadline) return messages.map(({ msg }) => msg);
  }
}

test.each(shapes)('$query', async ({ query, rows, message }) => {
  const answer = await ask(query);
  if (rows === undefined) {
    expect(answer.status).toBeOneOf([400, 404]);
    expect(answer.json['message']).toContain(message);
    return;
  }
  expect(answer.status, answer.text).toBe(200);
  expect(tableOf(answer).rows).toEqual(JSON.parse(rows));
  const { messages } = answer.json['status'] as { messages: readonly unknown[] };
  if (message === undefined) expect(messages).toEqual([]);
  else expect(await said(query)).toEqual([message]);
});

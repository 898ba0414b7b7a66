import { expect, test } from 'vitest';
import type { TabularResult } from '../../src/client/api-types.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { pagesOf, pagesOfDataset } from '../../src/client/pages.ts';
import { FakeService } from '../support/fake-service.ts';

async function start(events: number): Promise<{ service: FakeService; client: Client }> {
  const service = await FakeService.start();
  const client = createClient({ url: service.url });
  await client.datasets.create({ name: 'logs' });
  service.events.set(
    'logs',
    Array.from({ length: events }, (_, n) => ({ n })),
  );
  return { service, client };
}

const numbersIn = ({ tables: [table] }: TabularResult): unknown[] => [
  ...(table?.columns[table.fields.findIndex(({ name }) => name === 'n')] ?? []),
];
const sentBy = ({ requests }: FakeService): Record<string, unknown>[] =>
  requests.slice(1).map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

test('pages follow the oldest cursor, newest rows first, until there are no more', async () => {
  const { service, client } = await start(7);
  const pages = [];
  for await (const page of pagesOf(client, 'logs | sort by _time desc', { limit: 3 })) pages.push(numbersIn(page));
  expect(pages).toEqual([[6, 5, 4], [3, 2, 1], [0]]);
  expect(sentBy(service).map(({ cursor, endTime }) => [cursor, endTime])).toEqual([
    [undefined, undefined],
    ['00000004', undefined],
    ['00000001', undefined],
    ['00000000', undefined],
  ]);
});

test('pages follow the newest cursor, oldest rows first, and keep the end of the first page', async () => {
  const { service, client } = await start(5);
  const pages = [];
  for await (const page of pagesOf(client, 'logs | sort by _time asc', { limit: 2 })) pages.push(numbersIn(page));
  expect(pages).toEqual([[0, 1], [2, 3], [4]]);
  expect(sentBy(service).map(({ cursor, endTime }) => [cursor, endTime])).toEqual([
    [undefined, undefined],
    ['00000001', '2026-02-01T00:00:00Z'],
    ['00000003', '2026-02-01T00:00:00Z'],
    ['00000004', '2026-02-01T00:00:00Z'],
  ]);
});

test('pages of an empty dataset are one empty page', async () => {
  const { service, client } = await start(0);
  const pages = [];
  for await (const page of pagesOf(client, 'logs')) pages.push(numbersIn(page));
  expect(pages).toEqual([[]]);
  expect(sentBy(service)).toHaveLength(1);
});

test('pages end where the cursor does not move', async () => {
  const { service, client } = await start(3);
  const first = await client.query('logs');
  service.respond = (_request, response) => void response.end(JSON.stringify(first));
  let pages = 0;
  for await (const _ of pagesOf(client, 'logs')) pages += 1;
  expect(pages).toBe(2);
});

test.each<[string, (table: object) => object]>([
  ['groups', (table: object) => ({ ...table, groups: [{ name: 'n' }] })],
  [
    'an aggregation',
    (table: object) => ({ ...table, fields: [{ name: 'count_', type: 'integer', agg: { name: 'count' } }] }),
  ],
  ['another order', (table: object) => ({ ...table, order: [{ field: 'n', desc: true }] })],
])('pages of a result with %s are that one', async (_name, change) => {
  const { service, client } = await start(3);
  const result = await client.query('logs');
  service.respond = (_request, response) =>
    void response.end(JSON.stringify({ ...result, tables: result.tables.map(change) }));
  const before = service.requests.length;
  for await (const page of pagesOf(client, 'logs')) expect(page.tables).toHaveLength(1);
  expect(service.requests).toHaveLength(before + 1);
});

test.each([
  [true, [[4, 3], [2, 1], [0]]],
  [false, [[0, 1], [2, 3], [4]]],
])('pages of a structured query follow its order, descending %s', async (desc, wanted) => {
  const { client } = await start(5);
  const pages = [];
  for await (const { matches } of pagesOfDataset(client, 'logs', { limit: 2, order: [{ field: '_time', desc }] }))
    pages.push((matches ?? []).map(({ data }) => data['n']));
  expect(pages).toEqual(wanted);
});

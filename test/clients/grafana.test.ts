/**
 * The requests of Grafana's plugin axiomhq-axiom-datasource 0.7, written from its published source, not recorded, with replies of the shapes that it decodes. The
 * queries are those of the board that `deploy/grafana/service` has, and of its log volume.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { serviceForClients } from './service.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy/grafana/service');
interface Target {
  readonly query: string;
  readonly apl: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}
const board = JSON.parse(readFileSync(join(folder, 'events.json'), 'utf8')) as {
  readonly panels: readonly { readonly title: string; readonly type: string; readonly targets: readonly Target[] }[];
};

const time = z.iso.datetime();
const FIELD = z.object({
  name: z.string(),
  type: z.string(),
  unit: z.string(),
  hidden: z.boolean(),
  description: z.string(),
});
const NAMED = z.object({ name: z.string() });
const COUNT = z.int();
/** What the plugin decodes of an answer, each key as its type wants it. */
const ANSWER = z.object({
  format: z.literal('tabular'),
  status: z.object({
    elapsedTime: COUNT,
    blocksExamined: COUNT,
    blocksCached: COUNT,
    blocksMatched: COUNT,
    rowsExamined: COUNT,
    rowsMatched: COUNT,
    numGroups: COUNT,
    isPartial: z.boolean(),
    cacheStatus: COUNT,
    minBlockTime: time,
    maxBlockTime: time,
    messages: z.array(z.object({ priority: z.string(), count: COUNT, code: z.string(), msg: z.string() })),
  }),
  tables: z.array(
    z.object({
      name: z.string(),
      sources: z.array(NAMED),
      fields: z.array(NAMED.extend({ type: z.string(), agg: z.object({ name: z.string() }).optional() })),
      columns: z.array(z.array(z.unknown())),
      order: z.array(z.object({ field: z.string(), desc: z.boolean() })),
      groups: z.array(NAMED),
      range: z.object({ field: z.string(), start: time, end: time }),
      buckets: z.object({ field: z.string(), size: COUNT }).optional(),
    }),
  ),
  datasetNames: z.array(z.string()),
  fieldsMetaMap: z.record(z.string(), z.array(FIELD)),
});

const client = serviceForClients();
const headers = { accept: 'application/json', 'user-agent': 'axiom-grafana/v0' };
const now = Date.now();
const range = { startTime: new Date(now - 3_600_000).toISOString(), endTime: new Date(now + 60_000).toISOString() };
const ask = async (apl: string) => {
  const {
    status,
    json,
    headers: given,
  } = await client.call('POST', '/v1/query/_apl?format=tabular', { headers, body: { apl, ...range } });
  expect(status, JSON.stringify(json)).toBe(200);
  expect(given.get('x-axiom-trace-id')).toMatch(/./);
  return ANSWER.parse(json);
};
const events = Array.from({ length: 30 }, (_, n) => ({
  _time: new Date(now - n * 60_000).toISOString(),
  level: n % 3 === 0 ? 'error' : 'info',
  message: `m${n % 5}`,
  n,
}));

beforeAll(async () => {
  await client.createDataset('app-logs');
  await client.ingest('app-logs', events);
});

test('the data source names the plugin, the service for both addresses, and a token', () => {
  const { datasources } = parse(readFileSync(join(folder, 'datasource.yaml'), 'utf8')) as { datasources: object[] };
  expect(datasources).toEqual([
    expect.objectContaining({
      type: 'axiomhq-axiom-datasource',
      jsonData: { apiHost: '$TAILRACE_URL', edgeURL: '$TAILRACE_URL' },
      secureJsonData: { accessToken: '$TAILRACE_TOKEN' },
    }),
  ]);
  const [source] = datasources as { type: string; uid: string }[];
  for (const { targets } of board.panels)
    for (const { datasource } of targets) expect(datasource).toEqual({ type: source!.type, uid: source!.uid });
});

test('health: an empty request without a content type is a 422, and an unknown token a 403', async () => {
  expect((await client.call('POST', '/v1/query/_apl', { headers })).status).toBe(422);
  expect((await client.call('POST', '/v1/query/_apl', { headers, token: 'xaat-none' })).status).toBe(403);
});

test('the editor has the fields of all datasets, and finds no dataset of metrics', async () => {
  const fields = await client.call('GET', '/v1/datasets/_fields', { headers });
  const listed = z.array(z.object({ datasetName: z.string(), fields: z.array(FIELD) })).parse(fields.json);
  expect(listed.map(({ datasetName }) => datasetName)).toEqual(['app-logs']);
  const datasets = z
    .array(z.object({ name: z.string(), kind: z.string() }))
    .parse((await client.call('GET', '/v2/datasets', { headers })).json);
  expect(datasets).toEqual([{ name: 'app-logs', kind: 'axiom:events:v1' }]);
});

describe('each panel of the board', () => {
  const targets = board.panels.flatMap(({ title, type, targets: all }) =>
    all.map((target) => [title, type, target] as const),
  );
  test.each(targets)('%s has rows', async (_title, type, { query, apl }) => {
    expect(apl).toBe(query);
    const { tables, status } = await ask(query.replaceAll('${dataset}', 'app-logs'));
    expect(status.rowsMatched).toBe(30);
    const [table] = tables;
    expect(table!.columns.length).toBe(table!.fields.length);
    expect(table!.columns[0]!.length).toBeGreaterThan(0);
    if (type === 'timeseries') {
      expect(table!.fields[0]).toEqual({ name: '_time', type: 'datetime' });
      expect(table!.buckets?.field).toBe('_time');
      expect(tables[1]?.name).toBe('_totals');
    }
    if (type === 'logs')
      expect(table!.fields.map(({ name }) => name)).toEqual(['_sysTime', '_time', 'level', 'message', 'n']);
  });
});

test.each(["['app-logs']", "['app-logs'] | project _time, message", "['app-logs'] | where level == 'error'"])(
  'log volume of %s',
  async (query) => {
    const { tables } = await ask(`(${query})
| extend _axiom_logs_volume_time = coalesce(_time, _sysTime)
| where isnotnull(_axiom_logs_volume_time)
| summarize count_ = count() by _time = bin(_axiom_logs_volume_time, 1m)
| order by _time asc`);
    const [table] = tables;
    expect(table!.fields.map(({ name }) => name)).toEqual(['_time', 'count_']);
    const counted = table!.columns[1]!.reduce<number>((sum, count) => sum + Number(count), 0);
    expect(counted).toBe(query.includes('error') ? 10 : 30);
  },
);

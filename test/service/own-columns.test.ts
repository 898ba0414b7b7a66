/** Fields with columns of their own answer as fields in the maps do, whatever their values and names, in new folders and in taken-over ones. */
import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, queryLimitsOf } from '../../src/service/limits.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import { silentLog } from '../../src/core/log.ts';
import { startService, type Service } from '../../src/service/run/service.ts';
import { clientOf, startForTest, type Client, type QueryAnswer } from './support.ts';

const NEVER = 1_000_000_000;
const RANGE = { startTime: '2025-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' };
const NAMES = [
  'plain',
  'with.dot',
  "it's",
  'say "x"',
  'back\\slash',
  'Zürich 日本',
  'a`b',
  '%s {p0:String}',
  '__proto__',
  'constructor',
];
const VALUES = [
  '',
  'text',
  'text',
  'Text',
  '0',
  'null',
  0,
  1,
  -1,
  2 ** 53 - 1,
  0.5,
  -0.25,
  1e6 + 0.5,
  true,
  false,
  null,
  [],
  [0, null],
  {},
  { in: 1 },
];

/** Events whose fields have each value, or none, in turns. */
const events = (count: number, from = 0): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, n) => {
    const entries = NAMES.flatMap((name, at) => {
      const value = VALUES[((n + from) * (at + 1) + at) % (VALUES.length + 1)];
      return value === undefined ? [] : [[name, value] as const];
    });
    return {
      _time: new Date(Date.UTC(2026, 0, 1) + (from + n) * 1000).toISOString(),
      n: n + from,
      ...Object.fromEntries(entries),
    };
  });

const f = (name: string): string => `['${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`;
const QUERIES = [
  'sort by n asc',
  'count',
  'where * contains "text" | project n',
  'where * contains "false" | project n',
  ...NAMES.flatMap((name) => [
    `project n, x = ${f(name)}, t = gettype(${f(name)}), s = tostring(${f(name)})`,
    `where ${f(name)} == "text" or ${f(name)} == 1 or ${f(name)} == false or ${f(name)} == 0.5 | project n`,
    `where ${f(name)} == "" or ${f(name)} == 0 | project n`,
    `where ${f(name)} != 0 and ${f(name)} != "text" | project n`,
    `where isnull(${f(name)}) or isempty(${f(name)}) | project n`,
    `where ${f(name)} < 1 or ${f(name)} >= "t" | project n`,
    `where ${f(name)} in ("text", 0, true) or ${f(name)} contains "EX" | project n`,
    `summarize count(), sum(${f(name)}), max(${f(name)}), dcount(${f(name)}), countif(${f(name)} == true) by tostring(${f(name)})`,
    `summarize arg_max(n, *) by x = ${f(name)}`,
    `take 50 | where n > 3 | extend y = ${f(name)} | project n, y | sort by n asc`,
  ]),
].map((text) => (text.includes('project n') ? `${text} | sort by n asc` : text));

/** The rows of a query, each as JSON, whatever the order of groups. */
async function rowsOf(client: Client, source: string, text: string): Promise<string[]> {
  const answer = await client.call('POST', '/v1/query/_apl?format=tabular&nocache=true', {
    body: { apl: `${source} | ${text}`, ...RANGE },
  });
  expect([text, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([text, 200, '']);
  const [table] = (answer.json as unknown as { tables: { fields: { name: string }[]; columns: unknown[][] }[] }).tables;
  const names = table!.fields.map(({ name }) => name);
  const rows = table!.columns[0]!.map((_, n) =>
    JSON.stringify(table!.columns.flatMap((column, at) => (names[at] === '_sysTime' ? [] : [[names[at], column[n]]]))),
  );
  return text.includes('sort by') ? rows : rows.sort();
}

async function fill(client: Client, name: string): Promise<void> {
  await client.createDataset(name);
  for (let from = 0; from < 200; from += 50) await client.ingest(name, events(50, from));
}

/** How many own columns each dataset's table has, once the service has let go of the folder. */
async function ownColumns(dataDir: string): Promise<number[]> {
  const engine = await openChdb(dataDir, { limits: queryLimitsOf(DEFAULT_LIMITS), sync: false });
  try {
    return [...(await engine.ownColumns()).values()].map((columns) => columns.length);
  } finally {
    await engine.close();
  }
}

const UNION = "union ['first'], ['second']";
const asked = [
  ...QUERIES.map((text) => ["['first']", text] as const),
  ...QUERIES.filter((_, n) => n % 3 === 0).map((text) => [UNION, text] as const),
];
const FIELDS = 'GET /v2/datasets/first/fields';

/** The answers of a service whose datasets get own columns after so many events. */
async function answers(ownColumnSample: number): Promise<{ found: Map<string, unknown>; columns: number[] }> {
  const { client, service, dataDir, stop } = await startForTest({ limits: { ownColumnSample } });
  try {
    await fill(client, 'first');
    await client.createDataset('second');
    await client.ingest('second', events(40, 500));
    const found = new Map<string, unknown>();
    for (const [source, text] of asked) found.set(`${source} | ${text}`, await rowsOf(client, source, text));
    found.set(FIELDS, (await client.call('GET', '/v2/datasets/first/fields', { token: client.personalToken })).json);
    const { matches } = await client.query('first', { ...RANGE, limit: 1000, order: [{ field: 'n' }] });
    found.set(
      'legacy',
      matches.map((match) => Object.entries(match.data).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    await service.close();
    return { found, columns: await ownColumns(dataDir) };
  } finally {
    await stop();
  }
}

describe('a field with a column of its own', () => {
  let maps: Awaited<ReturnType<typeof answers>>;
  let own: Awaited<ReturnType<typeof answers>>;
  beforeAll(async () => {
    maps = await answers(NEVER);
    own = await answers(50);
  }, 300_000);

  test('is there for what the large dataset often has, and for nothing of the small one', () => {
    expect(maps.columns).toEqual([]);
    expect(own.columns).toHaveLength(1);
    expect(own.columns[0]).toBeGreaterThan(NAMES.length * 2);
  });

  test.each([...asked.map(([source, text]) => `${source} | ${text}`), FIELDS, 'legacy'])(
    'answers as one in the maps: %s',
    (text) => {
      expect(own.found.get(text)).toEqual(maps.found.get(text));
      expect(JSON.stringify(own.found.get(text)).length).toBeGreaterThan(1);
    },
  );
});

test('more common fields than columns: the rest stays in the maps, and all are found', async () => {
  const { client, service, dataDir, stop } = await startForTest({ limits: { ownColumnSample: 10 } });
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`field ${n}`, n % 2 ? n : `${n}`]));
  await client.createDataset('wide');
  for (let n = 0; n < 4; n++)
    await client.ingest(
      'wide',
      Array.from({ length: 10 }, () => ({ _time: '2026-01-01T00:00:00Z', ...wide })),
    );
  const { matches } = await client.query('wide', { ...RANGE, limit: 100 });
  expect(matches).toHaveLength(40);
  for (const { data } of matches) expect(data).toEqual(wide);
  expect(await rowsOf(client, "['wide']", 'where ["field 999"] == 999 and ["field 0"] == "0" | count')).toEqual([
    '[["count",40]]',
  ]);
  await service.close();
  expect(await ownColumns(dataDir)).toEqual([64]);
  await stop();
});

test('an existing folder is taken over: what it has is read from its maps, and again after a restart', async () => {
  const { client, service, dataDir, stop } = await startForTest({ limits: { ownColumnSample: NEVER } });
  await fill(client, 'first');
  const read = (from: Client): Promise<QueryAnswer> =>
    from.query('first', { ...RANGE, limit: 1000, order: [{ field: 'n' }] });
  const dataOf = ({ matches }: QueryAnswer) => matches.map(({ data }) => data);
  const old = dataOf(await read(client));
  await service.close();
  expect(await ownColumns(dataDir)).toEqual([]);

  const start = async (): Promise<[Service, Client]> => {
    const started = await startService({
      listen: { host: '127.0.0.1', port: 0 },
      dataDir,
      log: silentLog,
      env: {},
      limits: { ownColumnSample: 50 },
    });
    const { apiToken, personalToken, orgId } = client;
    return [started, clientOf(started.address, { apiToken, personalToken, orgId })];
  };
  const [second, again] = await start();
  await again.ingest('first', events(50, 200));
  await again.ingest('first', events(50, 250));
  expect(dataOf(await read(again)).slice(0, 200)).toEqual(old);
  expect(await rowsOf(again, "['first']", 'where plain == "text" | project n')).toHaveLength(
    old.filter((data) => data['plain'] === 'text').length +
      events(100, 200).filter((event) => event['plain'] === 'text').length,
  );
  await second.close();
  expect((await ownColumns(dataDir))[0]).toBeGreaterThan(NAMES.length);
  const [third, last] = await start();
  const data = dataOf(await read(last));
  expect(data).toHaveLength(300);
  expect(data.slice(0, 200)).toEqual(old);
  await third.close();
  await stop();
});

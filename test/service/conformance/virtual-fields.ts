/** Virtual fields, stored and in queries; and the names of map fields. */
import { beforeAll, describe, expect } from 'vitest';
import { APL, ALWAYS, apl, refused, rows, values } from './ask.ts';
import { asOwner, client, dataset, test } from './under.ts';

const PATH = '/v2/vfields';
const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;

interface Field {
  readonly id: string;
  readonly name: string;
}

async function make(name: string, field: string, expression: string, more: object = {}): Promise<Field> {
  const { status, json, text } = await client.call('POST', PATH, {
    body: { dataset: name, name: field, expression, ...more },
  });
  if (status !== 200) throw new Error(`${field} = ${expression} answered ${status}: ${text}`);
  return json as unknown as Field;
}

/** An API token with these capabilities on datasets. */
async function tokenOf(datasetCapabilities: object): Promise<string> {
  const body = { name: 'virtual', datasetCapabilities };
  return (await client.call('POST', '/v2/tokens', { ...asOwner(), body })).json['token'] as string;
}

describe('virtual fields', () => {
  test('are made, listed by dataset, changed and removed, under both prefixes', async ({ made: name }) => {
    const wanted = {
      dataset: name,
      name: 'kind',
      expression: 'iff(status >= 500, "bad", "good")',
      description: 'of answers',
      type: 'string',
      unit: '',
    };
    const made = await client.call('POST', PATH, { body: wanted });
    expect([made.status, made.json]).toEqual([200, { ...wanted, id: expect.any(String) }]);
    const one = `/${made.json['id'] as string}`;
    for (const path of [PATH, '/v1/vfields']) {
      expect((await client.call('GET', `${path}?dataset=${name}`)).json).toEqual([made.json]);
      expect((await client.call('GET', path)).json).toContainEqual(made.json);
      expect((await client.call('GET', path + one)).json).toEqual(made.json);
    }
    // As a client sends back what it read.
    const changed = await client.call('PUT', PATH + one, {
      body: { ...made.json, expression: 'status >= 500', type: 'boolean' },
    });
    expect(changed.json).toEqual({ ...made.json, expression: 'status >= 500', type: 'boolean' });
    expect((await client.call('GET', PATH + one)).json).toEqual(changed.json);
    expect((await client.call('DELETE', PATH + one)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await client.call(method, PATH + one)).status).toBe(404);
  });

  test('end with their dataset, and are not those of the next one of its name', async ({ made: name }) => {
    const { id } = await make(name, 'v', '1');
    await client.call('DELETE', `/v1/datasets/${name}`, asOwner());
    expect((await client.call('GET', `${PATH}/${id}`)).status).toBe(404);
    await client.createDataset(name);
    expect((await client.call('GET', `${PATH}?dataset=${name}`)).json).toEqual([]);
  });

  test('are shown to who may see the dataset, and changed by who may change datasets or has the right', async () => {
    const [name, other] = [await dataset(), await dataset()];
    const field = await make(name, 'v', 'a + 1');
    const one = `${PATH}/${field.id}`;
    const [reader, blind, keeper] = [
      await tokenOf({ [name]: { query: ['read'] } }),
      await tokenOf({ [other]: { query: ['read'] } }),
      await tokenOf({ [name]: { query: ['read'], virtualFields: ['create', 'update', 'delete'] } }),
    ];
    const status = async (token: string, method: string, path: string, body?: object): Promise<number> =>
      (await client.call(method, path, { token, ...(body && { body }) })).status;
    expect([await status(reader, 'GET', one), await status(reader, 'GET', `${PATH}?dataset=${name}`)]).toEqual([
      200, 200,
    ]);
    expect([await status(blind, 'GET', one), await status(blind, 'GET', `${PATH}?dataset=${name}`)]).toEqual([
      404, 403,
    ]);
    expect((await client.call('GET', PATH, { token: blind })).json).toEqual([]);
    const changes = [
      ['POST', PATH, { dataset: name, name: 'w', expression: '1' }],
      ['PUT', one, { ...field, dataset: name, expression: '2' }],
      ['DELETE', one, undefined],
    ] as const;
    for (const [method, path, body] of changes) expect(await status(reader, method, path, body), method).toBe(403);
    for (const [method, path, body] of changes)
      expect(await status(keeper, method, path, body), method).toBe(method === 'DELETE' ? 204 : 200);
    expect(await status(keeper, 'POST', PATH, { dataset: other, name: 'w', expression: '1' })).toBe(403);
  });

  test.each([
    [{ expression: '' }, 400, /expression/],
    [{ name: '' }, 400, /name/],
    [{ name: '_time' }, 400, /from the service/],
    [{ colour: 'red' }, 400, /unknown key "colour"/],
    [{ dataset: 'nowhere-at-all' }, 404, /not found/],
    [{ expression: 'strlen(' }, 400, /virtual field "v": the query ends here.*line 1, column 8/],
    [{ expression: '1 +\n nosuch(a)' }, 400, /virtual field "v": unknown function "nosuch".*line 2, column 2/],
    [{ expression: 'a + 1 | count' }, 400, /wanted the end of the expression/],
    [{ expression: 'strlen(5)' }, 400, /strlen wants a string/],
    [{ expression: 'sum(a)' }, 400, /the aggregation sum can only stand in summarize/],
    [{ expression: 'row_number()' }, 400, /row_number looks at other rows/],
    [{ expression: 'prev(a) + 1' }, 400, /prev looks at other rows/],
    [{ expression: 'toscalar(other | count)' }, 400, /toscalar of a query works in queries only/],
    [{ expression: "a in (['other'] | project a)" }, 400, /virtual field "v"/],
    [{ expression: 'format_timespan(1s, "xyz")' }, 400, /virtual field "v": wanted a format.*line 1, column 21/],
    [{ expression: 'redact(a)' }, 400, /works in transforms only/],
    [{ expression: 'v + 1' }, 400, /"v" would stand for itself/],
    [{ expression: 'column_ifexists("v", 1)' }, 400, /"v" would stand for itself/],
  ])('%j is refused', async (given, status, message) => {
    const name = await dataset();
    const body = { dataset: name, name: 'v', expression: 'a', ...given };
    expect((await client.call('POST', PATH, { body })).json).toMatchObject({
      code: status,
      message: expect.stringMatching(message),
    });
  });

  test('say where in the expression it is', async () => {
    const { json } = await client.call('POST', PATH, {
      body: { dataset: await dataset(), name: 'v', expression: 'a +\n  nosuch(1)' },
    });
    expect(json['detail']).toEqual({ message: 'unknown function "nosuch"', line: 2, column: 3, errorType: 2 });
  });

  test('may use each other, but not in circles, and a name is given once', async ({ made: name }) => {
    const first = await make(name, 'a1', 'n + 1');
    const second = await make(name, 'a2', 'a1 * 2');
    const put = (field: Field, body: object) =>
      client.call('PUT', `${PATH}/${field.id}`, { body: { ...field, dataset: name, ...body } });
    expect((await put(first, { expression: 'a2 + 1' })).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('would stand for itself'),
    });
    // What others make of it counts, too.
    expect((await put(first, { expression: '"x"' })).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('virtual field "a2": * does not go with'),
    });
    expect((await put(second, { name: 'a1' })).json).toMatchObject({ code: 409 });
    expect((await client.call('POST', PATH, { body: { dataset: name, name: 'a1', expression: '1' } })).status).toBe(
      409,
    );
    expect((await put(second, { dataset: await dataset() })).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('is of dataset'),
    });
  });
});

describe('virtual fields in queries', () => {
  let left: string;
  let right: string;
  const named = (text: string): string => text.replaceAll(/\bL\b/g, `['${left}']`).replaceAll(/\bR\b/g, `['${right}']`);

  beforeAll(async () => {
    [left, right] = ['virtual-left', 'virtual-right'];
    for (const name of [left, right]) await client.createDataset(name);
    await client.ingest(left, [
      { _time: at(1), k: 'a', n: 1, path: '/x?id=7' },
      { _time: at(2), k: 'b', n: 2, path: '/y', seen: '2026-01-01T10:30:00Z' },
      { _time: at(3), k: 'b', n: 3, m: { 'a.b': 5 } },
    ]);
    await client.ingest(right, [{ _time: at(4), k: 'a', double: 'stored' }]);
    await make(left, 'double', 'n * 2');
    await make(left, 'big', 'double > 3');
    await make(left, 'id', 'toint(extract("id=([0-9]+)", 1, path))');
    await make(left, 'at', 'todatetime(seen)');
    await make(left, 'k', 'toupper(k1)');
    await make(left, 'k1', 'strcat("_", s.t, n)');
    await make(left, 'geo.city', 'pack("name", path)');
    await make(right, 'only', '1');
  });

  test.each([
    ['L | where double == 4 | project n', [[2]]],
    [
      'L | where big | project n, big, double | sort by n asc',
      [
        [2, true, 4],
        [3, true, 6],
      ],
    ],
    ['L | project double | sort by double desc | take 1', [[6]]],
    [
      'L | summarize sum(double), count() by big | sort by big asc',
      [
        [false, 2, 1],
        [true, 10, 2],
      ],
    ],
    ['L | extend more = double + id | where isnotnull(more) | project more', [[9]]],
    ['L | where isnotnull(at) | summarize count() by bin(at, 1h)', [['2026-01-01T10:00:00Z', 1]]],
    ['L | where isnotnull(at) | project datetime_part("minute", at)', [[30]]],
    ['L | top 1 by double | project n', [[3]]],
    ['L | distinct big | count', [[2]]],
    [
      'L | make-series sum(double) on _time from datetime(2026-01-01T00:00:01) to datetime(2026-01-01T00:00:04) step 1s | project sum_double',
      [[[2, 4, 6]]],
    ],
    ['L | project-keep doub*, n | sort by n asc | take 1', [[1, 2]]],
    ['L | project-rename twice = double | where twice == 2 | project twice', [[2]]],
    ['L | sort by double asc | project-reorder double, n | project-keep double | take 1', [[2]]],
    ['L | extend double = double + 1 | project double | sort by double asc | take 1', [[3]]],
    ['L | project c = column_ifexists("double", 0) | sort by c asc | take 1', [[2]]],
    ["L | sort by n asc | take 1 | project a = ['geo.city'].name, b = geo.city.name", [['/x?id=7', '/x?id=7']]],
    // A virtual field may be called like one that is stored, and be made of another.
    ['L | sort by n asc | project k | take 1', [['_1']]],
    ['L | getschema | where ColumnName == "double" | count', [[0]]],
    ['L | extend x = double | getschema | where ColumnName == "double" | project DataType', [['long']]],
    ['L | search "x" and double == 2 | project n', [[1]]],
    ['L | join kind=inner (R | project letter = k, double) on $left.double == $right.double | count', [[0]]],
    ['R | project double', [['stored']]],
    ['L | where n == 1 | union (R) | project double | sort by double asc', [[2], ['stored']]],
    ['L, R | where isnotnull(double) | count', [[4]]],
    ["['virtual-*'] | where only == 1 or double == 6 | project _time", [[at(4)], [at(3)]]],
    ['R | where k in ((L | where double == 2 | project "a")) | count', [[1]]],
    ['print toscalar(L | summarize max(double))', [[6]]],
    ['let t = L | where big; t | count', [[2]]],
    ['let f = (x:long) { L | where double > x }; f(2) | count', [[2]]],
    // What a query itself calls so goes before.
    ['let double = 3; L | where n < double | count', [[2]]],
    ['L | where id in (7) and double in (2, 4) | count', [[1]]],
    ['L | parse path with "/" double:string "?" * | where double == "x" | project n', [[1]]],
    ['L | lookup (R | project k = "_1", r = 1) on k | where r == 1 | project n', [[1]]],
  ])('%s', async (text, wanted) => {
    expect(await rows(named(text))).toEqual(wanted);
  });

  test('give way to variables of the request', async () => {
    expect(await rows(named('L | where n > double | count'), { variables: { double: 1 } })).toEqual([[2]]);
  });

  test('are no columns of queries that do not name them', async () => {
    const fields = async (text: string) => (await apl(named(text))).tables[0]!.fields.map(({ name }) => name);
    expect(await fields('L | where n == 1')).toEqual(['_sysTime', '_time', 'k', 'm.a.b', 'n', 'path', 'seen']);
    expect(await fields('L | where double == 2')).toEqual([
      '_sysTime',
      '_time',
      'k',
      'm.a.b',
      'n',
      'path',
      'seen',
      'double',
    ]);
  });

  test('are paged by cursor like fields', async () => {
    const page = (cursor: string) => apl(named('L | where double > 2 | sort by _time asc | limit 1'), { cursor });
    const first = await page('');
    const second = await page(first.status['maxCursor'] as string);
    const nOf = ({ tables: [table] }: typeof first) =>
      table!.columns[table!.fields.findIndex(({ name }) => name === 'n')];
    expect([nOf(first), nOf(second), first.status['rowsMatched']]).toEqual([[2], [3], 2]);
  });

  test('work in the structured form', async () => {
    const ask = async (body: object) =>
      (await client.call('POST', `/v1/datasets/${left}/query`, { body: { ...ALWAYS, ...body } })).json;
    const matches = async (body: object) =>
      ((await ask(body))['matches'] as { data: Record<string, unknown> }[]).map(({ data }) => data['n']);
    expect(await matches({ filter: { op: 'and', children: [{ op: '==', field: 'double', value: 4 }] } })).toEqual([2]);
    expect(await matches({ order: [{ field: 'double', desc: true }], limit: 1 })).toEqual([3]);
    expect(
      await matches({
        virtualFields: [{ alias: 'triple', expr: 'double + n' }],
        filter: { op: '==', field: 'triple', value: 9 },
      }),
    ).toEqual([3]);
    const { buckets } = (await ask({
      aggregations: [{ op: 'sum', field: 'double' }],
      groupBy: ['big'],
    })) as unknown as { buckets: { totals: { group: object; aggregations: { value: number }[] }[] } };
    expect(buckets.totals.map(({ group, aggregations }) => [group, aggregations[0]!.value])).toEqual([
      [{ big: true }, 10],
      [{ big: false }, 2],
    ]);
  });

  test('never show a dataset to a token that may not read it', async () => {
    const token = await tokenOf({ [right]: { query: ['read'] } });
    const ask = (text: string) => client.call('POST', APL, { token, body: { apl: named(text), ...ALWAYS } });
    for (const text of [
      'L | where double == 2',
      'R | join (L | project double) on double',
      'R | where double in ((L | project double))',
      'print toscalar(L | summarize max(double))',
      'union R, (L | where big)',
      'R | lookup (L | project double, n) on double',
      'let t = L | where big; R | count',
      'search in (L) "x" and double == 2',
    ])
      expect((await ask(text)).status, text).toBe(403);
    // Of a pattern only what it may read counts, virtual fields too.
    const [table] = (await ask("['virtual-*'] | where double == 2 or only == 1 | project only, double")).json[
      'tables'
    ] as [{ columns: unknown[][] }];
    expect(table.columns).toEqual([[1], ['stored']]);
  });

  test('are named where running one fails', async ({ made: name }) => {
    await client.ingest(name, [{ a: 'x', pattern: '(' }]);
    await make(name, 'wrong', 'a matches regex "("');
    const { status, body } = await refused(`['${name}'] | where wrong`);
    expect([status, body['message']]).toEqual([400, expect.stringContaining('"wrong"')]);
    // Other queries go on.
    expect(await rows(`['${name}'] | count`)).toEqual([[1]]);
  });
});

describe('map fields', () => {
  test("are listed, added, replaced and removed, and are in the dataset's description", async ({ made: name }) => {
    const path = `/v2/datasets/${name}/mapfields`;
    const list = async () => (await client.call('GET', path)).json;
    expect(await list()).toEqual([]);
    expect((await client.call('POST', path, { body: { name: 'attributes.custom' } })).json).toEqual({
      name: 'attributes.custom',
    });
    expect((await client.call('POST', path, { body: { name: 'attributes.custom' } })).status).toBe(409);
    expect(await list()).toEqual(['attributes.custom']);
    expect((await client.call('PUT', path, { body: ['b', 'a'] })).json).toEqual(['b', 'a']);
    expect((await client.call('GET', `/v1/datasets/${name}/mapfields`)).json).toEqual(['b', 'a']);
    expect((await client.call('GET', `/v2/datasets/${name}`)).json['mapFields']).toEqual(['b', 'a']);
    expect((await client.call('DELETE', `${path}/b`)).status).toBe(204);
    expect((await client.call('DELETE', `${path}/b`)).status).toBe(404);
    expect(await list()).toEqual(['a']);
    for (const body of [{}, { name: '' }, { name: 'x', more: 1 }, { name: '__invalid__' }, { name: 'a b' }])
      expect((await client.call('POST', path, { body })).status).toBe(400);
    for (const body of [
      ['a', 5],
      ['b', 'b'],
      ['b', '__invalid__'],
      ['b', ''],
    ])
      expect((await client.call('PUT', path, { body })).status).toBe(400);
    expect(await list()).toEqual(['a']);
    expect((await client.call('GET', '/v2/datasets/nowhere-at-all/mapfields')).status).toBe(404);
    const token = await tokenOf({ [name]: { query: ['read'] } });
    expect((await client.call('GET', path, { token })).status).toBe(200);
    expect((await client.call('PUT', path, { token, body: [] })).status).toBe(403);
  });

  test('are read inside like any nested field', async ({ made: name }) => {
    await client.ingest(name, [{ m: { a: { b: 1 }, 'c.d': 'x' }, 'n.o': { p: true } }]);
    await client.call('PUT', `/v2/datasets/${name}/mapfields`, { body: ['m', 'n.o'] });
    const forms = [
      'm.a.b',
      "['m.a.b']",
      "m['a.b']",
      "['m']['a']['b']",
      "m.a['b']",
      "m['c.d']",
      "['n.o'].p",
      "['n.o']['p']",
    ];
    expect(await values(name, forms)).toEqual([1, 1, 1, 1, 1, 'x', true, true]);
    expect(await rows(`['${name}'] | where m['c.d'] == "x" and ['n.o']['p'] | count`)).toEqual([[1]]);
  });
});

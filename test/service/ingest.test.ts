/** Ingest over HTTP: formats, encodings, times, limits, per-event failures, keys. */
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startForTest, totalsOf, type Answer, type CallOptions, type Client } from './support.ts';

let client: Client;
let stop: () => Promise<void>;
let made = 0;

beforeAll(async () => {
  ({ client, stop } = await startForTest());
});
afterAll(() => stop());

async function dataset(): Promise<string> {
  const name = `ingest-${made++}`;
  await client.createDataset(name);
  return name;
}

/** Sends a body to a new dataset, and reads back what is stored, oldest row first. */
async function store(type: string, body: string | Buffer, options: CallOptions & { query?: string } = {}) {
  const name = await dataset();
  const path = `/v1/ingest/${name}${options.query ? `?${options.query}` : ''}`;
  const answer = await client.call('POST', path, { ...options, headers: { 'content-type': type, ...options.headers }, body });
  const stored = await client.query(name, {
    order: [{ field: '_rowId' }],
    startTime: '1900-01-01T00:00:00Z',
    endTime: '2262-04-11T00:00:00Z',
  });
  return {
    name,
    answer,
    reply: answer.json,
    data: stored.matches.map((match) => match.data),
    times: stored.matches.map((match) => match._time),
    stored,
  };
}

const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';

describe('the reply', () => {
  test('has all six keys and counts the decompressed bytes and the labels', async () => {
    const body = '{"a":1}\n{"a":2}\n';
    const { reply } = await store(NDJSON, zlib.gzipSync(body), {
      headers: { 'content-encoding': 'gzip', 'x-service-event-labels': '{"l":"é"}' },
    });
    expect(reply).toEqual({ ingested: 2, failed: 0, failures: [], processedBytes: body.length + 9, blocksCreated: 1, walLength: 0 });
  });

  test('lists every failure with its place, and stores the rest', async () => {
    const { reply, data } = await store(NDJSON, '{"a":1}\n{broken\n\n   {"a":3}\n{"_time":"never"}\n');
    expect(reply).toMatchObject({ ingested: 2, failed: 2 });
    expect(reply['failures']).toEqual([
      { index: 1, error: expect.stringContaining('JSON'), timestamp: expect.stringMatching(/Z$/) },
      { index: 3, error: 'cannot read "never" as a timestamp', timestamp: expect.any(String) },
    ]);
    expect(data).toEqual([{ a: 1 }, { a: 3 }]);
  });

  test('is 200 with nothing stored when every event fails', async () => {
    const { reply, stored } = await store(NDJSON, '{\n[\n');
    expect(reply).toMatchObject({ ingested: 0, failed: 2, blocksCreated: 0 });
    expect(stored.fieldsMeta).toHaveLength(2);
  });
});

describe('NDJSON', () => {
  test.each([NDJSON, 'application/nd-json', 'application/x-ndjson; charset=utf-8', 'Application/X-NDJSON'])(
    'is taken as %s',
    async (type) => {
      expect((await store(type, '{"a":1}')).reply['ingested']).toBe(1);
    },
  );

  test('a line that is no object is stored under value', async () => {
    const { data } = await store(NDJSON, '1\n"x"\n[1,"y"]\nnull\ntrue\r\n');
    expect(data).toEqual([{ value: 1 }, { value: 'x' }, { value: [1, 'y'] }, { value: null }, { value: true }]);
  });

  test('two values on one line are one broken line', async () => {
    expect((await store(NDJSON, '{"a":1},{"b":2}\n{"a":1\n,"b":2}')).reply).toMatchObject({ ingested: 0, failed: 3 });
  });

  test('a byte order mark and invalid UTF-8 do no harm', async () => {
    const { data } = await store(NDJSON, Buffer.concat([Buffer.from('\u{feff}{"a":"'), Buffer.from([0xff, 0x61]), Buffer.from('"}')]));
    expect(data).toEqual([{ a: '\u{fffd}a' }]);
  });
});

describe('JSON', () => {
  test.each([
    ['an array', '[{"a":1},{"a":2}]'],
    ['an array in lines', '[\n {"a":1},\n {"a":2}\n]\n'],
    ['objects in lines', '{"a":1}\n{"a":2}\n'],
  ])('%s gives its events', async (_name, body) => {
    expect((await store(JSON_TYPE, body)).data).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('one object is one event', async () => {
    expect((await store(JSON_TYPE, '{\n"a": 1\n}')).data).toEqual([{ a: 1 }]);
  });

  test('an element that is no object fails alone', async () => {
    const { reply, data } = await store(JSON_TYPE, '[{"a":1},2,[3],null]');
    expect(reply).toMatchObject({ ingested: 1, failed: 3 });
    expect(data).toEqual([{ a: 1 }]);
  });

  test('an envelope gives its data, time and labels', async () => {
    const { data, times } = await store(
      JSON_TYPE,
      JSON.stringify([
        { time: '2026-01-01T00:00:00Z', data: { a: 1, l: 'data' }, labels: { l: 'label', m: 'x' } },
        { data: { a: 2 }, other: 1 },
        { time: '2026-01-02T00:00:00Z', data: 'text' },
      ]),
    );
    expect(data).toEqual([
      { a: 1, l: 'data', m: 'x' },
      { 'data.a': 2, other: 1 },
      { data: 'text', time: '2026-01-02T00:00:00Z' },
    ]);
    expect(times[0]).toBe('2026-01-01T00:00:00Z');
  });

  test.each(['', '{"a":1', '[{"a":1}', 'text', '5', '{"a":}\n{"b":1}', '{"a":1}]'])('the body %j is 400', async (body) => {
    const { answer } = await store(JSON_TYPE, body);
    expect(answer.json).toEqual({ code: 400, message: expect.stringMatching(/JSON/) });
  });
});

describe('CSV', () => {
  test('values are typed, quoted ones are strings, empty ones absent', async () => {
    const { data } = await store(
      'text/csv',
      'i, f,b,s,q,z,e\r\n1,1.5,true,text,"7",007,\r\n-9223372036854775808,1e3,false,"a ""b"", c\nd","",12345678901234567890,x\r\n',
    );
    expect(data).toEqual([
      { i: 1, f: 1.5, b: true, s: 'text', q: '7', z: '007' },
      { i: -9223372036854775808, f: 1000, b: false, s: 'a "b", c\nd', q: '', z: '12345678901234567890', e: 'x' },
    ]);
  });

  test('a row with the wrong number of values fails alone', async () => {
    const { reply, data } = await store('text/csv', 'a,b\n1,2\n3\n4,5,6\n7,8\n');
    expect(reply).toMatchObject({ ingested: 2, failed: 2, failures: [{ index: 1 }, { index: 2 }] });
    expect(data).toEqual([
      { a: 1, b: 2 },
      { a: 7, b: 8 },
    ]);
  });

  test('a delimiter and column names may be given', async () => {
    const { data } = await store('text/csv', '1;2\n', { query: 'csv-delimiter=%3B', headers: { 'x-service-csv-fields': 'a, b' } });
    expect(data).toEqual([{ a: 1, b: 2 }]);
    expect((await store('text/csv', 'true,1e3\n1,2\n', { headers: { 'x-service-csv-fields': '' } })).data).toEqual([{ true: 1, '1e3': 2 }]);
  });

  test('the _time column is the time', async () => {
    expect((await store('text/csv', '_time,a\n1767225600,1\n')).times).toEqual(['2026-01-01T00:00:00Z']);
  });

  test.each([
    ['a quote that does not close', 'a,b\n1,"2\n', ''],
    ['a column named twice', 'a,a\n1,2\n', ''],
    ['a bad delimiter', 'a\n1\n', 'csv-delimiter=%22'],
  ])('%s is 400 or a failure of that row, never stored', async (_name, body, query) => {
    const { answer, data } = await store('text/csv', body, { query });
    expect(answer.status === 400 || answer.json['failed'] === 1).toBe(true);
    expect(data).toEqual([]);
  });
});

describe('encodings', () => {
  const body = '{"a":1}\n';
  test.each([
    ['gzip', zlib.gzipSync(body)],
    ['zstd', zlib.zstdCompressSync(body)],
    ['deflate', zlib.deflateSync(body)],
    ['br', zlib.brotliCompressSync(body)],
    ['identity', Buffer.from(body)],
    ['1', Buffer.from(body)],
    ['', Buffer.from(body)],
    ['GZIP', Buffer.concat([zlib.gzipSync('{"a":'), zlib.gzipSync('1}')])],
  ])('%j is read', async (encoding, bytes) => {
    expect((await store(NDJSON, bytes, { headers: { 'content-encoding': encoding } })).data).toEqual([{ a: 1 }]);
  });

  test.each([
    ['gzip that is not gzip', 'gzip', Buffer.from(body), 400],
    ['gzip cut off', 'gzip', zlib.gzipSync(body).subarray(0, -6), 400],
    ['zstd cut off', 'zstd', zlib.zstdCompressSync('x'.repeat(1000) + body).subarray(0, -4), 400],
    ['empty gzip', 'gzip', Buffer.alloc(0), 400],
    ['an unknown encoding', 'lzma', Buffer.from(body), 415],
    ['two encodings', 'gzip, gzip', zlib.gzipSync(zlib.gzipSync(body)), 415],
    ['a bomb', 'gzip', zlib.gzipSync(Buffer.alloc(200 * 1024 * 1024)), 413],
    ['a zstd bomb', 'zstd', zlib.zstdCompressSync(Buffer.alloc(200 * 1024 * 1024)), 413],
  ])('%s is refused', async (_name, encoding, bytes, status) => {
    const { answer, data } = await store(NDJSON, bytes, { headers: { 'content-encoding': encoding } });
    expect(answer.json).toEqual({ code: status, message: expect.any(String) });
    expect(data).toEqual([]);
  });
});

describe('limits', () => {
  test('a body over 10 MiB is 413, one of exactly that is taken', async () => {
    const limit = 10 * 1024 * 1024;
    const line = `{"a":"${'x'.repeat(1000)}"}\n`;
    const whole = line.repeat(Math.floor(limit / line.length)).padEnd(limit, ' ');
    expect((await store(NDJSON, whole)).answer.status).toBe(413); // over 10,000 events, not over the bytes
    const spaces = `{"a":1}${' '.repeat(limit - 7)}`;
    expect((await store(NDJSON, spaces)).reply['ingested']).toBe(1);
    expect((await store(NDJSON, `${spaces} `)).answer.json).toMatchObject({ code: 413, message: expect.stringContaining('bytes') });
  });

  test('10,000 events are taken, one more is 413 and nothing is stored', async () => {
    const { reply } = await store(NDJSON, '{"a":1}\n'.repeat(10_000));
    expect(reply['ingested']).toBe(10_000);
    for (const [type, body] of [
      [NDJSON, '{"a":1}\n'.repeat(10_001)],
      [JSON_TYPE, `[${'{},'.repeat(10_000)}{}]`],
      ['text/csv', `a\n${'1\n'.repeat(10_001)}`],
    ] as const) {
      const { answer, data } = await store(type, body);
      expect(answer.status).toBe(413);
      expect(data).toEqual([]);
    }
    expect((await store('text/csv', `a\n${'1\n'.repeat(10_000)}`)).reply['ingested']).toBe(10_000);
  });

  test('a string of 1 MiB is taken, a byte more fails alone', async () => {
    const mib = 1024 * 1024;
    const { reply } = await store(NDJSON, [`{"s":"${'é'.repeat(mib / 2)}"}`, `{"s":"${'é'.repeat(mib / 2)}x"}`, '{"s":""}'].join('\n'));
    expect(reply).toMatchObject({ ingested: 2, failed: 1, failures: [{ index: 1, error: expect.stringContaining('1048576') }] });
  });

  test('a flattened name of 200 bytes is taken, a longer one fails alone', async () => {
    const { reply } = await store(NDJSON, `{"${'k'.repeat(200)}":1}\n{"${'k'.repeat(199)}":{"k":1}}\n{"${'é'.repeat(101)}":1}`);
    expect(reply).toMatchObject({ ingested: 1, failed: 2 });
  });

  test('field 1,025 of a dataset fails its event with the known sentence', async () => {
    const event = Object.fromEntries(Array.from({ length: 1024 }, (_, n) => [`f${n}`, n]));
    const { reply, name } = await store(NDJSON, `${JSON.stringify(event)}\n{"x":1}\n{"f0":2}`);
    const error = "adding 'x' to dataset fields would exceed the column limit of 1024";
    expect(reply).toMatchObject({ ingested: 2, failed: 1, failures: [{ index: 1, error }] });
    const later = await client.ingest(name, [{ y: 1 }, { f1: 1 }]);
    expect(later.json).toMatchObject({ ingested: 1, failed: 1 });
  });

  test('nesting of 100 is taken, deeper fails alone', async () => {
    const deep = (levels: number, open: string, close: string) => open.repeat(levels) + '1' + close.repeat(levels);
    const { reply } = await store(
      NDJSON,
      [
        deep(99, '{"a":', '}'),
        deep(101, '{"a":', '}'),
        `{"a":${deep(98, '[', ']')}}`,
        `{"a":${deep(200, '[', ']')}}`,
        deep(100_000, '[', ']'),
      ].join('\n'),
    );
    expect(reply).toMatchObject({ ingested: 2, failed: 3, failures: [{ index: 1 }, { index: 3 }, { index: 4 }] });
  });
});

describe('values', () => {
  test('objects flatten, arrays, null and {} stay, types may differ between events', async () => {
    const { data, stored } = await store(NDJSON, '{"geo":{"city":"A","at":[1,{"x":null}]},"n":null,"e":{}}\n{"geo.city":5,"n":true}');
    expect(data).toEqual([
      { 'geo.city': 'A', 'geo.at': [1, { x: null }], n: null, e: {} },
      { 'geo.city': 5, n: true },
    ]);
    expect(stored.fieldsMeta.map(({ name, type }) => `${name}:${type}`)).toEqual([
      '_sysTime:datetime', '_time:datetime', 'e:object', 'geo.at:array', 'geo.city:integer|string', 'n:boolean',
    ]); // prettier-ignore
  });

  test('integers beyond 2^53 stay exact, in arrays too', async () => {
    const body = '{"a":9007199254740993,"b":[-9223372036854775808],"c":18446744073709551615,"d":1e400,"e":1e300,"f":-0.5}';
    const { stored, name } = await store(NDJSON, body);
    for (const text of [
      '"a":9007199254740993',
      '[-9223372036854775808]',
      '"c":18446744073709551615',
      '"d":1e400',
      '"e":1e+300',
      '"f":-0.5',
    ])
      expect(stored.text).toContain(text);
    expect(stored.fieldsMeta.find((field) => field.name === 'c')?.type).toBe('float');
    const sum = await client.query(name, {
      aggregations: [
        { op: 'sum', field: 'c' },
        { op: 'distinct', field: 'c' },
      ],
    });
    expect(totalsOf(sum)).toEqual({ SUM: 18446744073709552000, DISTINCT: 1 });
    const inArray = await store(JSON_TYPE, `[{"x":1},${body}]`);
    expect(inArray.stored.text).toContain('"a":9007199254740993');
  });

  test('keys with escapes are not taken for others read before (a fault of JSON.parse)', async () => {
    const { data } = await store(NDJSON, '{"\\\\":1}\n{"\\"":2}\n{"\\\\":1,"\\"":2}\n{"l":[{"\\\\":1},{"\\"":2}]}');
    expect(data).toEqual([{ '\\': 1 }, { '"': 2 }, { '\\': 1, '"': 2 }, { l: [{ '\\': 1 }, { '"': 2 }] }]);
  });

  test('hostile names and texts come back unchanged', async () => {
    const event = {
      __proto__x: 1,
      constructor: 'c',
      "a'b\\": "'; drop table ds_1; --",
      '{p0:String}': '{p1}',
      'tab\t\n\u0000': '\u0000\u{1f600}\ud800',
      '': 'empty',
    };
    const { data, reply } = await store(NDJSON, `${JSON.stringify(event)}\n{"__proto__":"p"}`);
    expect(reply['failures']).toEqual([]);
    expect(data[0]).toEqual({ ...event, 'tab\t\n\u0000': '\u0000\u{1f600}\u{fffd}' });
    expect(Object.entries(data[1]!)).toEqual([['__proto__', 'p']]);
  });

  test('reserved names are renamed, the last of two equal names wins', async () => {
    expect((await store(NDJSON, '{"_sysTime":"x","_rowId":7,"a.b":1,"a":{"b":2}}')).data).toEqual([
      { _user_sysTime: 'x', _user_rowId: 7, 'a.b': 2 },
    ]);
  });

  test('labels are added to every event and never over its own fields', async () => {
    const { data } = await store(NDJSON, '{"a":1}\n{"team":"own"}', {
      headers: { 'x-service-event-labels': '{"team":"core","n":{"x":1}}' },
    });
    expect(data).toEqual([
      { a: 1, team: 'core', 'n.x': 1 },
      { team: 'own', 'n.x': 1 },
    ]);
    const bad = await store(NDJSON, '{"a":1}', { headers: { 'x-service-event-labels': '[1]' } });
    expect(bad.answer.status).toBe(400);
  });
});

describe('times', () => {
  test.each([
    ['"2026-01-02T03:04:05.123456789Z"', '2026-01-02T03:04:05.123456789Z'],
    ['"2026-01-02 03:04:05+02:00"', '2026-01-02T01:04:05Z'],
    ['1767323045', '2026-01-02T03:04:05Z'],
    ['1767323045123', '2026-01-02T03:04:05.123Z'],
    ['1767323045123456', '2026-01-02T03:04:05.123456Z'],
    ['1767323045123456789', '2026-01-02T03:04:05.123456789Z'],
    ['"1900-01-01T00:00:00Z"', '1900-01-01T00:00:00Z'],
    ['"2262-04-10T23:47:16.854775807Z"', '2262-04-10T23:47:16.854775807Z'],
  ])('_time %s is stored as %s', async (given, stored) => {
    expect((await store(NDJSON, `{"_time":${given}}`)).times).toEqual([stored]);
  });

  test.each(['"yesterday"', '"1899-12-31T23:59:59Z"', '"2262-04-12T00:00:00Z"', '{}', 'true', '"2026-02-30T00:00:00Z"'])(
    '_time %s fails its event',
    async (given) => {
      expect((await store(NDJSON, `{"_time":${given}}\n{"a":1}`)).reply).toMatchObject({ ingested: 1, failed: 1 });
    },
  );

  test('timestamp-field and timestamp-format name another field and its layout', async () => {
    const query = `timestamp-field=${encodeURIComponent('at.when')}&timestamp-format=${encodeURIComponent('2/Jan/2006:15:04:05 +0000')}`;
    const { times, data } = await store(NDJSON, '{"at":{"when":"2/Jan/2026:03:04:05 +0000"},"_time":"mine"}', { query });
    expect(times).toEqual(['2026-01-02T03:04:05Z']);
    expect(data).toEqual([{ 'at.when': '2/Jan/2026:03:04:05 +0000', _user_time: 'mine' }]);
  });

  test('a batch over 300 years is stored whole', async () => {
    const years = Array.from({ length: 360 }, (_, n) => ({ _time: `${1901 + n}-06-01T00:00:00Z`, n }));
    expect((await store(JSON_TYPE, JSON.stringify(years))).data).toHaveLength(360);
  });
});

describe('refusals', () => {
  test('an unknown dataset is 404, a missing or unknown content type 415, on both paths', async () => {
    const name = await dataset();
    for (const path of ['/v1/ingest/', '/v1/datasets/']) {
      const end = path.includes('datasets') ? '/ingest' : '';
      const headers = { 'content-type': NDJSON };
      expect((await client.call('POST', `${path}none${end}`, { headers, body: '{}' })).json).toMatchObject({
        code: 404,
        message: expect.stringContaining('not found'),
      });
      expect((await client.call('POST', `${path}${name}${end}`, { headers: { 'content-type': 'text/plain' }, body: '{}' })).status).toBe(
        415,
      );
      expect((await client.call('POST', `${path}${name}${end}`, { headers: { 'content-type': '' }, body: Buffer.from('{}') })).status).toBe(
        415,
      );
      expect((await client.call('POST', `${path}${name}${end}`, { headers, body: '{"a":1}' })).json['ingested']).toBe(1);
    }
  });

  test('a path that climbs out of the folder is only an unknown dataset', async () => {
    const answer = await client.call('POST', '/v1/ingest/..%2F..%2Fetc', { headers: { 'content-type': NDJSON }, body: '{}' });
    expect(answer.status).toBe(404);
  });
});

describe('Idempotency-Key', () => {
  const send = (name: string, key: string, body: string): Promise<Answer> =>
    client.call('POST', `/v1/ingest/${name}`, { headers: { 'content-type': NDJSON, 'idempotency-key': key }, body });
  const count = async (name: string): Promise<unknown> => totalsOf(await client.query(name, { aggregations: [{ op: 'count' }] }))['COUNT'];

  test('the first reply answers every later request, whatever its body', async () => {
    const name = await dataset();
    const first = await send(name, 'k', '{"a":1}\n{bad\n');
    expect((await send(name, 'k', '{"a":1}\n{bad\n')).text).toBe(first.text);
    expect((await send(name, 'k', '')).text).toBe(first.text);
    expect(await count(name)).toBe(1);
  });

  test('it holds per dataset', async () => {
    const [one, two] = [await dataset(), await dataset()];
    await send(one, 'same', '{"a":1}');
    await send(two, 'same', '{"a":1}');
    expect([await count(one), await count(two)]).toEqual([1, 1]);
  });

  test('requests at the same time store once and get the same reply', async () => {
    const name = await dataset();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(name, 'k', `{"n":${n}}\n`.repeat(n + 1))));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await count(name)).toBe(answers[0]!.json['ingested']);
  });

  test('a refusal is not kept', async () => {
    const name = await dataset();
    const type = { 'content-type': JSON_TYPE, 'idempotency-key': 'k' };
    expect((await client.call('POST', `/v1/ingest/${name}`, { headers: type, body: '{' })).status).toBe(400);
    expect((await client.call('POST', `/v1/ingest/${name}`, { headers: type, body: '{"a":1}' })).json['ingested']).toBe(1);
  });

  test('the token is checked before the key', async () => {
    const name = await dataset();
    await send(name, 'k', '{"a":1}');
    const answer = await client.call('POST', `/v1/ingest/${name}`, {
      token: 'xaat-wrong',
      headers: { 'content-type': NDJSON, 'idempotency-key': 'k' },
      body: '',
    });
    expect(answer.status).toBe(403);
  });

  test('a key of more than 256 characters is 400', async () => {
    expect((await send(await dataset(), 'k'.repeat(257), '{}')).status).toBe(400);
  });
});

/** What becomes of the values and times of events. */
import { describe, expect, test } from 'vitest';
import { client, JSON_TYPE, NDJSON, store } from './under.ts';
import { totalsOf } from '../support.ts';

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

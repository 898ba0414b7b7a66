/** When an event happened: `_time`, the field and format that a request names, envelopes, and the time of receipt. */
import { describe, expect } from 'vitest';
import { client, JSON_TYPE, NDJSON, store, test } from './under.ts';

const NEW_YEAR = '2026-01-02T03:04:05Z';
const withFormat = (format: string, field = 'at') => ({
  query: new URLSearchParams({ 'timestamp-field': field, 'timestamp-format': format }).toString(),
});

describe('the time of an event', () => {
  test.each([
    ['unix', '1767323045', NEW_YEAR],
    ['unix', '1767323045.123456789', '2026-01-02T03:04:05.123456789Z'],
    ['unixms', '1767323045123', '2026-01-02T03:04:05.123Z'],
    ['unixus', '1767323045123456', '2026-01-02T03:04:05.123456Z'],
    ['unixnano', '1767323045123456789', '2026-01-02T03:04:05.123456789Z'],
    ['rfc3339', '2026-01-02T05:04:05.000000001+02:00', '2026-01-02T03:04:05.000000001Z'],
    ['2/Jan/2006:15:04:05 -0700', '02/Jan/2026:03:04:05 -0130', '2026-01-02T04:34:05Z'],
    ['2/Jan/2006:15:04:05 +0000', '2/Jan/2026:3:04:05 +0000', NEW_YEAR],
    ['Mon Jan 2 15:04:05 -0700 MST 2006', 'Fri Jan 2 03:04:05 +0000 UTC 2026', NEW_YEAR],
    ['02_Jan_2006 15.04.05', '02_Jan_2026 03.04.05', NEW_YEAR],
    ['2006-01-02 03:04:05.000 PM', '2026-01-02 03:04:05.250 PM', '2026-01-02T15:04:05.25Z'],
  ])('in the format %s, %s is %s', async (format, given, time) => {
    const { times, data, reply } = await store(NDJSON, JSON.stringify({ at: given }), withFormat(format));
    expect(reply['failures']).toEqual([]);
    expect(times).toEqual([time]);
    // The field itself stays what it was.
    expect(data).toEqual([{ at: given }]);
  });

  test.each([
    ['unix', '"soon"'],
    ['unixms', '{"a":1}'],
    ['unixms', '[1767323045123]'],
    ['unixms', '{}'],
    ['unix', 'true'],
    ['rfc3339', '1767323045'],
    ['2/Jan/2006:15:04:05 +0000', '"2/Jan/2026:03:04:05 +0100"'],
    ['2006-01-02', '"2026-02-30"'],
    ['nonsense', '"2026-01-02"'],
    ['unix', '99999999999'],
  ])('in the format %s, %s fails its event with the reason', async (format, given) => {
    const { reply, data } = await store(NDJSON, `{"at":${given}}\n{"at":null,"a":1}`, withFormat(format));
    expect(reply).toMatchObject({
      ingested: 1,
      failed: 1,
      failures: [{ index: 0, error: expect.stringMatching(/cannot read|outside/) }],
    });
    expect(data).toEqual([{ at: null, a: 1 }]);
  });

  test('is the field that the request names, or _time where an event has none of that name', async () => {
    const { times } = await store(NDJSON, '{"when":"2020-01-01T00:00:00Z"}\n{"_time":"2021-01-01T00:00:00Z"}', {
      query: 'timestamp-field=when',
    });
    expect(times).toEqual(['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z']);
    const csv = await store('text/csv', 'when,a\n2020-01-01,1\n', { query: 'timestamp-field=when' });
    expect(csv.times).toEqual(['2020-01-01T00:00:00Z']);
  });

  test('is the time of receipt where nothing says another, the same as _sysTime', async ({ made: name }) => {
    const before = new Date().toISOString();
    await client.ingest(name, [{ a: 1 }, { _time: null }, { _time: '2020-01-01T00:00:00Z' }]);
    const [old, first, second] = (await client.query(name, { order: [{ field: '_time' }] })).matches;
    for (const { _time, _sysTime } of [first!, second!]) {
      expect(Date.parse(_time)).toBeGreaterThanOrEqual(Date.parse(before));
      expect(Date.parse(_time)).toBeLessThanOrEqual(Date.now());
      expect(_sysTime).toBe(_time);
    }
    expect(old!._sysTime).toBe(first!._sysTime);
    expect(old!._time).toBe('2020-01-01T00:00:00Z');
  });

  test('of an envelope is beside its data, in any form that _time may have', async () => {
    const body = [
      { time: 1767323045, data: { a: 1 } },
      { time: '2026-01-02 03:04:05', data: {} },
      { time: 'never', data: {} },
      { data: { _time: '2020-01-01' } },
    ];
    const { times, reply } = await store(JSON_TYPE, JSON.stringify(body));
    expect(reply).toMatchObject({ ingested: 3, failed: 1, failures: [{ index: 2 }] });
    // In the order of time.
    expect(times).toEqual(['2020-01-01T00:00:00Z', NEW_YEAR, NEW_YEAR]);
  });

  test('of a line of NDJSON is never that of an envelope', async () => {
    const { data, times } = await store(NDJSON, '{"time":"2020-01-01T00:00:00Z","data":{"a":1},"labels":{"b":2}}');
    expect(data).toEqual([{ time: '2020-01-01T00:00:00Z', 'data.a': 1, 'labels.b': 2 }]);
    expect(times[0]).not.toContain('2020');
  });

  test.each([
    'timestamp-field=a&timestamp-field=b',
    'timestamp-format=unix&timestamp-format=unix',
    'csv-delimiter=,&csv-delimiter=;',
  ])('named twice, %s, is 400', async (query) => {
    const { answer, data } = await store(NDJSON, '{"a":1}', { query });
    expect(answer.json).toEqual({ code: 400, message: expect.stringContaining('2 times') });
    expect(data).toEqual([]);
  });
});

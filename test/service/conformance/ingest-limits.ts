/** Ingest: what it refuses, encodings, and its limits. */
import zlib from 'node:zlib';
import { describe, expect } from 'vitest';
import { client, JSON_TYPE, NDJSON, store, test } from './under.ts';

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
    expect((await store(NDJSON, `${spaces} `)).answer.json).toMatchObject({
      code: 413,
      message: expect.stringContaining('bytes'),
    });
  });

  test('a body far over the limit is answered, however it is sent, and the connection goes on', async ({
    made: name,
  }) => {
    const body = Buffer.alloc(30 * 1024 * 1024, 'x');
    for (let n = 0; n < 5; n++) {
      const answer = await client.call('POST', `/v1/ingest/${name}`, { headers: { 'content-type': NDJSON }, body });
      expect(answer.json).toEqual({ code: 413, message: expect.stringContaining('bytes') });
      expect(answer.headers.get('connection')).not.toBe('close');
      const chunked = await fetch(`${client.url}/v1/ingest/${name}`, {
        method: 'POST',
        headers: { 'content-type': NDJSON, authorization: `Bearer ${client.apiToken}` },
        body: new Blob([body]).stream(),
        duplex: 'half',
      });
      expect([chunked.status, ((await chunked.json()) as { code: number }).code]).toEqual([413, 413]);
    }
    expect((await client.ingest(name, [{ a: 1 }])).json['ingested']).toBe(1);
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
    const { reply } = await store(
      NDJSON,
      [`{"s":"${'é'.repeat(mib / 2)}"}`, `{"s":"${'é'.repeat(mib / 2)}x"}`, '{"s":""}'].join('\n'),
    );
    expect(reply).toMatchObject({
      ingested: 2,
      failed: 1,
      failures: [{ index: 1, error: expect.stringContaining('1048576') }],
    });
  });

  test('a flattened name of 200 bytes is taken, a longer one fails alone', async () => {
    const { reply } = await store(
      NDJSON,
      `{"${'k'.repeat(200)}":1}\n{"${'k'.repeat(199)}":{"k":1}}\n{"${'é'.repeat(101)}":1}`,
    );
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

describe('refusals', () => {
  test('an unknown dataset is 404, a missing or unknown content type 415, on both paths', async ({ made: name }) => {
    for (const path of ['/v1/ingest/', '/v1/datasets/']) {
      const end = path.includes('datasets') ? '/ingest' : '';
      const headers = { 'content-type': NDJSON };
      expect((await client.call('POST', `${path}none${end}`, { headers, body: '{}' })).json).toMatchObject({
        code: 404,
        message: expect.stringContaining('not found'),
      });
      expect(
        (await client.call('POST', `${path}${name}${end}`, { headers: { 'content-type': 'text/plain' }, body: '{}' }))
          .status,
      ).toBe(415);
      expect(
        (
          await client.call('POST', `${path}${name}${end}`, {
            headers: { 'content-type': '' },
            body: Buffer.from('{}'),
          })
        ).status,
      ).toBe(415);
      expect((await client.call('POST', `${path}${name}${end}`, { headers, body: '{"a":1}' })).json['ingested']).toBe(
        1,
      );
    }
  });

  test('a path that climbs out of the folder is only an unknown dataset', async () => {
    const answer = await client.call('POST', '/v1/ingest/..%2F..%2Fetc', {
      headers: { 'content-type': NDJSON },
      body: '{}',
    });
    expect(answer.status).toBe(404);
  });
});

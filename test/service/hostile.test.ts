/**
 * Hostile input against the real command: thousands of made-up requests, none of which may end the process or be answered with a 5xx; every event
 * that a reply says was stored is there. TAILRACE_TEST_FUZZ sets how many requests; the seed is printed and may be given by TAILRACE_TEST_SEED.
 */
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { API_TOKEN, localService } from '../support/local-service.ts';

const REQUESTS = Number(process.env['TAILRACE_TEST_FUZZ'] ?? 2000);
const SEED = Number(process.env['TAILRACE_TEST_SEED'] ?? Date.now() % 1_000_000_000);
const AT_ONCE = 8;
const MIB = 1024 * 1024;

const service = localService('fuzz');
afterAll(async () => expect(await service.program.end()).toBe(0));

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** The reply, which must be JSON and no failure of the service. */
async function send({
  method,
  path,
  headers,
  body,
}: Request): Promise<{ status: number; json: Record<string, unknown> }> {
  const reply = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${API_TOKEN}`, ...headers },
    ...(body !== undefined && { body: new Uint8Array(body) }),
  });
  const text = await reply.text();
  const said = `${method} ${path} ${JSON.stringify(headers)} ${body?.subarray(0, 300).toString('base64') ?? ''} → ${reply.status} ${text.slice(0, 300)}`;
  if (reply.status >= 500) throw new Error(said);
  // The explorer; every other reply is JSON, failures too.
  if (reply.status === 200 && new URL(service.url + path).pathname === '/') return { status: 200, json: {} };
  const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  if (
    method !== 'HEAD' &&
    reply.status >= 400 &&
    (json['code'] !== reply.status || typeof json['message'] !== 'string' || json['message'] === '')
  )
    throw new Error(said);
  return { status: reply.status, json };
}

async function sendAll(
  requests: readonly Request[],
  seen: (status: number, json: Record<string, unknown>) => void,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < requests.length) {
        const { status, json } = await send(requests[next++]!);
        seen(status, json);
      }
    }),
  );
}

const name = fc.oneof(
  fc.constantFrom('a', 'b.c', '_time', '_sysTime', '_rowId', '__proto__', 'constructor', '', 'é', 'x'.repeat(250)),
  fc.string({ maxLength: 12, unit: 'binary' }),
);
const scalar = fc.oneof(
  fc.string({ maxLength: 30, unit: 'binary' }),
  fc.double(),
  fc.bigInt().map((value) => Number(value)),
  fc.boolean(),
  fc.constant(null),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-01-01T00:00:00Z', 1767225600, 1.5, '9'.repeat(40)),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: false },
    scalar,
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('any'), { maxKeys: 5 }),
}));
/** Text that is nearly right: cut, flipped, with something in it. */
const spoilt = (text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      text,
      fc.constantFrom('none', 'none', 'cut', 'flip', 'insert'),
      fc.nat(),
      fc.string({ maxLength: 5, unit: 'binary' }),
    )
    .map(([whole, how, at, extra]) => {
      const bytes = Buffer.from(whole);
      const place = bytes.length === 0 ? 0 : at % bytes.length;
      if (how === 'cut') return bytes.subarray(0, place);
      if (how === 'flip' && bytes.length > 0) bytes[place] = (bytes[place]! ^ (1 << (at % 8))) & 255;
      return how === 'insert'
        ? Buffer.concat([bytes.subarray(0, place), Buffer.from(extra), bytes.subarray(place)])
        : bytes;
    });
const event = value.object;
const lines = fc
  .array(fc.oneof(event, value.any), { maxLength: 8 })
  .map((all) => all.map((each) => JSON.stringify(each)).join('\n'));
const array = fc
  .array(fc.oneof(event, fc.record({ time: scalar, data: value.any, labels: value.any }, { requiredKeys: [] })), {
    maxLength: 8,
  })
  .map((all) => JSON.stringify(all));
const csv = fc
  .array(
    fc.array(
      fc.oneof(fc.constantFrom('1', 'true', '"a"', '', '1e3', '"', 'a b'), fc.string({ maxLength: 6, unit: 'binary' })),
      {
        maxLength: 4,
      },
    ),
    { maxLength: 6 },
  )
  .map((rows) => rows.map((row) => row.join(',')).join('\n'));
const body = fc.oneof(
  spoilt(lines),
  spoilt(array),
  spoilt(csv),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const encoding = fc.constantFrom(
  '',
  '',
  '',
  'identity',
  '1',
  'gzip',
  'zstd',
  'deflate',
  'br',
  'GZIP',
  'compress',
  'gzip, br',
);
const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: zlib.gzipSync,
  zstd: zlib.zstdCompressSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
};
const headerText = fc.oneof(
  fc.constantFrom('{"l":1}', '{"_time":"x","a":{"b":[1]}}', '[]', '{', 'a,b', 'a,a', ' ', '{"__proto__":1}'),
  fc.stringMatching(/^[\x20-\x7e]{0,40}$/),
);
const layout = fc.oneof(
  fc.constantFrom(
    'unix',
    'unixms',
    'rfc3339',
    '2/Jan/2006:15:04:05 -0700',
    '2006-01-02',
    'Mon Jan _2 15:04:05 MST 2006',
    '.000',
    '002',
  ),
  fc.string({ maxLength: 20, unit: 'binary' }),
);
const parameters = fc
  .record(
    {
      'timestamp-field': fc.oneof(name, fc.constant('_time')),
      'timestamp-format': layout,
      'csv-delimiter': fc.constantFrom(',', ';', '\t', '"', '::', ''),
      nocache: name,
    },
    { requiredKeys: [] },
  )
  .map((query) =>
    new URLSearchParams(Object.entries(query).map(([key, text]) => [key, text.toWellFormed()])).toString(),
  );

const ingest: fc.Arbitrary<Request> = fc
  .record({
    path: fc.constantFrom('/v1/ingest/fuzz', '/v1/datasets/fuzz/ingest'),
    type: fc.constantFrom(
      'application/json',
      'application/x-ndjson',
      'application/nd-json',
      'text/csv',
      'application/json; charset=utf-8',
      'text/plain',
      '',
    ),
    parameters,
    encoding,
    lie: fc.nat({ max: 9 }),
    labels: fc.option(headerText, { nil: undefined }),
    columns: fc.option(headerText, { nil: undefined }),
    body,
  })
  .map((made) => ({
    method: 'POST',
    path: `${made.path}?${made.parameters}`,
    headers: {
      'content-type': made.type,
      'content-encoding': made.encoding,
      ...(made.labels !== undefined && { 'x-service-event-labels': made.labels }),
      ...(made.columns !== undefined && { 'x-service-csv-fields': made.columns }),
    },
    // One in ten is not of the encoding that it names.
    body: made.lie === 0 ? made.body : (ENCODERS[made.encoding]?.(made.body) ?? made.body),
  }));

const segment = fc.oneof(
  fc.constantFrom(
    'fuzz',
    'none',
    '..',
    '%2e%2e',
    '%00',
    'a%2Fb',
    '_apl',
    'x'.repeat(300),
    '%E0%A4%A',
    "';drop table ds_1",
  ),
  fc.string({ maxLength: 10 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const other: fc.Arbitrary<Request> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'),
    path: fc.oneof(
      fc
        .tuple(
          fc.constantFrom('/v1/datasets/', '/v2/datasets/', '/v1/queries/', '/v1/', '/v2/', '/'),
          segment,
          fc.constantFrom('', '/trim', '/query', '/fields', '/ingest', '/vacuum', '/mapfields'),
        )
        .map((parts) => parts.join('')),
      fc.constantFrom(
        '/v1/datasets',
        '/v2/datasets',
        '/v2/tokens',
        '/v2/users',
        '/v1/user',
        '/v1/queries',
        '/openapi.json',
        '/v1/query/_apl?format=tabular',
        '/v1/datasets/_apl?format=legacy',
        '/v2/datasets/_apl/delete',
        '/v2/tokens/identify',
        '/v2/orgs/x',
        '/v1/datasets/fuzz/query',
      ),
    ),
    queryId: fc.option(headerText, { nil: undefined }),
    body: fc.option(
      fc.oneof(
        spoilt(
          fc
            .record(
              {
                name: fc.oneof(name, scalar),
                description: scalar,
                maxDuration: fc.oneof(scalar, fc.constantFrom('1h', '-1h', '1h1h', '9e9h')),
                retentionDays: scalar,
                useRetentionPeriod: scalar,
                apl: fc.oneof(scalar, fc.constantFrom('fuzz', 'fuzz | count', 'none')),
              },
              { requiredKeys: [] },
            )
            .map((object) => JSON.stringify(object)),
        ),
        spoilt(value.any.map((any) => JSON.stringify(any))),
      ),
      { nil: undefined },
    ),
  })
  .filter(({ method, path }) => !(method === 'DELETE' && path.includes('/fuzz')) && !path.endsWith('fuzz/trim'))
  .map(({ method, path, queryId, body: text }) => ({
    method,
    path,
    headers: {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(queryId !== undefined && { 'x-service-query-id': queryId }),
    },
    body: method === 'GET' || method === 'HEAD' ? undefined : text,
  }));

describe(`hostile requests, seed ${SEED}`, () => {
  test(
    `${REQUESTS} ingests: never a 5xx, and every acknowledged event is stored`,
    { timeout: 900_000 + REQUESTS * 100 },
    async () => {
      const statuses = new Map<number, number>();
      let stored = 0;
      await sendAll(fc.sample(ingest, { numRuns: REQUESTS, seed: SEED }), (status, json) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status !== 200) return;
        stored += json['ingested'] as number;
        expect((json['failures'] as unknown[]).length).toBe(json['failed']);
      });
      expect(await service.aggregate('fuzz', [{ op: 'count' }])).toEqual([stored]);
      // The requests are of every kind, not all refused at the door.
      for (const status of [200, 400, 415]) expect(statuses.get(status) ?? 0).toBeGreaterThan(REQUESTS / 50);
    },
  );

  test(`${REQUESTS} other requests: never a 5xx`, { timeout: 900_000 + REQUESTS * 100 }, async () => {
    await sendAll(fc.sample(other, { numRuns: REQUESTS, seed: SEED }), () => undefined);
    expect(service.program.process.exitCode).toBeNull();
  });
});

describe('oversized requests', () => {
  const peakMib = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.program.process.pid}/status`, 'utf8'))![1]) / 1024;
  const ingestText = (text: string | Buffer, headers: Record<string, string> = {}) =>
    send({
      method: 'POST',
      path: '/v1/ingest/fuzz',
      headers: { 'content-type': 'application/x-ndjson', ...headers },
      body: Buffer.from(text),
    });

  test('an event of 100,000 fields fails alone', async () => {
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`f${n}`, n])));
    expect((await ingestText(`${wide}\n{"a":1}`)).json).toMatchObject({ ingested: 1, failed: 1 });
  });

  test('nesting of a million levels fails alone, in a body and in a header of JSON', async () => {
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    expect((await ingestText(`${deep}\n{"a":1}`)).json).toMatchObject({ ingested: 1, failed: 1 });
    expect(
      (await ingestText('{"a":1}', { 'x-service-event-labels': `${'['.repeat(5000)}${']'.repeat(5000)}` })).status,
    ).toBe(400);
  });

  test('a string of 9 MiB, one key of it, and a million numbers fail alone or are stored, in each format', async () => {
    const nine = 'x'.repeat(9 * MIB);
    expect((await ingestText(`{"s":"${nine}"}\n{"a":1}`)).json).toMatchObject({ ingested: 1, failed: 1 });
    expect((await ingestText(`{"${nine}":1}\n{"a":1}`)).json).toMatchObject({ ingested: 1, failed: 1 });
    expect((await ingestText(`{"list":[${'1,'.repeat(1_000_000)}1]}\n{"a":1}`)).json).toMatchObject({
      ingested: 2,
      failed: 0,
    });
    expect((await ingestText(`{"n":${'9'.repeat(1_000_000)}}\n{"a":1}`)).json).toMatchObject({
      ingested: 2,
      failed: 0,
    });
    const csv = await ingestText(`a,b\n1,${nine}\n"${'""'.repeat(MIB / 4)}",2\n3,4\n`, { 'content-type': 'text/csv' });
    expect(csv.json).toMatchObject({ ingested: 2, failed: 1 });
    const json = await ingestText(`[{"s":"${nine}"},{"a":1}]`, { 'content-type': 'application/json' });
    expect(json.json).toMatchObject({ ingested: 1, failed: 1 });
  });

  test('twenty bombs of 1 GiB at once cost their limit, not their size', async () => {
    const before = peakMib();
    const bombs = [
      zlib.gzipSync(Buffer.alloc(64 * MIB)),
      zlib.zstdCompressSync(Buffer.alloc(1024 * MIB)),
      zlib.brotliCompressSync(Buffer.alloc(64 * MIB), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ];
    const encodings = ['gzip', 'zstd', 'br'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ingestText(bombs[n % 3]!, { 'content-encoding': encodings[n % 3]! })),
    );
    for (const { status } of answers) expect([413, 429]).toContain(status);
    expect(peakMib() - before).toBeLessThan(600);
  });

  test('sixty bodies of 10 MiB at once are taken or asked to wait, within bounds', async () => {
    const body10 = Buffer.from(`{"s":"${'x'.repeat(1000)}"}\n`.repeat(9_900));
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        ingestText(body10).catch((error: unknown) => ({ status: error instanceof TypeError ? 429 : 0 })),
      ),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses.has(200)).toBe(true);
    expect([...statuses].every((status) => status === 200 || status === 429)).toBe(true);
    expect(peakMib()).toBeLessThan(1500);
  });
});

describe('connections', () => {
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => resolve(socket)).on('error', reject);
    });

  test('requests that never end do not keep others from theirs', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, open));
    for (const socket of slow)
      socket.write(
        `POST /v1/ingest/fuzz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9999\r\n\r\n{`,
      );
    const answer = await send({ method: 'GET', path: '/v1/datasets', headers: {}, body: undefined });
    expect(answer.status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  /** Sends bytes as they are, and reads until the service closes; the reply must be whole. */
  const raw = async (text: string): Promise<{ status: number; json: Record<string, unknown> }> => {
    const socket = await open();
    let said = '';
    const closed = new Promise((resolve) =>
      socket.on('data', (chunk) => (said += chunk.toString())).once('close', resolve),
    );
    socket.on('error', () => undefined);
    socket.write(text, 'latin1');
    await closed;
    const [head = '', body = ''] = said.split('\r\n\r\n');
    return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), json: JSON.parse(body) as Record<string, unknown> };
  };
  const AUTH = `Host: localhost\r\nConnection: close\r\nAuthorization: Bearer ${API_TOKEN}\r\n`;

  test.each([
    ['a NUL in the path', 'GET /v1/datasets/a\u0000b HTTP/1.1', '', [400]],
    ['an escaped NUL', 'GET /v1/datasets/a%00b HTTP/1.1', '', [404]],
    ['dots', 'GET /v1/datasets/../../../etc/passwd HTTP/1.1', '', [404]],
    ['escaped dots and slashes', 'GET /v1/datasets/..%2f..%2fservice.db HTTP/1.1', '', [404]],
    ['backslashes', 'GET /v1\\datasets\\..\\service.db HTTP/1.1', '', [404]],
    ['bytes outside ASCII', 'GET /v1/datasets/\u00e9\u00ff HTTP/1.1', '', [400, 404]],
    [
      'escaped letters of every kind',
      `GET /v1/datasets/${encodeURIComponent('数据\u202e\u{1f600}')} HTTP/1.1`,
      '',
      [404],
    ],
    ['a whole address', 'GET http://elsewhere/v1/datasets/none HTTP/1.1', '', [404]],
    ['a path of 15,000 characters', `GET /v1/datasets/${'x'.repeat(15_000)} HTTP/1.1`, '', [404, 414]],
    ['a header of 64 KiB', 'GET /v1/datasets HTTP/1.1', `X-Long: ${'x'.repeat(65_536)}\r\n`, [431]],
    ['10,000 headers', 'GET /v1/datasets HTTP/1.1', 'X-A: 1\r\n'.repeat(10_000), [431]],
    ['two lengths', 'POST /v1/ingest/fuzz HTTP/1.1', 'Content-Length: 1\r\nContent-Length: 2\r\n', [400]],
    [
      'a length and chunks',
      'POST /v1/ingest/fuzz HTTP/1.1',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
      [400],
    ],
    ['a length that is none', 'POST /v1/ingest/fuzz HTTP/1.1', 'Content-Length: -1\r\n', [400]],
    ['a folded header', 'GET /v1/datasets/none HTTP/1.1', 'X-A: 1\r\n and more\r\n', [400, 404]],
    ['a method that there is not', 'CONQUER /v1/datasets HTTP/1.1', '', [400]],
    ['another protocol', 'PRI * HTTP/2.0', '', [400, 505]],
  ])('%s is refused, with a reply that says so', async (_name, line, headers, statuses) => {
    const { status, json } = await raw(`${line}\r\n${AUTH}${headers}\r\n`);
    expect(statuses).toContain(status);
    expect(json).toEqual({ code: status, message: expect.stringMatching(/./) as string });
  });

  test('headers that come slowly, and floods of them, do not keep others from theirs', async () => {
    const slow = await Promise.all(Array.from({ length: 200 }, open));
    for (const [n, socket] of slow.entries()) {
      socket.on('error', () => undefined);
      socket.write(
        n % 2
          ? 'GET /v1/datasets HTTP/1.1\r\nHost: x\r\nX-Slow: '
          : `GET /v1/datasets HTTP/1.1\r\n${'X-A: 1\r\n'.repeat(1500)}`,
      );
    }
    expect((await send({ method: 'GET', path: '/v1/datasets', headers: {}, body: undefined })).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  test('a client that goes away in the middle gives its room back', async () => {
    for (let round = 0; round < 3; round++) {
      const sockets = await Promise.all(Array.from({ length: 64 }, open));
      const closed = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
      for (const socket of sockets)
        socket.end(
          `POST /v1/ingest/fuzz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9999\r\n\r\n{`,
        );
      await Promise.all(closed);
    }
    const send1 = () =>
      send({
        method: 'POST',
        path: '/v1/ingest/fuzz',
        headers: { 'content-type': 'application/x-ndjson' },
        body: Buffer.from('{"a":1}'),
      });
    await expect.poll(async () => (await send1()).status, { timeout: 600_000 }).toBe(200);
  });
});

/**
 * Bad requests to `tailrace serve`, the program: for each a status, a message with the fault, nothing stored, and a service that goes on.
 * The conformance suites (test/service) hold every refusal of the whole API, inside the test's process.
 */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { API_TOKEN, localService } from '../support/local-service.ts';

const JSON_TYPE = 'application/json';
const NDJSON = 'application/x-ndjson';
const INGEST = ['/v1/ingest/logs', '/v1/datasets/logs/ingest'];
const LIMIT = 10 * 1024 * 1024;

const service = localService('logs');

interface Bad {
  readonly paths?: readonly string[];
  readonly type?: string;
  readonly encoding?: string;
  readonly token?: string | undefined;
  readonly body: string | Buffer<ArrayBuffer>;
}

async function post(
  path: string,
  { type = NDJSON, encoding, body, ...more }: Bad,
): Promise<{ status: number; reply: unknown }> {
  const token = 'token' in more ? more.token : API_TOKEN;
  const headers = {
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(service.url + path, { method: 'POST', headers, body });
  return { status: answer.status, reply: await answer.json() };
}

const named = (name: string): Bad => ({ paths: ['/v1/datasets'], type: JSON_TYPE, body: JSON.stringify({ name }) });
const TO_ALL = [...INGEST, '/v1/datasets', '/v1/datasets/logs/query'];

test.each<[what: string, bad: Bad, status: number, message: RegExp]>([
  ['broken JSON', { paths: TO_ALL, type: JSON_TYPE, body: '{"name": "a", "b": ' }, 400, /JSON/],
  ['a wrong content type', { type: 'text/plain', body: '{"a":1}' }, 415, /"text\/plain": wanted application\/json/],
  ['gzip that is not gzip', { encoding: 'gzip', body: '{"a":1}\n' }, 400, /not whole gzip/],
  ['zstd that is not zstd', { encoding: 'zstd', body: '{"a":1}\n' }, 400, /not whole zstd/],
  ['a body over the limit', { body: `{"a":1}${' '.repeat(LIMIT)}` }, 413, /larger than 10485760 bytes/],
  [
    'gzip over the limit',
    { encoding: 'gzip', body: gzipSync(Buffer.alloc(20 * LIMIT, '\n')) },
    413,
    /larger than 10485760 bytes/,
  ],
  ['a dataset name with a slash', named('a/b'), 400, /"a\/b": wanted 1 to 128 characters/],
  ['a dataset name of 129 characters', named('x'.repeat(129)), 400, /wanted 1 to 128 characters/],
  ['no token', { paths: TO_ALL, token: undefined, body: '{"a":1}' }, 403, /no token: send the header/],
  ['a token that nobody has', { paths: TO_ALL, token: 'xaat-nobody', body: '{"a":1}' }, 403, /not known here/],
])('%s is refused with its reason, nothing is stored, and the service goes on', async (_what, bad, status, message) => {
  const before = (await service.aggregate('logs', [{ op: 'count' }]))[0];
  for (const path of bad.paths ?? INGEST)
    expect({ path, ...(await post(path, bad)) }).toEqual({
      path,
      status,
      reply: { code: status, message: expect.stringMatching(message) as string },
    });
  expect(await service.ask('GET', '/v1/datasets')).toHaveLength(1);
  expect((await post(INGEST[0]!, { body: '{"good":true}' })).reply).toMatchObject({ ingested: 1, failed: 0 });
  expect((await service.aggregate('logs', [{ op: 'count' }]))[0]).toBe(Number(before) + 1);
});

test('a broken line fails alone, with its place; a repeated key answers with the first reply, all six of its fields', async () => {
  const send = async (body: string) => {
    const headers = { 'content-type': NDJSON, authorization: `Bearer ${API_TOKEN}`, 'idempotency-key': 'once' };
    return (await fetch(`${service.url}/v1/ingest/logs`, { method: 'POST', headers, body })).json();
  };
  const before = Number((await service.aggregate('logs', [{ op: 'count' }]))[0]);
  const first = await send('{"n":1}\n{"n":\n{"n":3}\n');
  expect(first).toEqual({
    ingested: 2,
    failed: 1,
    failures: [{ timestamp: expect.any(String) as string, error: expect.stringContaining('JSON') as string, index: 1 }],
    processedBytes: 22,
    blocksCreated: expect.any(Number) as number,
    walLength: expect.any(Number) as number,
  });
  expect(await send('{"quite":"another"}\n')).toEqual(first);
  expect((await service.aggregate('logs', [{ op: 'count' }]))[0]).toBe(before + 2);
});

test('the program says nothing of all this but that it runs, and ends as usual', async () => {
  expect(await service.program.end('SIGTERM')).toBe(0);
  expect(service.program.stderr()).not.toMatch(/ (warn|error) |^ +at /m);
});

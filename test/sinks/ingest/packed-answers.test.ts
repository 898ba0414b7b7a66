/** Answers that a proxy compressed although none was asked for, and pages that a proxy answers with. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { MAX_ANSWER_BYTES } from '../../../src/sinks/ingest/limits.ts';
import { test } from '../../support/fake-service.ts';
import { makeSink, never, sinkRequest } from './rig.ts';

const RESULT = Buffer.from(
  '{"ingested":1,"failed":0,"failures":[],"processedBytes":8,"blocksCreated":0,"walLength":1}',
);

// Symptom: a service behind a proxy that compresses got every event again and again, and binary stood in the log. Cause: no Accept-Encoding was sent,
// which allows any, and a compressed answer was not unpacked. Fix: none is asked for, and what comes all the same is unpacked.
test.for([
  ['gzip', gzipSync(RESULT)],
  ['x-gzip', gzipSync(RESULT)],
  ['GZIP', gzipSync(RESULT)],
  ['deflate', deflateSync(RESULT)],
  ['deflate', deflateRawSync(RESULT)],
  ['br', brotliCompressSync(RESULT)],
  ['zstd', zstdCompressSync(RESULT)],
  ['identity', RESULT],
  ['gzip, br', brotliCompressSync(gzipSync(RESULT))],
] as const)('ingest sink understands an answer in %s that it did not ask for', async ([coding, body], { service }) => {
  service.respond = (_request, response) => void response.writeHead(200, { 'content-encoding': coding }).end(body);
  const { outcome } = await makeSink(service.url).send(sinkRequest, never);
  expect(outcome).toMatchObject({ kind: 'delivered', stored: 1, facts: { ingest_processed_bytes_total: 8 } });
  expect(service.requests[0]!.headers['accept-encoding']).toBe('identity');
});

test('ingest sink reads the reason out of a compressed refusal', async ({ service }) => {
  service.respond = (_request, response) => {
    response.writeHead(503, { 'content-encoding': 'gzip' }).end(gzipSync('{"message":"full"}'));
  };
  expect((await makeSink(service.url).send(sinkRequest, never)).outcome).toMatchObject({
    reason: 'server_error',
    detail: 'HTTP 503 full',
  });
});

test.for([
  ['a coding that nobody knows', 'snappy', RESULT, 'in a way that nobody asked for (content-encoding: snappy)'],
  ['less than it says', 'gzip', gzipSync(RESULT).subarray(0, 20), 'cannot be unpacked: unexpected end of file'],
  ['no gzip at all', 'gzip', RESULT, 'cannot be unpacked: incorrect header check'],
  [
    'more than an answer may hold',
    'gzip',
    gzipSync(Buffer.alloc(MAX_ANSWER_BYTES + 1, ' ')),
    'cannot be unpacked: Cannot create a Buffer larger than',
  ],
  ['itself, four times', 'gzip,gzip,gzip,gzip', RESULT, 'compressed too often'],
] as const)(
  'ingest sink says what is wrong with a compressed answer that is %s, and counts nothing as stored',
  async ([, coding, body, reason], { service }) => {
    service.respond = (_request, response) => void response.writeHead(200, { 'content-encoding': coding }).end(body);
    const { outcome } = await makeSink(service.url).send(sinkRequest, never);
    expect(outcome).toMatchObject({ kind: 'retry', reason: 'bad_answer', detail: expect.stringContaining(reason) });
  },
);

test('ingest sink writes no binary into its reason, where a proxy forgets to say that it compressed', async ({
  service,
}) => {
  service.respond = (_request, response) => void response.writeHead(200).end(gzipSync(RESULT));
  const { outcome } = await makeSink(service.url).send(sinkRequest, never);
  expect(outcome).toMatchObject({
    reason: 'bad_answer',
    detail: 'HTTP 200 (the answer is no text): not an ingest result',
  });
});

test.for([
  [
    'its title',
    '<!DOCTYPE html>\n<html><head><TITLE lang="en">\n  Attack &amp; defence </TITLE></head><body>no</body></html>',
    'Attack & defence',
  ],
  [
    'its words without one',
    '<html><style>p {}</style><script>alert("x")</script><h1>Request</h1> <p>blocked</p>',
    'Request blocked',
  ],
  ['plain words', 'Request blocked\r\n', 'Request blocked'],
  ['no controls', '<title>a\u001b[2J\u202eb</title>', 'a [2J b'],
] as const)('ingest sink quotes of a page %s', async ([, page, text], { service }) => {
  service.respond = (_request, response) => void response.writeHead(406).end(page);
  expect((await makeSink(service.url).send(sinkRequest, never)).outcome).toMatchObject({ detail: `HTTP 406 ${text}` });
});

test('ingest sink repeats no token that an answer repeats', async ({ service }) => {
  service.respond = ({ headers }, response) =>
    void response.writeHead(403).end(`<title>no</title>${headers.authorization}`);
  expect(JSON.stringify(await makeSink(service.url).send(sinkRequest, never))).not.toContain('secret-token');
  service.respond = ({ headers }, response) => void response.writeHead(422).end(`refused: ${headers.authorization}`);
  expect((await makeSink(service.url).send(sinkRequest, never)).outcome).toMatchObject({
    detail: 'HTTP 422 refused: Bearer (hidden)',
  });
});

test('client understands a compressed answer that it did not ask for', async ({ service }) => {
  service.respond = (_request, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[]'));
  const client = createClient({ url: service.url, token: 't' });
  expect(await client.datasets.list()).toEqual([]);
  expect(service.requests[0]!.headers['accept-encoding']).toBe('identity');
  service.respond = (_request, response) => void response.writeHead(200, { 'content-encoding': 'snappy' }).end('[]');
  await expect(client.datasets.list()).rejects.toThrow('nobody asked for');
  await client.close();
});

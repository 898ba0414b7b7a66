/** The null sink: whoever measures against it must be able to believe its counts. */
import { request } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { lineChecksum } from '../../bench/checksum.ts';
import { startSink } from '../../bench/sink.ts';
import type { Sink } from '../../bench/sink.ts';

let sink: Sink | undefined;
afterEach(async () => {
  await sink?.stop();
  sink = undefined;
});

async function post(
  port: number,
  body: Buffer,
  headers: OutgoingHttpHeaders = {},
  path = '/v1/ingest/x',
): Promise<unknown> {
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path,
    headers: { 'content-length': body.length, ...headers },
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [AsyncIterable<Uint8Array>];
  return JSON.parse(await text(answer));
}

/** 30,000 events, some MB. */
const events = Array.from({ length: 30_000 }, (_, i) => ({
  _time: 't',
  message: `line ${i} Zürich "x"`.padEnd(100, '.'),
  host: 'h',
  file: 'f',
}));
const body = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));

test.each([
  ['plain', body, {}],
  ['gzip', gzipSync(body, { level: 1 }), { 'content-encoding': 'gzip' }],
  ['zstd', zstdCompressSync(body), { 'content-encoding': 'zstd' }],
])('null sink counts the newlines of a %s body that brings no count', async (_name, sent, headers) => {
  sink = await startSink();
  expect(await post(sink.port, sent, headers)).toEqual({
    ingested: events.length,
    failed: 0,
    failures: [],
    processedBytes: sent.length,
    blocksCreated: 1,
    walLength: 0,
  });
  expect(await sink.counts()).toMatchObject({
    requests: 1,
    events: events.length,
    bodyBytes: sent.length,
    uncounted: 1,
  });
});

test('null sink counts the events of the bulk API and of OTLP, and answers as these want', async () => {
  sink = await startSink();
  const pair = '{"create":{}}\n{"message":"x"}\n';
  const item = { create: { status: 201 } };
  expect(await post(sink.port, Buffer.from(pair.repeat(2)), {}, '/_bulk')).toMatchObject({
    errors: false,
    items: [item, item],
  });
  const record = '{"observedTimeUnixNano":"1"}';
  const logs = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record},${record},${record}]}]}]}`);
  expect(await post(sink.port, logs, {}, '/v1/logs')).toEqual({});
  expect((await sink.counts()).events).toBe(5);
});

test('null sink takes the count that the request brings', async () => {
  sink = await startSink();
  expect(await post(sink.port, Buffer.from('a\nb\n'), { 'x-event-count': '2' })).toMatchObject({ ingested: 2 });
  expect(await sink.counts()).toMatchObject({ events: 2, uncounted: 0 });
});

test('null sink counts requests that arrive in one piece and in single bytes', async () => {
  sink = await startSink();
  const one = 'POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\na\nb\n';
  const socket = connect(sink.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  let answers = 0;
  const done = new Promise<void>((resolve) => {
    socket.on('data', (piece: Buffer) => {
      answers += piece.toString().split('200 OK').length - 1;
      if (answers === 4) resolve();
    });
  });
  socket.write(one + one + one);
  for (const byte of one) socket.write(byte);
  await done;
  socket.destroy();
  expect(await sink.counts()).toMatchObject({ requests: 4, events: 8, bodyBytes: 16 });
});

test('null sink refuses a body of unknown length', async () => {
  sink = await startSink();
  const socket = connect(sink.port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\na\n\r\n0\r\n\r\n');
  expect(await text(socket)).toContain('411 Length Required');
});

test('verifying sink adds up the checksums and sees a wrong count, a broken line and a missing key', async () => {
  sink = await startSink('text');
  const sum = events.reduce((total, event) => total + lineChecksum(event, 'text'), 0);
  await post(sink.port, gzipSync(body), { 'content-encoding': 'gzip', 'x-event-count': String(events.length) });
  expect(await sink.counts()).toMatchObject({ events: events.length, checksum: sum, wrong: 0 });
  await post(sink.port, body, { 'x-event-count': '1' });
  expect(await sink.counts()).toMatchObject({ wrong: 1 });
  await post(sink.port, Buffer.from('{"_time":\n{"message":"x"}\n'));
  expect(await sink.counts()).toMatchObject({ wrong: 3 });
});

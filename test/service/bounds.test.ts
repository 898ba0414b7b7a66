/** Clients that send or read slowly, and bodies that are more than they look: each costs a bounded amount, and other tokens go on. */
import { connect, type Socket } from 'node:net';
import { gzipSync, zstdCompressSync, brotliCompressSync, deflateSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decompress } from '../../src/service/ingest/decompress.ts';
import { SERVICE_CSV_COLUMNS, SERVICE_KEPT_FAILURES, SERVICE_KEPT_REPLY } from '../../src/service/limits.ts';
import { until } from '../support/until.ts';
import { type Client, serviceForSuite } from './support.ts';

const MIB = 1024 * 1024;
const SLOW_MS = 2000;

interface Raw {
  readonly socket: Socket;
  text(): string;
  isClosed(): boolean;
}

/** Sends these bytes on a connection of its own; reads only on request. */
function open(client: Client, head: string, reads: boolean): Raw {
  const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
  let [text, isClosed] = ['', false];
  socket.on('error', () => {}).on('close', () => (isClosed = true));
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  if (!reads) socket.pause();
  socket.write(head);
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text, isClosed: () => isClosed };
}

const tokenFor = async (client: Client, name: string): Promise<string> => {
  const body = { name, datasetCapabilities: { '*': { ingest: ['create'], query: ['read'] } } };
  const owner = { token: client.personalToken, headers: { 'x-service-org-id': client.orgId } };
  return (await client.call('POST', '/v2/tokens', { ...owner, body })).json['token'] as string;
};

describe('clients that do not go on', () => {
  const events = (part: number): string =>
    Array.from({ length: 10_000 }, (_, n) => `{"n":${part * 10_000 + n},"text":"${'x'.repeat(220)}"}`).join('\n');
  const { client } = serviceForSuite({ limits: { slowMs: SLOW_MS, replyBytes: 40 * MIB } }, { logs: events(0) });
  const QUERY = JSON.stringify({ apl: 'logs | take 50000' });
  const ask = (token: string, kind = 'curl/8'): string =>
    `POST /v1/query/_apl?format=tabular HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${kind}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${QUERY.length}\r\n\r\n${QUERY}`;

  // Symptom: 45 sockets that asked and never read took 5 GB, and the service with them.
  test('replies that nobody reads are bounded, leave room for other tokens, and are cut off', async () => {
    for (let part = 1; part < 5; part++) await client.ingest('logs', events(part));
    const [greedy, honest] = [await tokenFor(client, 'greedy'), await tokenFor(client, 'honest')];
    const stalled = Array.from({ length: 6 }, () => open(client, ask(greedy), false));
    const last = open(client, ask(greedy), true);
    await until('an answer to each', () => last.text().includes('\r\n\r\n'));
    const answer = await client.call('POST', '/v1/query/_apl?format=tabular', {
      token: honest,
      body: { apl: 'logs | take 50000' },
    });
    expect((answer.json['tables'] as { columns: unknown[][] }[])[0]!.columns[0]).toHaveLength(50_000);
    // Those that stall are closed in the end, and what they held is there again.
    await until(
      'an answer',
      async () =>
        (
          await client.call('POST', '/v1/query/_apl?format=tabular', {
            token: greedy,
            body: { apl: 'logs | take 50000' },
          })
        ).status === 200,
    );
    for (const each of stalled) each.socket.resume();
    await until('the end of those that stalled', () =>
      stalled.every((each) => each.isClosed() || each.text().startsWith('HTTP/1.1 429')),
    );
    const refused = [last, ...stalled].filter((each) => each.text().startsWith('HTTP/1.1 429'));
    expect(refused[0]?.text()).toMatch(/Retry-After: 5[\s\S]*read them/i);
  });

  test('a client that leaves in the middle of a large reply leaves the engine and its room to others', async () => {
    for (let n = 0; n < 10; n++) {
      const left = open(client, ask(client.apiToken), true);
      await until('a part of its reply', () => left.text().includes('\r\n\r\n'));
      expect(left.text()).toMatch(/^HTTP\/1.1 200/);
      left.socket.destroy();
      expect((await client.call('GET', '/v1/queries')).json).toEqual([]);
      expect(
        (await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl: 'logs | count' } })).status,
      ).toBe(200);
    }
  });

  // Symptom: 64 sockets of one byte each kept everybody else out for two minutes.
  test('bodies that do not come are ended, and leave room for other tokens', async () => {
    const [greedy, honest] = [await tokenFor(client, 'slow'), await tokenFor(client, 'quick')];
    const head = `POST /v1/ingest/logs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${greedy}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n{`;
    const slow = Array.from({ length: 64 }, () => open(client, head, true));
    await until('refusals', () => slow.filter((each) => each.text().startsWith('HTTP/1.1 429')).length === 32);
    expect(
      (
        await client.call('POST', '/v1/ingest/logs', {
          token: honest,
          headers: { 'content-type': 'application/x-ndjson' },
          body: '{"n":-1}',
        })
      ).json,
    ).toMatchObject({ ingested: 1 });
    await until(
      'the end of the others',
      () => slow.filter((each) => each.text().startsWith('HTTP/1.1 408')).length === 32,
    );
    await until('their connections', () => slow.every((each) => each.isClosed()));
  });

  test('a body that comes slowly but steadily arrives', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `{"n":${n},"text":"${'y'.repeat(2000)}"}\n`);
    const length = lines.join('').length;
    const sent = open(
      client,
      `POST /v1/ingest/logs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${client.apiToken}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${length}\r\n\r\n`,
      true,
    );
    for (const line of lines) {
      sent.socket.write(line);
      await new Promise((done) => setTimeout(done, 75));
    }
    await until('its answer', () => sent.text().includes('"ingested":40'));
  });

  test('a CSV body of commas is refused at the first column too many', async () => {
    const answer = await client.call('POST', '/v1/ingest/logs', {
      headers: { 'content-type': 'text/csv' },
      body: ','.repeat(9 * MIB),
    });
    expect(answer.json).toEqual({ code: 400, message: `line 1 has more than ${SERVICE_CSV_COLUMNS} columns` });
  });

  // Symptom: 100 requests of 3 KB with keys of their own kept 183 MB.
  test('a kept reply with many failures has the counts and the first of them; the first answer has all', async () => {
    const body = Array.from({ length: 10_000 }, (_, n) => `{"_time":"never ${n} ${'z'.repeat(60)}"}`).join('\n');
    const send = () =>
      client.call('POST', '/v1/ingest/logs', {
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'many' },
        body,
      });
    const [first, second] = [await send(), await send()];
    expect(first.text.length).toBeGreaterThan(SERVICE_KEPT_REPLY);
    expect(first.json['failures']).toHaveLength(10_000);
    const { failures, ...counts } = second.json as { failures: object[] };
    expect(failures).toEqual((first.json['failures'] as object[]).slice(0, SERVICE_KEPT_FAILURES));
    expect(first.json).toMatchObject(counts);
    expect(counts).toMatchObject({ ingested: 0, failed: 10_000 });
  });
});

describe('packed bodies', () => {
  const LIMIT = 2 * MIB;
  const plain = Buffer.from('{"a":1}\n'.repeat(1000));
  const unpackAndNote = async (body: Buffer, encoding: string): Promise<{ length: number; reserved: number[] }> => {
    const reserved: number[] = [];
    const { length } = await decompress(body, encoding, LIMIT, (bytes) => (reserved.push(bytes), Promise.resolve()));
    return { length, reserved };
  };

  test.each([
    ['gzip', gzipSync(plain), [plain.length]],
    ['zstd', zstdCompressSync(plain), [plain.length]],
    ['deflate', deflateSync(plain), [LIMIT]],
    ['br', brotliCompressSync(plain), [LIMIT]],
    ['gzip', Buffer.concat([gzipSync(plain), gzipSync(plain.subarray(0, 8))]), [8, LIMIT]],
  ])('%s asks for room before it is unpacked', async (encoding, body, wanted) => {
    const { length, reserved } = await unpackAndNote(body, encoding);
    expect(reserved).toEqual(wanted);
    expect(length).toBe(wanted.length === 2 ? plain.length + 8 : plain.length);
  });

  test.each(['gzip', 'zstd', 'deflate', 'br'])(
    'a bomb in %s is a 413, and takes no more room than the limit',
    async (encoding) => {
      const pack = { gzip: gzipSync, zstd: zstdCompressSync, deflate: deflateSync, br: brotliCompressSync }[encoding]!;
      const bomb = pack(Buffer.alloc(LIMIT + 1));
      await expect(unpackAndNote(bomb, encoding)).rejects.toMatchObject({ status: 413 });
    },
  );

  test('a bomb that says it is small is unpacked no further than that, then no further than the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(4 * LIMIT));
    bomb.writeUInt32LE(1, bomb.length - 4);
    const reserved: number[] = [];
    const unpacked = decompress(bomb, 'gzip', LIMIT, (bytes) => (reserved.push(bytes), Promise.resolve()));
    await expect(unpacked).rejects.toMatchObject({ status: 413 });
    expect(reserved).toEqual([1, LIMIT]);
  });
});

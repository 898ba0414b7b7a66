/**
 * Whoever is refused gets an answer with a sentence, also while it still sends: the service reads on and drops what comes. And clients that stall in a
 * body take nothing from others, on no route.
 */
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SERVICE_CONNECTIONS, SERVICE_JSON_BYTES } from '../../src/service/limits.ts';
import { until } from '../support/until.ts';
import { serviceForSuite } from './support.ts';

const MIB = 1024 * 1024;
const SLOW_MS = 2000;
const { client } = serviceForSuite({ limits: { slowMs: SLOW_MS } }, { logs: [{ n: 1 }] });

interface Exchange {
  readonly socket: Socket;
  text(): string;
  /** `closed`, or the code of an error; empty while it is open. */
  end(): string;
}

function open(head: string): Exchange {
  const socket = connect({ port: Number(new URL(client.url).port), host: '127.0.0.1' });
  let [text, end] = ['', ''];
  socket.on('error', (error: NodeJS.ErrnoException) => (end = error.code!)).on('close', () => (end ||= 'closed'));
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write(head);
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text, end: () => end };
}

type Headers = Readonly<Record<string, string | number>>;
const headOf = (route: string, headers: Headers): string =>
  `${route} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** Sends all of the body, in pieces, and only then reads, as simple clients do. */
async function sendAll(route: string, headers: Headers, length: number): Promise<Exchange> {
  const sent = open(headOf(route, { ...headers, 'Content-Length': length }));
  sent.socket.pause();
  for (let left = length; left > 0 && sent.end() === ''; left -= 64 * 1024)
    await new Promise((done) => sent.socket.write('x'.repeat(Math.min(left, 64 * 1024)), done));
  sent.socket.resume();
  return sent;
}

/** Routes that take a body: what an honest 1 KiB and 1 MiB are answered, besides clients that stall on it. */
const ROUTES: readonly (readonly [route: string, body: (filler: string) => object, short: number, long: number])[] = [
  ['POST /v1/ingest/logs', (text) => [{ text }], 200, 200],
  ['POST /v1/query/_apl?format=tabular', (text) => ({ apl: `logs | count // ${text}` }), 200, 400],
  ['POST /v1/datasets/logs/query', (text) => ({ startTime: 'now-1h', queryOptions: { text } }), 200, 200],
  [
    'POST /v2/apl-starred-queries',
    (text) => ({ name: 'all', dataset: 'logs', query: { apl: `logs // ${text}` } }),
    200,
    400,
  ],
  ['POST /v2/annotations', (text) => ({ datasets: ['logs'], type: 'deploy', title: 'x', description: text }), 200, 400],
  [
    'POST /v2/tokens',
    (text) => ({ name: `t${Math.random()}`, description: text, orgCapabilities: { datasets: ['read'] } }),
    200,
    400,
  ],
  [
    'POST /v2/users',
    (text) => ({ name: 'Ada', email: `a${Math.random()}@example.org`, role: 'user', more: text }),
    400,
    400,
  ],
  [
    'POST /v2/vfields',
    (text) => ({ dataset: 'logs', name: `f${Math.random()}`, expression: '1', description: text }),
    200,
    400,
  ],
  ['PUT /v2/datasets/logs/fields/n', (text) => ({ description: text }), 200, 400],
];
const owner = (): Headers => ({ Authorization: `Bearer ${client.personalToken}`, 'X-Service-Org-ID': client.orgId });
const api = (): Headers => ({ Authorization: `Bearer ${client.apiToken}` });
const callerOf = (route: string): Headers => (/ingest/.test(route) ? api() : owner());
const TYPE = { 'Content-Type': 'application/json' };

// Symptom: a client with `Connection: close`, as Python's urllib does, lost the answer to a body that was too large.
describe.each(['close', 'keep-alive'])(
  'an answer before the end of a body reaches a client with Connection: %s',
  (connection) => {
    test.each(ROUTES)('%s, 413', async (route) => {
      const length = route.includes('ingest') ? 11 * MIB : SERVICE_JSON_BYTES + 1;
      for (let n = 0; n < 3; n++) {
        const sent = await sendAll(route, { ...callerOf(route), ...TYPE, Connection: connection }, length);
        await until('its answer', () => sent.text().includes('}') || sent.end() !== '');
        expect(sent.text()).toMatch(/^HTTP\/1\.1 413 [^]*the body is larger than \d+ bytes/);
        await until('its end', () => sent.end() !== '' || !/^connection: close/im.test(sent.text()));
        expect(sent.end()).toMatch(/^(?:closed|)$/);
      }
    });

    test.each([
      ['403', 'POST /v2/tokens', { Authorization: 'Bearer nobody' }],
      ['403', 'POST /v1/ingest/logs', { Authorization: 'Bearer nobody' }],
      ['415', 'POST /v1/query/_apl', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ['413', 'POST /v1/nothing', {}],
      ['413', 'POST /nothing', { Authorization: '' }],
      ['415', 'POST /v2/tokens', { 'Content-Type': 'text/plain' }],
    ])('%s of %s', async (status, route, headers) => {
      const sent = await sendAll(route, { ...owner(), ...TYPE, ...headers, Connection: connection }, 20 * MIB);
      await until('its answer', () => sent.text().includes('}') || sent.end() !== '');
      expect(sent.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*"message":"`));
      if (connection === 'close') await until('its end', () => sent.end() !== '');
      expect(sent.end()).toMatch(/^(?:closed|)$/);
    });

    test('413 of a body without a length', async () => {
      const sent = open(
        headOf('POST /v2/tokens', { ...owner(), ...TYPE, Connection: connection, 'Transfer-Encoding': 'chunked' }),
      );
      sent.socket.pause();
      for (let n = 0; n < 40; n++)
        await new Promise((done) => sent.socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`, done));
      sent.socket.resume();
      await until('its answer', () => sent.text().includes('}') || sent.end() !== '');
      expect(sent.text()).toMatch(/^HTTP\/1\.1 413 /);
      sent.socket.write('0\r\n\r\n');
      if (connection === 'close') return until('its end', () => sent.end() === 'closed');
      sent.socket.write(headOf('GET /v1/datasets', { ...api(), Connection: 'close' }));
      await until('the answer to the next request', () => sent.end() === 'closed');
      expect(sent.text()).toContain('HTTP/1.1 200 ');
    });
  },
);

describe('clients that stall in a body', () => {
  test.each(ROUTES)(
    '%s: others are answered, and those that stall get a 408',
    { timeout: 60_000 },
    async (route, body, short, long) => {
      const [method, path] = route.split(' ') as [string, string];
      // On ingest a token shares places with itself.
      const greedy = await client.call('POST', '/v2/tokens', {
        token: client.personalToken,
        headers: { 'x-service-org-id': client.orgId },
        body: { name: `greedy ${route}`, datasetCapabilities: { '*': { ingest: ['create'] } } },
      });
      const of = route.includes('ingest')
        ? { Authorization: `Bearer ${String(greedy.json['token'])}` }
        : callerOf(route);
      const head = headOf(route, { ...of, ...TYPE, 'Content-Length': MIB });
      const stalled = Array.from({ length: 85 }, (_, n) => open(`${head}{"a":"${'x'.repeat(n * 700)}`));
      const ask = async (filler: string): Promise<string> => {
        const answer = await client.call(method, path, {
          token: route.includes('ingest') ? client.apiToken : client.personalToken,
          headers: { 'x-service-org-id': client.orgId },
          body: body(filler),
        });
        return `${answer.status} ${answer.status === 200 ? '' : String(answer.json['message']).length > 10}`.trim();
      };
      const asked: Promise<string>[] = [];
      for (let n = 0; n < 4; n++) asked.push(ask('k'.repeat(900)), ask('m'.repeat(MIB - 1000)));
      const wanted = (status: number): string => (status === 200 ? '200' : `${status} true`);
      expect([...new Set(await Promise.all(asked))].sort()).toEqual([...new Set([wanted(short), wanted(long)])].sort());
      await until('an answer to each', () => stalled.every((each) => each.text().includes('}') || each.end() !== ''));
      const statuses = new Set(
        stalled.map((each) => /^HTTP\/1\.1 (\d+) [^]*"message":"[^"]{10}/.exec(each.text())?.[1]),
      );
      expect(statuses).toEqual(new Set(route.includes('ingest') ? ['408', '429'] : ['408']));
      await until('their end', () => stalled.every((each) => each.end() !== ''));
    },
  );

  test('a 408 names the reason, and the part of the body that came is not stored', async () => {
    const event = '{"late":1}\n';
    const sent = open(
      headOf('POST /v1/ingest/logs', {
        ...api(),
        'Content-Type': 'application/x-ndjson',
        'Content-Length': event.length * 2,
      }),
    );
    sent.socket.write(event);
    await until('its answer', () => sent.text().includes('}'));
    expect(sent.text()).toMatch(/^HTTP\/1\.1 408 [^]*the body came too slowly: send at least \d+ KiB in each 2 s/);
    sent.socket.write(event);
    const { json } = await client.call('POST', '/v1/query/_apl?format=tabular', {
      body: { apl: 'logs | where late == 1 | count' },
    });
    expect((json['tables'] as { columns: unknown[][] }[])[0]!.columns).toEqual([[0]]);
  });
});

// Symptom: 1,024 connections that did nothing kept everybody else out.
test('connections that do nothing make room for others', { timeout: 60_000 }, async () => {
  const silent = Array.from({ length: SERVICE_CONNECTIONS + 200 }, (_, n) =>
    open(n % 2 === 0 ? '' : 'POST /v2/tokens HTTP/1.1\r\nHost: '),
  );
  await until('the first of them closed', () => silent[0]!.end() !== '');
  for (let n = 0; n < 5; n++) expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
  expect(silent.filter((each) => each.end() === '').length).toBeGreaterThan(SERVICE_CONNECTIONS - 20);
});

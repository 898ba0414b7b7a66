/** One token on a page, in an agent and in a program: whichever of them does too much, the others are answered. */
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { serviceForSuite, type Answer } from './support.ts';

const { client } = serviceForSuite({ limits: { slowMs: 4000 } }, { logs: [{ n: 1 }] });
type Headers = Readonly<Record<string, string>>;
const PAGE: Headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
const PROGRAM: Headers = { 'user-agent': 'tailrace/1.0' };
const ask = (headers: Headers, apl: string, more = ''): Promise<Answer> =>
  client.call('POST', `/v1/query/_apl?format=tabular${more}`, { headers, body: { apl } });
const ingest = (): Promise<Answer> =>
  client.call('POST', '/v1/ingest/logs', { headers: { 'content-type': 'application/x-ndjson' }, body: '{"n":2}' });
const SOME_WORK = 'range x from 1 to 6000000 step 1 | summarize dcount(hash_sha1(tostring(x)))';

test.each([
  ['a page', PAGE, PROGRAM],
  ['a program', PROGRAM, PAGE],
])(
  '%s that asks 40 queries at once lets one of the other pass after each, and all ingest',
  { timeout: 120_000 },
  async (_name, many, few) => {
    let answered = 0;
    const crowd = Array.from({ length: 40 }, async () => {
      const { status } = await ask(many, SOME_WORK);
      answered++;
      return status;
    });
    await until('the first of them', () => answered > 0);
    for (let n = 0; n < 3; n++) {
      const before = answered;
      expect((await ask(few, 'logs | count')).status).toBe(200);
      // The one that runs, and what ends while the requests are on their way.
      expect(answered - before).toBeLessThanOrEqual(4);
      expect((await ingest()).status).toBe(200);
    }
    expect(new Set(await Promise.all(crowd))).toEqual(new Set([200]));
  },
);

test('an agent whose 64 bodies stall keeps neither page nor program waiting', async () => {
  const head = `POST /v1/ingest/logs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${client.apiToken}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n[`;
  const answers: string[] = [];
  const stalled = Array.from({ length: 64 }, () => {
    const socket = connect(Number(new URL(client.url).port), '127.0.0.1', () => void socket.write(head));
    return socket.on('error', () => undefined).on('data', (chunk) => answers.push(String(chunk).slice(9, 12)));
  });
  onTestFinished(() => stalled.forEach((socket) => socket.destroy()));
  await until('half of them refused', () => answers.filter((status) => status === '429').length === 32);
  for (const headers of [PAGE, PROGRAM, PAGE, PROGRAM]) expect((await ask(headers, 'logs | count')).status).toBe(200);
  expect((await client.call('POST', '/v1/datasets', { body: { name: 'more' } })).status).toBe(200);
  await until('the others ended', () => answers.filter((status) => status === '408').length === 32);
  expect((await ingest()).status).toBe(200);
});

test('a page that holds as many queries open as it may leaves places for a program', async () => {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const statuses: number[] = [];
  const hold = async (headers: Headers): Promise<void> => {
    const options = { method: 'POST', signal: over.signal, body: JSON.stringify({ apl: 'logs | where n == -1' }) };
    const types = { 'content-type': 'application/json', authorization: `Bearer ${client.apiToken}` };
    const reply = await fetch(`${client.url}/v1/query/_apl?streaming-duration=60s`, {
      ...options,
      headers: { ...types, ...headers },
    });
    statuses.push(reply.status);
  };
  for (let n = 0; n < 260; n++) hold(PAGE).catch(() => undefined);
  await until('the refusals', () => statuses.length === 4);
  expect(statuses).toEqual([429, 429, 429, 429]);
  const held = ask(PROGRAM, 'logs | where n == -1', '&streaming-duration=60s');
  await until('it waits', async () =>
    /^tailrace_service_open_streams 257$/m.test(await (await fetch(`${client.url}/metrics`)).text()),
  );
  expect((await ingest()).status).toBe(200);
  expect((await held).status).toBe(200);
});

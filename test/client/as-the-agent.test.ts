/**
 * `ingestStream` beside the agent's delivery: both get the same answers to the same events under the same key, and send the same requests.
 * The answers are those of the table in docs/delivery.md. The differences are the client's own patience (retry.ts; a 501 ends it at once), and
 * that it ends where the service stores nothing at all.
 */
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/client/classify.ts';
import { createClient } from '../../src/client/client.ts';
import { ingestStream } from '../../src/client/ingest/ingest-stream.ts';
import { CLIENT_INGEST_TRIES } from '../../src/client/limits.ts';
import { DeliveryRig } from '../batcher/delivery-rig.ts';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { until } from '../support/until.ts';
import { testTiming } from './timing.ts';

type Compression = 'gzip' | 'zstd' | 'none';
/** What a service answers to the request number `count` with these events, in this encoding. */
type Service = (
  events: readonly string[],
  encoding: string,
  count: number,
) => readonly [status: number, body: unknown, headers?: Record<string, string>];

interface Sent {
  readonly key: string;
  readonly encoding: string;
  readonly events: readonly string[];
}

interface Run {
  readonly sent: readonly Sent[];
  readonly refused: readonly string[];
  /** `stopped`: paused, or rejected. */
  readonly end: 'settled' | 'stopped';
}

/** Compression makes them smaller: the agent sends what it does not as it is. */
const text = 'x'.repeat(500);
const EVENTS = Array.from({ length: 8 }, (_, n) => JSON.stringify({ n, text: n === 5 ? `bad ${text}` : text }));
const isBad = (event: string): boolean => event.includes('bad');
const stored = (events: readonly string[]) => [200, { ingested: events.length, failed: 0, failures: [] }] as const;

async function runAgent(service: Service, compression: Compression): Promise<Run & { readonly key: string }> {
  const rig = new DeliveryRig({ compression });
  const sent: Sent[] = [];
  rig.respond = ({ sent: request, events }) => {
    const [status, body, headers = {}] = service(events, request.encoding, sent.length);
    sent.push({ key: request.key, encoding: request.encoding, events });
    const answer = { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
    return { outcome: classify({ kind: 'answer', ...answer }, events.length, 0), status };
  };
  const { key } = rig.seal('batch', 0, { events: EVENTS });
  await until('the end', async () => {
    if (rig.paused.length > 0 || rig.queue.sending.length === 0) return true;
    await rig.clock.advance(1000);
    return false;
  });
  await rig.delivery.stop();
  const letters = [...rig.letters.values()].flat();
  return {
    key,
    sent,
    refused: letters.map(({ event }) => Buffer.from(event).toString()).sort(),
    end: rig.paused.length > 0 ? 'stopped' : 'settled',
  };
}

async function runClient(service: Service, compression: Compression, key: string): Promise<Run> {
  const fake = await FakeService.start();
  const client = createClient({ url: fake.url, timing: testTiming() });
  await client.datasets.create({ name: 'logs' });
  // Retries after an unusual answer want a service that has stored events.
  await client.ingest('logs', '{"first":true}', { format: 'ndjson', idempotencyKey: 'first' });
  const sent: Sent[] = [];
  fake.respond = (request, response) => {
    const events = request.body.toString().split('\n');
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const [status, body, headers = {}] = service(events, encoding, sent.length);
    sent.push({ key: request.key, encoding, events });
    replyWith(response, status, body, headers);
  };
  const refused: string[] = [];
  let end: Run['end'] = 'settled';
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(EVENTS.map((event) => `${event}\n`).join(''));
  }
  try {
    await ingestStream(client, 'logs', source(), {
      ...{ format: 'ndjson', key, compression },
      onFailed: ({ lines: [first, last] }) => void refused.push(...EVENTS.slice(first - 1, last)),
    });
  } catch {
    end = 'stopped';
  }
  await client.close();
  return { sent, refused: refused.sort(), end };
}

const BODIES: Record<string, unknown> = {
  'a message': { code: 1, message: 'no' },
  'a page': '<html><title>Refused</title></html>',
  nothing: '',
  'what nginx says to a plain request': '<title>400 The plain HTTP request was sent to HTTPS port</title>',
};
const STATUSES = [201, 202, 204, 301, 302, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413]
  .concat([414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 429, 430, 431, 451, 499])
  .concat([500, 502, 503, 504, 505, 507, 511, 520, 529, 599]);
const COMPRESSIONS: readonly Compression[] = ['gzip', 'zstd', 'none'];

const services = new Map<string, Service>([
  ['stores all', (events) => stored(events)],
  ['takes four events at most', (events) => (events.length > 4 ? [413, ''] : stored(events))],
  [
    'takes one event at most, and not the bad one',
    (all) => (all.length > 1 || isBad(all[0]!) ? [413, ''] : stored(all)),
  ],
  ['takes no zstd', (events, encoding) => (encoding === 'zstd' ? [415, ''] : stored(events))],
  ['takes plain bodies alone', (events, encoding) => (encoding === 'identity' ? stored(events) : [415, ''])],
  ['takes no body', () => [415, '']],
  [
    'takes no gzip, and not the bad event',
    (events, encoding) => (encoding === 'gzip' ? [415, ''] : events.some(isBad) ? [400, ''] : stored(events)),
  ],
  [
    'names the bad event',
    (events) => {
      const failures = events.flatMap((event, index) => (isBad(event) ? [{ index, timestamp: '', error: 'bad' }] : []));
      return [200, { ingested: events.length - failures.length, failed: failures.length, failures }];
    },
  ],
  ['gives a page once', (events, _encoding, count) => (count === 0 ? [200, BODIES['a page']] : stored(events))],
  ['asks for a wait', (events, _encoding, count) => (count === 0 ? [429, '', { 'retry-after': '2' }] : stored(events))],
]);
for (const status of STATUSES)
  for (const [name, body] of Object.entries(BODIES)) {
    services.set(`answers ${status} with ${name} once`, (events, _encoding, count) =>
      count === 0 ? [status, body] : stored(events),
    );
    if (status < 400 || [401, 403, 404, 408, 429, 430].includes(status) || status >= 500) continue;
    services.set(`answers ${status} with ${name} to the bad event`, (events, _encoding, count) =>
      // Who speaks TLS says so whatever is sent: that is sent again without an end.
      events.some(isBad) && (status !== 400 || body !== BODIES['what nginx says to a plain request'] || count === 0)
        ? [status, body]
        : stored(events),
    );
  }

describe.each(COMPRESSIONS)('ingest stream with compression %s sends what the agent sends', (compression) => {
  test.each([...services])('to a service that %s', async (_name, service) => {
    const { key, ...agent } = await runAgent(service, compression);
    const client = await runClient(service, compression, key);
    expect(client.sent).toEqual(agent.sent);
    const isNothingStored = agent.end === 'settled' && agent.refused.length === EVENTS.length;
    if (isNothingStored) expect(client).toMatchObject({ end: 'stopped', refused: [] });
    else expect(client).toEqual(agent);
  });
});

test('ingest stream ends where the agent goes on for ever, after the tries of the client', async () => {
  const service: Service = () => [503, ''];
  const { sent, end } = await runClient(service, 'none', 'key');
  expect([sent.length, end]).toEqual([CLIENT_INGEST_TRIES, 'stopped']);
  expect(new Set(sent.map((each) => each.key)).size).toBe(1);
});

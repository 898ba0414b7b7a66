/** Queries that are ended in mid-query, on the embedded engine. Each would run into its limit: it joins every event with every other, twice. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { SERVICE_WAITING_QUERIES } from '../../src/service/limits.ts';
import { until } from '../support/until.ts';
import { serviceForSuite, tableOf, type Answer } from './support.ts';

const EVENTS = 10_000;
const LONG = 'logs | join kind=inner (logs) on k | join kind=inner (logs) on k | count';
const HEADER = 'X-Service-Query-Id';

const { client } = serviceForSuite(
  { limits: { querySeconds: 30 } },
  { logs: Array.from({ length: EVENTS }, (_, n) => ({ k: 1, n })) },
);
let ids = 0;

type State = string | undefined;
const states = async (): Promise<Map<string, State>> => {
  const { json } = await client.call('GET', '/v1/queries');
  return new Map((json as unknown as { id: string; state: string }[]).map(({ id, state }) => [id, state]));
};
const stateOf = async (id: string): Promise<State> => (await states()).get(id);
const end = async (id: string): Promise<number> => (await client.call('DELETE', `/v1/queries/${id}`)).status;
const ask = (apl: string, headers = {}): Promise<Answer> =>
  client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl }, headers });

/** A long query, and a client of its own that can leave. */
function begin() {
  const id = `long-${ids++}`;
  const leaving = new AbortController();
  const answer = fetch(`${client.url}/v1/query/_apl?format=tabular`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.apiToken}`, 'content-type': 'application/json', [HEADER]: id },
    body: JSON.stringify({ apl: LONG }),
    signal: leaving.signal,
  }).then(
    async (reply) => [reply.status, ((await reply.json()) as { message: string }).message] as const,
    () => undefined,
  );
  onTestFinished(async () => void (await end(id)));
  return { id, answer, leave: () => leaving.abort() };
}

/** Resolves once it runs. */
async function beginRunning() {
  const begun = begin();
  await until('the query to run', async () => (await stateOf(begun.id)) === 'running');
  return begun;
}

describe('a query that runs', () => {
  test('is ended by DELETE, says so, and leaves the engine free', async () => {
    const { id, answer } = await beginRunning();
    expect([await end(id), await stateOf(id), await end(id)]).toEqual([204, undefined, 404]);
    expect(await answer).toEqual([499, `the query was ended: DELETE /v1/queries/${id} asked for it`]);
    expect(tableOf(await ask('logs | count')).rows).toEqual([[EVENTS]]);
  });

  test('is ended by a client that leaves', async () => {
    const { id, answer, leave } = await beginRunning();
    leave();
    expect(await answer).toBeUndefined();
    await until('the query to be gone', async () => (await stateOf(id)) === undefined);
  });

  test('is listed and ended by the client of the package, whose signal ends it, too', async () => {
    const own = createClient({ url: client.url, token: client.apiToken });
    onTestFinished(() => own.close());
    const first = own.query(LONG, { queryId: 'by-id' });
    await until('the query to be listed', async () => (await own.queries.list()).some(({ id }) => id === 'by-id'));
    await Promise.all([expect(first).rejects.toThrow(/the query was ended/), own.queries.end('by-id')]);
    const aborting = new AbortController();
    const second = own.query(LONG, { queryId: 'by-signal', signal: aborting.signal });
    await until('the query to be listed', async () => (await stateOf('by-signal')) !== undefined);
    aborting.abort();
    await expect(second).rejects.toThrow(/abort/i);
    await until('the query to be gone', async () => (await stateOf('by-signal')) === undefined);
  });
});

test('a query that waits for its turn ends when its client leaves, and by DELETE', async () => {
  // More than run at a time.
  const all = Array.from({ length: 12 }, begin);
  await until('all to be listed', async () => (await states()).size === all.length);
  const waiting = [...(await states())].filter(([, state]) => state === 'waiting').map(([id]) => id);
  expect(waiting.length).toBeGreaterThan(1);
  const left = all.find(({ id }) => id === waiting[0])!;
  left.leave();
  await until('the query to be gone', async () => (await stateOf(left.id)) === undefined);
  expect([await end(waiting[1]!), await stateOf(waiting[1]!)]).toEqual([204, undefined]);
  for (const { id } of all) await end(id);
  await Promise.all(all.map(({ answer }) => answer));
  expect(await states()).toEqual(new Map());
});

test('where too many wait, the rest are asked to come again', async () => {
  const { id, answer } = await beginRunning();
  const waiting = Array.from({ length: SERVICE_WAITING_QUERIES + 20 }, () => ask('logs | count'));
  const refused = await Promise.any(
    waiting.map(async (one) => ((await one).status === 429 ? one : Promise.reject(new Error('taken')))),
  );
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect([await end(id), (await answer)?.[0]]).toEqual([204, 499]);
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(SERVICE_WAITING_QUERIES);
});

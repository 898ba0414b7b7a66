/**
 * Queries ended in mid-query, while others ingest and ask: nothing is lost or stored twice, and after each end the service answers as
 * before. The judge knows every request and its answer.
 */
import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { startClickhouse } from '../support/clickhouse.ts';
import { until } from '../support/until.ts';
import { run } from './serve-command.ts';
import { clientOf, tableOf, tempDir, type Answer, type Client, type EngineUnderTest } from './support.ts';

const EVENTS = 10_000;
/** Joins every event with every other, twice: no machine ends it within the limit of such a test. */
const LONG = 'logs | join kind=inner (logs) on k | join kind=inner (logs) on k | count';
const SENDERS = 4;
const BATCH = 100;

const TOKEN = 'ends-token';

const ask = (client: Client, apl: string): Promise<Answer> =>
  client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl } });
const rowsOf = async (client: Client, apl: string): Promise<readonly unknown[][]> => {
  const answer = await ask(client, apl);
  expect([apl, answer.status, answer.text.slice(0, 300)]).toEqual([apl, 200, expect.anything()]);
  return tableOf(answer).rows;
};
const listed = async (client: Client): Promise<Map<string, string>> => {
  const { json } = await client.call('GET', '/v1/queries');
  return new Map((json as unknown as { id: string; state: string }[]).map(({ id, state }) => [id, state]));
};

/** One that runs: its answer (undefined for a client that left), and ways to end it. Undefined where it was answered before. */
async function tryBegin(client: Client, id: string) {
  const leaving = new AbortController();
  let isOver = false;
  const answer = fetch(`${client.url}/v1/query/_apl?format=tabular`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.apiToken}`,
      'content-type': 'application/json',
      'x-service-query-id': id,
    },
    body: JSON.stringify({ apl: LONG }),
    signal: leaving.signal,
  }).then(
    async (reply) => [reply.status, ((await reply.json()) as { message: string }).message] as const,
    () => undefined,
  );
  void answer.then(() => (isOver = true));
  await until('the query to run', async () => isOver || (await listed(client)).get(id) === 'running');
  if (isOver) return undefined;
  return {
    id,
    answer,
    leave: () => leaving.abort(),
    delete: async () => (await client.call('DELETE', `/v1/queries/${id}`)).status,
  };
}
type Begun = NonNullable<Awaited<ReturnType<typeof tryBegin>>>;
async function begin(client: Client, id: string): Promise<Begun> {
  let begun: Begun | undefined;
  await until('a query to run', async () => (begun = await tryBegin(client, id)) !== undefined);
  return begun!;
}

const ENDED = [499, expect.stringMatching(/^the query was ended/)];
/** The ways a query ends before its limit. */
const ENDS: readonly ((client: Client, query: Begun) => Promise<void>)[] = [
  async (_client, query) => expect([await query.delete(), await query.answer]).toEqual([204, ENDED]),
  async (client, query) => {
    query.leave();
    expect(await query.answer).toBeUndefined();
    await until('the query to be gone', async () => !(await listed(client)).has(query.id));
  },
  async (_client, query) => {
    const statuses = new Set(await Promise.all([query.delete(), query.delete(), query.delete()]));
    expect(statuses.has(204) && [...statuses].every((status) => status === 204 || status === 404)).toBe(true);
    expect(await query.answer).toEqual(ENDED);
  },
  // Replaced: its client leaves and asks another at once.
  async (client, query) => {
    query.leave();
    expect(await rowsOf(client, 'logs | count')).toEqual([[EVENTS]]);
    await until('the query to be gone', async () => !(await listed(client)).has(query.id));
  },
];

/** Sends batches under keys of their own until it is stopped; tries a batch again on request. */
function startIngest(client: Client) {
  const sent = { begun: 0, stored: 0, last: 0 };
  const ending = new AbortController();
  const put = async (key: string, first: number): Promise<Answer> => {
    const body = Array.from({ length: BATCH }, (_, n) => JSON.stringify({ n: first + n })).join('\n');
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': key };
    for (;;) {
      const answer = await client.call('POST', '/v1/ingest/stored', { headers, body });
      if (![429, 503].includes(answer.status)) return answer;
    }
  };
  const send = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const first = sent.begun;
      sent.begun += BATCH;
      const answer = await put(`from-${first}`, first);
      expect([answer.status, answer.json['ingested']]).toEqual([200, BATCH]);
      sent.stored += BATCH;
      sent.last = first;
    }
  };
  const senders = Array.from({ length: SENDERS }, send);
  // A failure shows when they are waited for.
  for (const sender of senders) sender.catch(() => undefined);
  return {
    sent,
    put,
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all(senders);
    },
  };
}

/** What a service must answer at any time: a small conformance test. */
async function checkAnswers(client: Client, { sent, put }: ReturnType<typeof startIngest>): Promise<void> {
  const { stored } = sent;
  const [[count, different] = []] = await rowsOf(client, 'stored | summarize count(), dcount(n)');
  expect(count).toBeGreaterThanOrEqual(stored);
  expect(count).toBeLessThanOrEqual(sent.begun);
  expect(Math.abs(Number(different) / Number(count) - 1)).toBeLessThan(0.1);
  expect(await rowsOf(client, 'stored | summarize times = count() by n | where times > 1 | count')).toEqual([[0]]);
  expect(await rowsOf(client, `logs | where n < 10 | summarize sum(n), min(n), max(n) by k`)).toEqual([[1, 45, 0, 9]]);
  expect(await rowsOf(client, 'logs | where n < 3 | join kind=inner (logs | where n < 3) on n | count')).toEqual([[3]]);
  const structured = { aggregations: [{ op: 'count' }], filter: { op: '<', field: 'n', value: 7 } };
  expect((await client.call('POST', '/v1/datasets/logs/query', { body: structured })).json['status']).toMatchObject({
    rowsMatched: 7,
  });
  expect((await ask(client, 'logs | wher x')).status).toBe(400);
  expect((await ask(client, 'none | count')).status).toBe(404);
  // A key that was stored before is not stored again.
  const again = await put(`from-${sent.last}`, sent.last);
  expect([again.status, again.json['ingested']]).toEqual([200, BATCH]);
}

async function endQueries(client: Client, times: number, isCluster: boolean): Promise<void> {
  for (const name of ['logs', 'stored']) await client.createDataset(name);
  await client.ingest(
    'logs',
    Array.from({ length: EVENTS }, (_, n) => ({ k: 1, n })),
  );
  const ingest = startIngest(client);
  for (let n = 0; n < times; n++) {
    const query = await begin(client, `long-${n}`);
    await until(
      'ingest to go on beside it',
      (
        (before) => () =>
          ingest.sent.stored > before
      )(ingest.sent.stored),
    );
    try {
      await ENDS[n % ENDS.length]!(client, query);
    } catch (error) {
      // Its server was away before it was ended.
      if (!isCluster || (await query.answer)?.[0] !== 503) throw error;
    }
    expect((await listed(client)).size).toBe(0);
    await checkAnswers(client, ingest);
  }
  await ingest.stop();
  const { begun } = ingest.sent;
  const last = 'stored | summarize count(), all = countif(n >= 0), first = min(n), last = max(n)';
  expect(await rowsOf(client, last)).toEqual([[begun, begun, 0, begun - 1]]);
  expect(await rowsOf(client, 'stored | summarize times = count() by n | where times > 1 | count')).toEqual([[0]]);
}

/** Asks again while a server of the cluster is away: the library that the servers are ends now and then when it ends a query. */
function patient(client: Client): Client {
  const call: Client['call'] = async (...asked) => {
    let answer: Answer | undefined;
    await until('the cluster to answer', async () => (answer = await client.call(...asked)).status !== 503);
    return answer!;
  };
  return { ...client, call };
}

/** The real command, in a process of its own. */
export async function testEnds(engine: EngineUnderTest, times: number): Promise<void> {
  const data = tempDir();
  const cluster = engine === 'clickhouse' ? await startClickhouse() : undefined;
  const { ready, ...program } = run(
    { data, json: true, memory: '4GiB', queryTimeout: '10m', ...(cluster && { engine: cluster.url }) },
    { TAILRACE_API_TOKEN: TOKEN },
  );
  try {
    const client = clientOf((await ready()).url, { apiToken: TOKEN, personalToken: '', orgId: '' }, { cluster });
    await endQueries(cluster ? patient(client) : client, times, cluster !== undefined);
    expect(program.process.exitCode).toBeNull();
    expect(await program.end()).toBe(0);
  } finally {
    await program.end('SIGKILL');
    await cluster?.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Queries that are ended in mid-query, on the embedded engine. Each would run into its limit: it joins every event with every other, twice. */
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { serviceForSuite, tableOf, type Answer } from './support.ts';

const EVENTS = 10_000;
const ENDS = Number(process.env['TAILRACE_TEST_ENDS'] ?? 20);
const LONG = 'logs | join kind=inner (logs) on k | join kind=inner (logs) on k | count';
const HEADER = 'X-Service-Query-Id';

const { client } = serviceForSuite(
  { limits: { querySeconds: 30 } },
  { logs: Array.from({ length: EVENTS }, (_, n) => ({ k: 1, n })), stored: [] },
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

/** A long query. */
function begin() {
  const id = `long-${ids++}`;
  const answer = fetch(`${client.url}/v1/query/_apl?format=tabular`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.apiToken}`, 'content-type': 'application/json', [HEADER]: id },
    body: JSON.stringify({ apl: LONG }),
  }).then(
    async (reply) => [reply.status, ((await reply.json()) as { message: string }).message] as const,
    () => undefined,
  );
  onTestFinished(async () => void (await end(id)));
  return { id, answer };
}

/** Resolves once it runs. */
async function beginRunning() {
  const begun = begin();
  await until('the query to run', async () => (await stateOf(begun.id)) === 'running');
  return begun;
}

test(`${ENDS} queries ended in mid-query beside 20 ingests at a time lose no event and store none twice`, async () => {
  let sent = 0;
  const ending = { isOver: false };
  const ingest = async (): Promise<void> => {
    while (!ending.isOver) {
      const body = Array.from({ length: 50 }, () => ({ n: sent++ }));
      await client.ingest('stored', body, { headers: { 'idempotency-key': `from-${body[0]!.n}` } });
    }
  };
  const ingests = Array.from({ length: 20 }, ingest);
  for (let n = 0; n < ENDS; n++) {
    const { id, answer } = await beginRunning();
    if (n % 2 === 0) expect([await end(id), (await answer)![0]]).toEqual([204, 499]);
    else expect(await end(id)).toBe(204);
  }
  ending.isOver = true;
  await Promise.all(ingests);
  const { rows } = tableOf(await ask('stored | summarize count(), all = countif(n >= 0), first = min(n), last = max(n)'));
  expect(rows).toEqual([[sent, sent, 0, sent - 1]]);
  const { rows: twice } = tableOf(await ask('stored | summarize times = count() by n | where times > 1 | count'));
  expect(twice).toEqual([[0]]);
});

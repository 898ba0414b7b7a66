/** What no end of a query touches, in the real command: queries whose clients wait, and the engine. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { API_TOKEN, localService, PERSONAL_TOKEN, type LocalService } from '../support/local-service.ts';
import { until } from '../support/until.ts';

const EVENTS = 10_000;
const LIMIT_S = 5;
/** Joins every event with every other, twice: it runs into its limit. */
const LONG = 'logs | join kind=inner (logs) on k | join kind=inner (logs) on k | count';

const fill = ({ ask }: LocalService): Promise<unknown> =>
  ask(
    'POST',
    '/v1/ingest/logs',
    Array.from({ length: EVENTS }, (_, n) => ({ k: 1, n })),
  );
const HEADERS = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' };
type Listed = { id: string; state: string; startTime: string };

/** A long query that runs. */
async function begin({ url, ask }: LocalService, id: string) {
  const headers = { ...HEADERS, 'x-service-query-id': id };
  const since = performance.now();
  const answer = fetch(`${url}/v1/query/_apl?format=tabular`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ apl: LONG }),
  }).then(async (reply) => ({
    status: reply.status,
    text: await reply.text(),
    seconds: (performance.now() - since) / 1000,
  }));
  const list = async (): Promise<Listed | undefined> =>
    ((await ask('GET', '/v1/queries')) as Listed[]).find((one) => one.id === id);
  await until('it to run', async () => (await list())?.state === 'running');
  return { answer, list };
}

describe('a query whose client waits', () => {
  const service = localService('logs', fill, ['--memory', '4GiB', '--query-timeout', `${LIMIT_S}s`]);

  test('runs into its limit, never before it, however many others wait, come, fail and are ended', async () => {
    const { answer } = await begin(service, 'waited-for');
    const over = new AbortController();
    void answer.then(() => over.abort());
    const ended: number[] = [];
    const askOne = async (id: string, apl: string): Promise<void> => {
      const headers = { ...HEADERS, 'x-service-query-id': id };
      const other = await fetch(`${service.url}/v1/query/_apl?format=tabular`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ apl }),
      });
      ended.push(other.status);
    };
    const others = Array.from({ length: 6 }, async (_, n) => {
      for (let round = 0; !over.signal.aborted; round++) {
        const id = `other-${n}-${round}`;
        if (n % 2 === 1) await askOne(id, 'logs | count');
        else {
          const asked = askOne(id, LONG);
          const end = async (): Promise<boolean> =>
            (await fetch(`${service.url}/v1/queries/${id}`, { method: 'DELETE', headers: HEADERS })).status === 204;
          await until('it to be ended', end);
          await asked;
        }
      }
    });
    const { status, text, seconds } = await answer;
    await Promise.all(others);
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { message: `the query ran over its time limit of ${LIMIT_S} s` },
    ]);
    expect(seconds).toBeGreaterThanOrEqual(LIMIT_S);
    expect(new Set(ended)).toEqual(new Set([200, 499]));
  });
});

describe('the engine', () => {
  const service = localService('logs', fill, ['--memory', '4GiB', '--query-timeout', '10m']);

  test('is never ended with a query: one runs on while thirty others of its token are ended, long before a second and in a row', async () => {
    const { answer, list } = await begin(service, 'stays');
    onTestFinished(async () => void (await answer));
    const { startTime } = (await list())!;
    for (let n = 0; n < 30; n++) {
      const other = await begin(service, `ended-${n}`);
      await service.ask('POST', '/v1/ingest/logs', [{ n }]);
      await service.ask('DELETE', `/v1/queries/ended-${n}`);
      expect((await other.answer).status).toBe(499);
      expect(await list()).toMatchObject({ state: 'running', startTime });
    }
    expect(await service.aggregate('logs', [{ op: 'count' }])).toEqual([EVENTS + 30]);
    await service.ask('DELETE', '/v1/queries/stays');
    expect((await answer).status).toBe(499);
    expect(service.program.process.exitCode).toBeNull();
  });

  test('ends no query for another token', async () => {
    const { answer, list } = await begin(service, 'mine');
    onTestFinished(async () => void (await answer));
    const headers = { authorization: `Bearer ${PERSONAL_TOKEN}`, 'x-service-org-id': 'test-org' };
    for (const id of ['mine', '*', '%25', '%2A', "'%20or%201"]) {
      const { status } = await fetch(`${service.url}/v1/queries/${id}`, { method: 'DELETE', headers });
      expect([id, status]).toEqual([id, 404]);
    }
    expect(await (await fetch(`${service.url}/v1/queries`, { headers })).json()).toEqual([]);
    expect(await list()).toMatchObject({ state: 'running' });
    await service.ask('DELETE', '/v1/queries/mine');
    expect((await answer).status).toBe(499);
  });
});

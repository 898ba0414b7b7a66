/** What a status says of the time that its query waited for its turn. A made engine holds a query until the test lets it go, and the clock is the test's. */
import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import type { Engine, EngineResult, ResultRows } from '../../src/service/engine/engine.ts';
import { FairBudget } from '../../src/service/fairness/fair-budget.ts';
import { SERVICE_TOLD_WAIT_MS } from '../../src/service/limits.ts';
import { QUERY_PARAMETERS } from '../../src/service/query/apl-request.ts';
import { openQueries, type QueryParts } from '../../src/service/query/queries.ts';
import { openRunningQueries } from '../../src/service/query/running-queries.ts';
import { QueryTurns } from '../../src/service/query/turns.ts';
import { settleTurns } from '../support/until.ts';

const rows: ResultRows = {
  length: 0,
  at: () => undefined,
  take: () => rows,
  filter: () => rows,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};
const NOTHING: EngineResult = { rows, rowsRead: 0, bytesRead: 0 };

afterEach(() => void vi.useRealTimers());

function open() {
  const going: (() => void)[] = [];
  const engine = {
    knownExtent: () => undefined,
    query: () => new Promise<EngineResult>((resolve) => going.push(() => resolve(NOTHING))),
  } as unknown as Engine;
  const running = openRunningQueries('X-Service-');
  const parts = {
    engine,
    countQuery: () => undefined,
    columnsOf: () => [],
    replyBytes: 2 ** 20,
    replies: new FairBudget(2 ** 30, 10),
    headerPrefix: 'X-Service-',
    running,
    turns: new QueryTurns(1, () => undefined),
  };
  const { apl } = openQueries(parts as unknown as QueryParts);
  const caller = { token: 'one', require: () => undefined };
  const ask = async (): Promise<{ status: { elapsedTime: number; messages: { code: string; msg: string }[] } }> => {
    const request = { caller, headers: {}, startedAt: performance.now() } as unknown as FastifyRequest;
    const raw = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false });
    let text = '';
    const reply = {
      raw,
      header: () => reply,
      type: () => reply,
      send: (body: Buffer) => ((text = String(body)), reply),
    } as unknown as FastifyReply;
    await apl({
      body: () => ({ apl: 'print 1', endTime: 'now' }),
      query: () => QUERY_PARAMETERS.parse({}),
      request,
      reply,
    });
    return JSON.parse(text) as Awaited<ReturnType<typeof ask>>;
  };
  /** Answers every call until the query is answered. */
  const letGo = async <T>(answer: Promise<T>): Promise<T> => {
    const answered = answer.then(() => true);
    while (!(await Promise.race([answered, settleTurns(1)]))) for (const go of going.splice(0)) go();
    return answer;
  };
  return { ask, letGo, states: () => running.list(caller as never).map(({ state }) => state) };
}

test.each([
  [SERVICE_TOLD_WAIT_MS, []],
  [
    2500,
    [
      {
        priority: 'warn',
        count: 1,
        code: 'query_waited',
        msg: 'the query waited 2.5 s of elapsedTime for its turn: others ran',
      },
    ],
  ],
])('a query that waited %d ms says so when that is over 1 s', async (ms, messages) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { ask, letGo, states } = open();
  const first = ask();
  await settleTurns();
  const second = ask();
  await settleTurns();
  expect(states()).toEqual(['running', 'waiting']);
  vi.advanceTimersByTime(ms);
  expect((await letGo(first)).status.messages).toEqual([]);
  const { status } = await letGo(second);
  expect(status.messages).toEqual(messages);
  expect(status.elapsedTime).toBeGreaterThanOrEqual(ms * 1000);
  expect(states()).toEqual([]);
});

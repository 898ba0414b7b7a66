/**
 * Kill -9 at random moments during concurrent ingest, restart on the same folder, send every unanswered key again: every event is there
 * once. The judge is the engine's own SQL over the sequence numbers, asked without the service. On the cluster the servers are killed, too.
 * TAILRACE_TEST_KILLS sets how many kills; 200 were run for docs/service.md.
 */
import { randomInt } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_LIMITS, queryLimitsOf } from '../../src/service/limits.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';
import type { Program } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { run } from './serve-command.ts';
import { clientOf, type Client } from './support.ts';

const KILLS = Number(process.env['TAILRACE_TEST_KILLS'] ?? 5);
const TOKEN = 'crash-token';
const HAS_OWN_COLUMNS = "select count() from system.columns where table = 'ds_1' and name = 'all_i'";
/** Field `seq` has a column of its own by the end, as a rule, beside the map that held it before: `all_i` is both. */
const sumsOf = (map: string): string =>
  `select count(), uniqExact(${map}['seq']), sum(${map}['seq']), min(${map}['seq']), max(${map}['seq']) from`;
const sumsBy = (hasOwnColumns: unknown): string => sumsOf(Number(hasOwnColumns) === 0 ? 'i' : 'all_i');

interface Running {
  readonly program: Program;
  readonly client: Client;
}

async function start(data: string, engine: string): Promise<Running> {
  const { ready, ...program } = run({ data, engine, json: true }, { TAILRACE_API_TOKEN: TOKEN });
  return { program, client: clientOf((await ready()).url, { apiToken: TOKEN, personalToken: '', orgId: '' }) };
}

/** A batch without an answer. */
interface Batch {
  readonly from: number;
  readonly count: number;
}

/** Sends under the key; false when no 200 came. A batch spreads over three years, so that one insert makes several parts. */
async function send(client: Client, key: string, { from, count }: Batch): Promise<boolean> {
  const events = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ _time: `${2023 + (n % 3)}-05-05T00:00:00Z`, seq: from + n }),
  );
  const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': key };
  try {
    const answer = await client.call('POST', '/v1/ingest/logs', { headers, body: events.join('\n') });
    if (answer.status !== 503) expect([answer.status, answer.json['ingested']]).toEqual([200, count]);
    return answer.status === 200;
  } catch (error) {
    if (error instanceof TypeError) return false; // fetch: the service is gone
    throw error;
  }
}

/** `kill` makes something die after a while and resolves once everything runs again. Returns how many events were sent. */
async function storm(
  data: string,
  engine: string,
  kill: (running: Running, nth: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const open = new Map<string, Batch>();
  let running = await start(data, engine);
  try {
    await running.client.createDataset('logs');
    for (let nth = 0; nth < KILLS; nth++) {
      const over = new AbortController();
      const senders = [1, 2, 3, 4].map(async () => {
        while (!over.signal.aborted) {
          const [key, batch] = [`key-${next}`, { from: next, count: randomInt(1, 2000) }];
          next += batch.count;
          open.set(key, batch);
          if (await send(running.client, key, batch)) open.delete(key);
          else return;
        }
      });
      await kill(running, nth);
      over.abort();
      await Promise.all(senders);
      if (running.program.process.exitCode !== null || running.program.process.signalCode !== null)
        running = await start(data, engine);
      for (const [key, batch] of open) {
        expect(await send(running.client, key, batch)).toBe(true);
        open.delete(key);
      }
    }
    // However little was stored between the kills, there are own columns now, unless the machine is too slow for them.
    for (const count of [5000, 10]) {
      expect(await send(running.client, `last-${count}`, { from: next, count })).toBe(true);
      next += count;
    }
    return next;
  } finally {
    await running.program.end('SIGTERM');
  }
}

const someTime = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, randomInt(5, 400)));
const exactly = (count: number): string[] => [count, count, (count * (count - 1)) / 2, 0, count - 1].map(String);

test(
  `the embedded engine has every event once after ${KILLS} kills`,
  async () => {
    const data = makeTree({});
    const sent = await storm(data, 'embedded', async ({ program }) => {
      await someTime();
      await program.end('SIGKILL');
    });
    const engine = await openChdb(data, { limits: queryLimitsOf(DEFAULT_LIMITS), sync: false });
    const [[hasOwnColumns] = []] = await engine.ask(HAS_OWN_COLUMNS);
    const [sums] = await engine.ask(`${sumsBy(hasOwnColumns)} ds_1`);
    await engine.close();
    expect(sums!.map(String)).toEqual(exactly(sent));
  },
  60_000 + KILLS * 20_000,
);

test(
  `a cluster has every event once after ${KILLS} kills of the service or of one of its servers`,
  async () => {
    const cluster: ClickhouseCluster = await startClickhouse();
    onTestFinished(() => cluster.stop());
    const sent = await storm(makeTree({}), cluster.url, async ({ program }, nth) => {
      await someTime();
      const server = nth % 3 === 0 ? undefined : cluster.servers[(nth % 3) - 1]!;
      if (server === undefined) return void (await program.end('SIGKILL'));
      await server.kill();
      await someTime();
      await server.restart();
    });
    const sums = sumsBy(await cluster.ask(0, HAS_OWN_COLUMNS));
    expect((await cluster.ask(0, `${sums} tailrace_test.ds_1`)).split('\t')).toEqual(exactly(sent));
  },
  60_000 + KILLS * 20_000,
);

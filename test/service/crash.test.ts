/**
 * Kill -9 at random moments during concurrent ingest, restart on the same folder, send every unanswered key again: every event is there
 * once. The judge is the query's count and sums over the sequence numbers.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientOf, tempDir, totalsOf, type Client } from './support.ts';

const KILLS = Number(process.env['TAILRACE_TEST_KILLS'] ?? 10);
const TOKEN = 'crash-token';

async function start(data: string): Promise<{ child: ChildProcess; client: Client }> {
  const script = join(import.meta.dirname, 'serve-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify({ listen: '127.0.0.1:0', data, json: true })], {
    env: { PATH: process.env['PATH'], TAILRACE_API_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', () => reject(new Error(`serve ended: ${err}`)));
  });
  return { child, client: clientOf((JSON.parse(line) as { url: string }).url, { apiToken: TOKEN, personalToken: '', orgId: '' }) };
}

test(
  `service stores every event once through ${KILLS} kills`,
  async () => {
    const data = tempDir();
    let next = 0;
    /** Batches by key, those without an answer. A batch spreads over three years, so that one insert makes several parts. */
    const open = new Map<string, { from: number; count: number }>();
    let answered = 0;
    const send = async (client: Client, key: string): Promise<void> => {
      const { from, count } = open.get(key)!;
      const events = Array.from({ length: count }, (_, n) => ({ _time: `${2023 + (n % 3)}-05-05T00:00:00Z`, seq: from + n }));
      const answer = await client.ingest('logs', events, { headers: { 'idempotency-key': key } });
      expect(answer.json).toMatchObject({ ingested: count, failed: 0 });
      open.delete(key);
      answered += count;
    };

    let { child, client } = await start(data);
    try {
      await client.createDataset('logs');
      for (let kill = 0; kill < KILLS; kill++) {
        const exited = new Promise((resolve) => child.once('exit', resolve));
        const pid = child;
        setTimeout(() => pid.kill('SIGKILL'), randomInt(5, 400));
        await Promise.all(
          [1, 2, 3, 4].map(async () => {
            for (;;) {
              const count = randomInt(1, 2000);
              const key = `key-${next}`;
              open.set(key, { from: next, count });
              next += count;
              try {
                await send(client, key);
              } catch (error) {
                if (error instanceof TypeError) return; // fetch: the service is gone
                throw error;
              }
            }
          }),
        );
        await exited;
        ({ child, client } = await start(data));
        for (const key of [...open.keys()]) await send(client, key);
      }
      const ops = ['count', 'distinct', 'sum', 'min', 'max'].map((op) => ({ op, field: op === 'count' ? '*' : 'seq' }));
      expect(answered).toBe(next);
      expect(totalsOf(await client.query('logs', { aggregations: ops }))).toEqual({
        COUNT: next,
        DISTINCT: next,
        SUM: (next * (next - 1)) / 2,
        MIN: 0,
        MAX: next - 1,
      });
    } finally {
      child.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true });
    }
  },
  60_000 + KILLS * 20_000,
);

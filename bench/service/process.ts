/** The service as a child process that is measured, and requests to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { readCpuSeconds, startMeasured } from '../measure.ts';

export type Encoding = 'none' | 'gzip';

export interface MeasuredService {
  readonly pid: number;
  readonly url: string;
  /** Sends JSON, or NDJSON under an idempotency key, and answers what it got; throws unless all of it was taken. */
  post(path: string, body: string | Buffer, encoding?: Encoding, key?: string): Promise<unknown>;
  stop(): Promise<void>;
}

export const TOKEN = 'xaat-bench';
const DEADLINE_MS = 60_000;
/** At rest: less than this share of one core over a second, three times in a row. */
const REST_CPU = 0.03;

/** Runs `program serve` in `folder`, with further arguments; resolves once it listens. */
export async function startMeasuredService(
  program: string,
  folder: string,
  connections: number,
  more: readonly string[] = [],
): Promise<MeasuredService> {
  const argv = [
    'env',
    `TAILRACE_API_TOKEN=${TOKEN}`,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    program,
  ];
  const running = await startMeasured([
    ...argv,
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--data',
    folder,
    '--json',
    ...more,
  ]);
  const url = await addressOf(running);
  const pool = new Pool(url, { connections });
  return {
    pid: running.pid,
    url,
    post: (path, body, encoding = 'none', key) => post(pool, path, body, encoding, key),
    async stop() {
      await pool.close();
      running.terminate();
      await running.done;
    },
  };
}

async function post(
  pool: Pool,
  path: string,
  body: string | Buffer,
  encoding: Encoding,
  key: string | undefined,
): Promise<unknown> {
  const { statusCode, body: reply } = await pool.request({
    method: 'POST',
    path,
    body,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': key === undefined ? 'application/json' : 'application/x-ndjson',
      ...(encoding !== 'none' && { 'content-encoding': encoding }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  });
  const text = await reply.text();
  const json = JSON.parse(text) as { failed?: number };
  if (statusCode !== 200 || (json.failed ?? 0) > 0)
    throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 500)}`);
  return json;
}

/** The address that the process prints in its first line. */
async function addressOf(service: { output(): string; isRunning(): boolean }): Promise<string> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const found = /"url":"([^"]+)"/.exec(service.output());
    if (found) return found[1]!;
    if (!service.isRunning() || performance.now() > deadline)
      throw new Error(`the service did not start:\n${service.output()}`);
    await sleep(10);
  }
}

/** Resolves when the process has come to rest, or after a minute. */
export async function rest(pid: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  for (let quiet = 0; quiet < 3 && performance.now() < deadline;) {
    const before = readCpuSeconds(pid);
    await sleep(1000);
    quiet = readCpuSeconds(pid) - before < REST_CPU ? quiet + 1 : 0;
  }
}

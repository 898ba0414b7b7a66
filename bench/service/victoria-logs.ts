/** VictoriaLogs on the same events, where its program is on PATH: what a user might take in place of the local service. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { freePort } from '../machine.ts';
import { startMeasured } from '../measure.ts';

export interface VictoriaLogs {
  readonly program: string;
  readonly version: string;
}

const PROGRAMS = ['victoria-logs', 'victoria-logs-prod'];
const DEADLINE_MS = 60_000;

/** The installed program, or undefined. */
export function findVictoriaLogs(): VictoriaLogs | undefined {
  for (const program of PROGRAMS) {
    try {
      const version = execFileSync(program, ['-version'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
      return { program, version };
    } catch {
      // Not there: the next name.
    }
  }
  return undefined;
}

/** Runs it in `folder`; resolves once it answers. */
export async function startVictoriaLogs({ program }: VictoriaLogs, folder: string, connections: number) {
  const port = await freePort();
  const running = await startMeasured([
    program,
    `-storageDataPath=${folder}`,
    `-httpListenAddr=127.0.0.1:${port}`,
    '-retentionPeriod=100y',
  ]);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const request = async (path: string, body: string | Buffer, type: string): Promise<string> => {
    const { statusCode, body: reply } = await pool.request({
      method: 'POST',
      path,
      body,
      headers: { 'content-type': type },
    });
    const text = await reply.text();
    if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 500)}`);
    return text;
  };
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const isUp = await pool.request({ method: 'GET', path: '/health' }).then(
      ({ body }) => body.text().then(() => true),
      () => false,
    );
    if (isUp) break;
    if (!running.isRunning() || performance.now() > deadline)
      throw new Error(`${program} did not start:\n${running.output()}`);
    await sleep(50);
  }
  return {
    pid: running.pid,
    ingest: async (body: Buffer): Promise<void> =>
      void (await request(
        '/insert/jsonline?_time_field=time&_msg_field=msg&_stream_fields=hostname',
        body,
        'application/stream+json',
      )),
    /** The answer's lines. */
    query: async (text: string): Promise<number> => {
      const answer = await request(
        '/select/logsql/query',
        `query=${encodeURIComponent(text)}`,
        'application/x-www-form-urlencoded',
      );
      return answer.split('\n').filter((line) => line !== '').length;
    },
    async stop(): Promise<void> {
      await pool.close();
      running.terminate();
      await running.done;
    },
  };
}

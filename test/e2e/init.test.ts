/** From logs of real programs to events in the real service, with nothing written by hand: init, check, run. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { API_TOKEN, startLocalService } from '../support/local-service.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const PINO = `import pino from 'pino'; const log = pino({base: null}, pino.destination({dest: process.argv[1], sync: true}));
log.info({responseTime: 12.5, statusCode: 200, req: {headers: {authorization: 'Bearer abcdefgh'}}}, 'done'); log.error(new Error('no'), 'failed');`;

/** As Java and PostgreSQL write them. */
const JAVA = `2025-11-22 16:08:49,123 [main] INFO  com.example.App - started
2025-11-22 16:08:50,456 [worker-1] ERROR com.example.App - it broke for ann@example.com
java.lang.IllegalStateException: no
	at com.example.App.main(App.java:7)
`;
const POSTGRES = `2025-11-22 16:10:05.123 UTC [12] LOG:  database system is ready to accept connections
2025-11-22 16:10:06.123 UTC [13] shop@postgres ERROR:  column "nothing" does not exist at character 8
2025-11-22 16:10:06.123 UTC [13] shop@postgres STATEMENT:  select
	  nothing
`;

async function run(args: readonly string[]): Promise<string> {
  const program = startProgram(args, { TAILRACE_TOKEN: API_TOKEN });
  const code = await program.exited;
  expect({ args, code, error: code === 0 ? '' : program.stderr() }).toEqual({ args, code: 0, error: '' });
  return program.stdout();
}

test.skipIf(!hasNginx)(
  `init leads from logs of nginx, PostgreSQL, Java and pino to events with their own times and types${hasNginx ? '' : ' (apt-get install nginx-light logrotate)'}`,
  async () => {
    // Programs write times of their zone, and the expected ones are in UTC.
    vi.stubEnv('TZ', 'UTC');
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = makeTree({ 'logs/java.log': JAVA, 'logs/postgresql-15-main.log': POSTGRES });
    const logs = join(folder, 'logs');
    const startedMs = Math.floor(Date.now() / 1000) * 1000;
    const nginx = await startNginx(folder);
    await nginx.send(
      Buffer.from(
        'GET /a?token=hunter2 HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nUser-Agent: test\r\n\r\n',
      ),
    );
    // Answered with 400, which is an error log's line at the level info.
    await nginx.send(Buffer.from('GET /b HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'));
    await nginx.stop();
    execFileSync(process.execPath, ['--input-type=module', '-e', PINO, join(logs, 'pino.log')], {
      cwd: join(import.meta.dirname, '../..'),
    });
    const service = await startLocalService(folder, 'logs');
    onTestFinished(async () => void (await service.program.end()));

    const config = join(folder, 'tailrace.yaml');
    await run(['init', logs, '--yes', '--out', config, '--url', service.url]);
    expect(await run(['check', '--config', config])).toContain('is valid');
    // The test asks for the logs alone, without the agent's own pages and data.
    writeFileSync(
      config,
      `${readFileSync(config, 'utf8')}data_dir: ${join(folder, 'data')}\ntelemetry: {listen: none}\n`,
    );
    await run(['run', '--once', '--config', config]);

    const query = { startTime: '2020-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z', limit: 1000 };
    const { matches } = (await service.ask('POST', '/v1/datasets/logs/query', query)) as {
      matches: { _time: string; data: Record<string, unknown> }[];
    };
    const events: Record<string, unknown>[] = matches.map(({ _time, data }) => ({ ...data, _time }));
    const of = (name: string) => events.filter(({ file }) => String(file).endsWith(`/${name}`));
    expect(of('access.log').find(({ status }) => status === 204)).toMatchObject({
      method: 'GET',
      path: '/a?[REDACTED:secret]',
      bytes: 0,
      user_agent: 'test',
    });
    expect(of('error.log')[0]).toMatchObject({ level: expect.any(String), pid: expect.any(Number) });
    for (const { _time } of [...of('access.log'), ...of('error.log')])
      expect(Date.parse(String(_time))).toBeGreaterThanOrEqual(startedMs);
    const postgres = of('postgresql-15-main.log');
    expect(Object.fromEntries(postgres.map(({ level, _time }) => [level, Date.parse(String(_time))]))).toEqual({
      LOG: Date.parse('2025-11-22T16:10:05.123Z'),
      ERROR: Date.parse('2025-11-22T16:10:06.123Z'),
      STATEMENT: Date.parse('2025-11-22T16:10:06.123Z'),
    });
    const java = of('java.log').find(({ level }) => level === 'ERROR');
    expect(java).toMatchObject({
      thread: 'worker-1',
      message: expect.stringMatching(/^it broke for \[REDACTED:email\]\njava\.lang.*\n\tat /),
    });
    expect(Date.parse(String(java?.['_time']))).toBe(Date.parse('2025-11-22T16:08:50.456Z'));
    const pino = events.filter(({ msg }) => msg === 'done');
    expect(pino).toHaveLength(1);
    expect(Date.parse(String(pino[0]!['_time']))).toBe(pino[0]!['time']);
    expect(JSON.stringify(events)).not.toMatch(/hunter2|ann@example|Bearer abc/);
  },
);

/**
 * Logs of real programs through presets: an access log, an error log, a database's, dpkg's, Java's and Node's arrive with their
 * own times and numbers through one sink, by a configuration of under 30 lines.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { findProgram } from '../support/installed.ts';
import { hasJavaLoggers, JAVA_PACKAGES, writeJavaLog } from '../support/java-logs.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { startShipping, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const postgres = globSync('/usr/lib/postgresql/*/bin')[0];
const apache = findProgram('apache2');
const canRun =
  hasJavaLoggers && hasNginx && postgres !== undefined && apache !== undefined && findProgram('runuser') !== undefined;
const isRoot = process.getuid?.() === 0;

const NODE = `import pino from 'pino'; const log = pino({base: null}, pino.destination({dest: process.argv[1], sync: true}));
log.info({responseTime: 12.5, statusCode: 200}, 'done'); log.error(new Error('no'), 'failed');`;

async function writeNginxLogs(folder: string): Promise<void> {
  const nginx = await startNginx(folder);
  await nginx.send(
    Buffer.from('GET /a HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nUser-Agent: test\r\n\r\n'),
  );
  // Answered with 400, which is an error log's line at the level info.
  await nginx.send(Buffer.from('GET /b HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'));
  await nginx.stop();
}

async function writeApacheLogs(folder: string, logs: string): Promise<void> {
  const port = await freePort();
  const modules = globSync('/usr/lib/apache2/modules/mod_{mpm_event,authz_core}.so');
  const config = join(folder, 'apache.conf');
  const load = modules.map((file) => `LoadModule ${/mod_(.*)\.so/.exec(file)![1]}_module ${file}`);
  const lines = [
    `ServerRoot ${folder}`,
    `Listen 127.0.0.1:${port}`,
    'ServerName localhost',
    `PidFile ${folder}/apache.pid`,
    `ErrorLog ${logs}/apache-error.log`,
    'LogLevel info',
    `DocumentRoot ${folder}`,
    `DefaultRuntimeDir ${folder}`,
    'User nobody',
    'Group nogroup',
  ];
  const access = [
    `LogFormat "%h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" combined`,
    `CustomLog ${logs}/apache-access.log combined`,
  ];
  writeFileSync(config, [...load, ...lines, ...access, ''].join('\n'));
  const child = spawn(apache!, ['-f', config, '-D', 'FOREGROUND']);
  await until(
    'apache answers',
    () =>
      fetch(`http://127.0.0.1:${port}/nothing`).then(
        () => true,
        () => child.exitCode !== null,
      ),
    { withinMs: 30_000 },
  );
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** initdb and the server refuse root. */
async function writePostgresLog(folder: string, log: string): Promise<void> {
  const data = join(folder, 'pg');
  const sockets = join(folder, 'sockets');
  const as = isRoot ? ['runuser', '-u', 'postgres', '--'] : [];
  for (const path of [data, sockets]) {
    mkdirSync(path);
    if (isRoot) execFileSync('chown', ['postgres', path]);
  }
  chmodSync(folder, 0o755);
  const run = (program: string, ...args: string[]) =>
    execFileSync(as[0] ?? program, [...as.slice(1), ...(isRoot ? [program] : []), ...args], {
      stdio: 'pipe',
      cwd: '/',
    });
  run(`${postgres}/initdb`, '-D', data, '-A', 'trust', '-N', '-U', 'shop');
  const options = [
    '-D',
    data,
    '-k',
    sockets,
    '-c',
    'listen_addresses=',
    '-c',
    'log_timezone=Europe/Athens',
    '-c',
    'log_line_prefix=%m [%p] %q%u@%d ',
  ];
  const [program, ...args] = [...as, `${postgres}/postgres`, ...options];
  const child = spawn(program!, args, { stdio: ['ignore', 'ignore', openSync(log, 'a')], cwd: '/' });
  await until(
    'postgres is ready',
    () => readFileSync(log, 'utf8').includes('ready to accept connections') || child.exitCode !== null,
  );
  expect(() =>
    run(`${postgres}/psql`, '-h', sockets, '-U', 'shop', '-d', 'postgres', '-c', 'select\n  nothing'),
  ).toThrow();
  const closed = once(child, 'close');
  execFileSync('kill', ['-INT', readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]!]);
  await closed;
}

function writeDpkgLog(folder: string, log: string): void {
  const [source, root] = [join(folder, 'package'), join(folder, 'root')];
  mkdirSync(join(source, 'DEBIAN'), { recursive: true });
  for (const path of ['info', 'updates', 'triggers']) mkdirSync(join(root, 'var/lib/dpkg', path), { recursive: true });
  writeFileSync(join(root, 'var/lib/dpkg/status'), '');
  writeFileSync(
    join(source, 'DEBIAN/control'),
    'Package: hello\nVersion: 1.0-1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n',
  );
  execFileSync('dpkg-deb', ['-b', source, join(folder, 'hello.deb')], { stdio: 'pipe' });
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  execFileSync(
    'dpkg',
    [
      '--force-not-root',
      '--force-script-chrootless',
      `--root=${root}`,
      `--log=${log}`,
      '-i',
      join(folder, 'hello.deb'),
    ],
    { stdio: 'pipe', env },
  );
}

const sourcesOf = (logs: string): Record<string, string> => ({
  access: `{type: file, preset: nginx-access, include: ["${logs}/access.log"]}`,
  errors: `{type: file, preset: nginx-error, include: ["${logs}/error.log"]}`,
  apache: `{type: file, preset: apache-access, include: ["${logs}/apache-access.log"]}`,
  'apache-errors': `{type: file, preset: apache-error, include: ["${logs}/apache-error.log"]}`,
  database: `{type: file, preset: postgresql, include: ["${logs}/postgres.log"]}`,
  packages: `{type: file, preset: dpkg, include: ["${logs}/dpkg.log"]}`,
  java: `{type: file, preset: log4j, include: ["${logs}/java.log"], time: {timezone: Europe/Athens}}`,
  node: `{type: file, preset: pino, include: ["${logs}/pino.log"]}`,
});

type Event = Record<string, unknown>;

test.skipIf(!canRun)(
  `logs of real programs arrive with their own times and numbers${canRun ? '' : ` (apt-get install nginx-light logrotate postgresql apache2-bin util-linux ${JAVA_PACKAGES})`}`,
  async ({ site }) => {
    const logs = join(site.folder, 'logs');
    const startedAt = Math.floor(Date.now() / 1000) * 1000;
    await writeNginxLogs(site.folder);
    await writeApacheLogs(site.folder, logs);
    await writePostgresLog(site.folder, join(logs, 'postgres.log'));
    writeDpkgLog(site.folder, join(logs, 'dpkg.log'));
    writeJavaLog('log4j', { folder: site.folder, log: join(logs, 'java.log'), zone: 'Europe/Athens' });
    execFileSync(process.execPath, ['--input-type=module', '-e', NODE, join(logs, 'pino.log')], {
      cwd: join(import.meta.dirname, '..', '..'),
    });
    const wroteAt = Date.now();

    const agent = startShipping(site, { sources: sourcesOf(logs), args: ['--once'] });
    expect(readFileSync(join(site.folder, 'tailrace.yaml'), 'utf8').trim().split('\n').length).toBeLessThan(30);
    expect(await agent.exited).toBe(0);

    const events = site.service.stored.map((event) => JSON.parse(event) as Event);
    const of = (name: string): Event[] => events.filter(({ file }) => String(file).endsWith(`/${name}`));
    expect(events.filter((event) => 'parse_error' in event || 'time_error' in event)).toEqual([]);
    for (const name of [
      'access.log',
      'error.log',
      'apache-access.log',
      'apache-error.log',
      'postgres.log',
      'dpkg.log',
      'java.log',
    ]) {
      expect([name, of(name).length > 0]).toEqual([name, true]);
      for (const { _time } of of(name)) {
        const time = Date.parse(String(_time));
        expect([name, time >= startedAt && time <= wroteAt]).toEqual([name, true]);
      }
    }
    // Their own times have whole seconds, or as many digits as the program writes; a read's has three.
    for (const name of ['access.log', 'error.log', 'dpkg.log'])
      expect(String(of(name)[0]!['_time'])).toMatch(/:\d\d(Z|\+)/);
    expect(String(of('apache-error.log')[0]!['_time'])).toMatch(/\.\d{6}Z$/);
    expect(of('access.log').find(({ path }) => path === '/a')).toMatchObject({
      method: 'GET',
      status: 204,
      bytes: 0,
      user_agent: 'test',
    });
    expect(of('error.log')[0]).toMatchObject({
      level: expect.any(String),
      pid: expect.any(Number),
      tid: expect.any(Number),
    });
    expect(of('apache-access.log')[0]).toMatchObject({ path: '/nothing', status: expect.any(Number) });
    expect(of('apache-error.log').find(({ code }) => code === 'AH00489')).toMatchObject({
      level: 'notice',
      pid: expect.any(Number),
    });
    expect(of('postgres.log').find(({ level }) => level === 'ERROR')).toMatchObject({
      user: 'shop',
      database: 'postgres',
      pid: expect.any(Number),
    });
    expect(of('postgres.log').find(({ level }) => level === 'STATEMENT')).toMatchObject({
      message: 'select\n\t  nothing',
    });
    expect(of('dpkg.log').find(({ status }) => status === 'installed')).toMatchObject({
      package: 'hello',
      arch: 'all',
      version: '1.0-1',
    });
    expect(of('java.log')).toMatchObject([
      { thread: 'main', level: 'INFO', logger: 'com.example.App', message: 'started' },
      {
        level: 'ERROR',
        message: expect.stringMatching(
          /^it broke\njava.lang.IllegalStateException: no\n\tat .*\nCaused by: .*\n\t\.\.\. /s,
        ),
      },
    ]);
    const node = events.filter((event) => 'responseTime' in event);
    expect(node).toMatchObject([{ responseTime: 12.5, statusCode: 200, msg: 'done' }]);
    expect(Date.parse(String(node[0]!['_time']))).toBe(node[0]!['time']);
  },
);

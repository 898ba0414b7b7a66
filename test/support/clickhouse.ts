/**
 * Real ClickHouse servers for tests, by default two as the shards of one cluster.
 *
 * The library was not made for this: when a select fails at run time on one shard (a limit, a bad pattern, throwIf) while the other asks it
 * to
 * stop, it aborts, in about one of seven such selects (std::terminate in its TCPHandler; the same under Python and C). `heal` starts such a
 * server
 * again; nothing else that ends one is forgiven.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from './until.ts';
import { freePorts } from './free-port.ts';

export interface ClickhouseServer {
  readonly httpPort: number;
  readonly process: ChildProcess;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Starts it again on the same folder and ports. */
  restart(): Promise<void>;
  /** Ends it at once, and what it stored is gone. */
  lose(): Promise<void>;
  /** Starts it again if it aborted; true when it had. */
  heal(): Promise<boolean>;
}

export interface ClickhouseCluster {
  /** For `serve --engine`; the database is empty. */
  readonly url: string;
  readonly servers: readonly ClickhouseServer[];
  /** Starts every server again that aborted; true when one had. */
  heal(): Promise<boolean>;
  /** The cluster is the first `shards` servers from now on, which are started again. Answers its URL. */
  resize(shards: number): Promise<string>;
  /** A statement on one server, its answer as text. */
  ask(server: number, sql: string): Promise<string>;
  stop(): Promise<void>;
}

const CLUSTER = 'shards';
/** A forgotten server ends by itself. */
const LIFETIME_S = 3600;

/** With fewer `members` than servers, the first of them are the cluster. */
export async function startClickhouse(
  shards = 2,
  database = 'tailrace_test',
  members = shards,
): Promise<ClickhouseCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tailrace-clickhouse-'));
  const ports = await freePorts(shards * 2);
  const tcpPorts = ports.slice(shards);
  const replica = (port: number): string =>
    `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`;
  const config = join(folder, 'config.xml');
  const configure = (count: number): void =>
    writeFileSync(
      config,
      `<clickhouse>
  <remote_servers><${CLUSTER}>${tcpPorts.slice(0, count).map(replica).join('')}</${CLUSTER}></remote_servers>
  <background_processing_pool_task_sleep_seconds_when_no_work_random_part>0.01</background_processing_pool_task_sleep_seconds_when_no_work_random_part>
  <background_processing_pool_thread_sleep_seconds_if_nothing_to_do>0.02</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
</clickhouse>`,
    );
  configure(members);
  const servers = await Promise.all(
    tcpPorts.map((tcp, n) => startServer(join(folder, String(n)), ports[n]!, tcp, config)),
  );
  const urlOf = (count: number): string => {
    const hosts = servers.slice(0, count).map(({ httpPort }) => `127.0.0.1:${httpPort}`);
    return `clickhouse://${hosts.join(',')}/${database}${shards > 1 ? `?cluster=${CLUSTER}` : ''}`;
  };
  return {
    url: urlOf(members),
    servers,
    heal: async () => (await Promise.all(servers.map((server) => server.heal()))).some(Boolean),
    async resize(count) {
      configure(count);
      await Promise.all(servers.slice(0, count).map((server) => server.kill().then(() => server.restart())));
      return urlOf(count);
    },
    ask: (server, sql) => ask(servers[server]!.httpPort, sql),
    async stop() {
      await Promise.all(servers.map((server) => server.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(
  folder: string,
  httpPort: number,
  tcpPort: number,
  config: string,
): Promise<ClickhouseServer> {
  let child: ChildProcess;
  let isWanted = true;
  const start = async (): Promise<void> => {
    mkdirSync(folder, { recursive: true });
    const script = join(import.meta.dirname, 'clickhouse-server.ts');
    const args = [library(), folder, String(httpPort), String(tcpPort), config, String(LIFETIME_S)];
    child = spawn(process.execPath, ['--experimental-ffi', script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    isWanted = true;
    child.once('exit', (code, signal) => {
      if (isWanted && signal !== 'SIGABRT')
        console.error(`the ClickHouse server on port ${httpPort} ended with ${code ?? signal}:\n${said.slice(-2000)}`);
    });
    child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
    await until(
      'the ClickHouse server',
      async () => {
        if (child.exitCode !== null) throw new Error(`the ClickHouse server did not start:\n${said}`);
        return ask(httpPort, 'select 1').then(
          () => true,
          () => false,
        );
      },
      { withinMs: 60_000 },
    );
  };
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      isWanted = false;
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  await start();
  return {
    httpPort,
    get process() {
      return child;
    },
    kill,
    restart: start,
    async lose() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
    async heal() {
      // One that aborts resets its connections before its end is known here.
      const isUp = () =>
        ask(httpPort, 'select 1').then(
          () => true,
          () => false,
        );
      await until(
        'the ClickHouse server to answer, or its end',
        async () => child.signalCode !== null || child.exitCode !== null || (await isUp()),
      );
      if (child.signalCode !== 'SIGABRT') return false;
      await start();
      return true;
    },
  };
}

/** The engine's library, which the package of this platform brings. */
function library(): string {
  const require = createRequire(import.meta.url);
  const engine = createRequire(require.resolve('chdb'));
  const platform = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  return join(dirname(engine.resolve(`${platform}/package.json`)), 'libchdb.so');
}

async function ask(port: number, sql: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sql });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text.trim();
}

/**
 * A service that is slower than its sources: memory stays within its budget behind a backlog of files, standard input and
 * TCP senders are slowed and not cut, UDP datagrams without room are counted, and the agent says who waits for what.
 *
 * On demand: `TAILRACE_BACKLOG_MIB=2048`, `TAILRACE_SLOW_MS=10000`, `TAILRACE_PRESSURE_SECONDS=60`.
 */
import { createSocket } from 'node:dgram';
import { closeSync, copyFileSync, openSync, readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildAgent, launcher } from '../../bench/agent.ts';
import type { FaultAnswer } from '../support/fault-service.ts';
import { freePort } from '../support/free-port.ts';
import { type Program, startCommand } from '../support/program.ts';
import { type Family, valueOf } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';
import { addressOf, configure, makeSite, metricsOf } from '../support/shipping.ts';
import { suiteFolder } from '../support/temp-tree.ts';

const BACKLOG_MIB = Number(process.env['TAILRACE_BACKLOG_MIB'] ?? 256);
const SLOW_MS = Number(process.env['TAILRACE_SLOW_MS'] ?? 1000);
const PRESSURE_SECONDS = Number(process.env['TAILRACE_PRESSURE_SECONDS'] ?? 4);
const FILES = 8;
/** Resident memory at its peak with a budget of 32 MiB, the 60 MB of the runtime's mapped program included. */
const MEMORY_BYTES = 150e6;
/** The most that may be on its way from a sender: memory, the disk buffer, windows and the kernel's buffers. */
const HELD_BYTES = 64 * 1024 ** 2;

const backlog = suiteFolder();
let program: string;

beforeAll(() => {
  program = buildAgent();
  const first = join(backlog, '0.log');
  const fd = openSync(first, 'w');
  // Alike in nothing but size: lines that compress about as well as logs do.
  const chunk = Buffer.from(
    Array.from(
      { length: 8192 },
      (_, n) => `{"n":${n},"id":"${crypto.randomUUID()}","msg":"request done, nothing else to say"}\n`,
    ).join(''),
  );
  for (let written = 0; written < (BACKLOG_MIB / FILES) * 1024 ** 2; written += chunk.length) writeSync(fd, chunk);
  closeSync(fd);
  for (let file = 1; file < FILES; file++) copyFileSync(first, join(backlog, `${file}.log`));
});

/** Writes `lineOf(n)` as fast as the other side takes it; `bytes` that it took. */
function flood(target: Writable, lineOf: (n: number) => string): { readonly bytes: number; stop(): void } {
  let n = 0;
  let bytes = 0;
  let isStopped = false;
  const writeNext = (): void => {
    if (isStopped) return;
    const text = Array.from({ length: 200 }, () => lineOf(n++)).join('');
    target.write(text, (error) => {
      if (error) return;
      bytes += text.length;
      setImmediate(writeNext);
    });
  };
  writeNext();
  return {
    get bytes() {
      return bytes;
    },
    stop: () => void (isStopped = true),
  };
}

/** Sends datagrams in bursts until stopped; `sent` were handed to the kernel. */
function floodDatagrams(port: number): { readonly sent: number; stop(): void } {
  const socket = createSocket('udp4');
  let sent = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < 50; i++) {
      sent += 1;
      socket.send(
        `<13>1 - host app - - - datagram ${sent} ${crypto.randomUUID()} ${'x'.repeat(200)}`,
        port,
        '127.0.0.1',
      );
    }
  }, 10);
  onTestFinished(() => {
    clearInterval(timer);
    socket.close();
  });
  return {
    get sent() {
      return sent;
    },
    stop: () => clearInterval(timer),
  };
}

/** Standard input, a TCP connection and datagrams at once. */
function floodAll(agent: Program, tcpPort: number, udpPort: number) {
  const stdin = flood(
    agent.process.stdin!.on('error', () => {}),
    (n) => `{"pipe":${n},"id":"${crypto.randomUUID()}"}\n`,
  );
  const sender = connect(tcpPort, '127.0.0.1');
  let isCut = false;
  sender.on('error', () => (isCut = true)).on('close', () => (isCut = true));
  onTestFinished(() => void sender.destroy());
  const tcp = flood(sender, (n) => `<13>1 - host app - - - tcp ${n} ${crypto.randomUUID()}\n`);
  const udp = floodDatagrams(udpPort);
  const stop = (): void => [stdin, tcp, udp].forEach((each) => each.stop());
  return { stdin, tcp, udp, stop, isCut: () => isCut };
}

/** A number of /proc/PID/status in bytes. */
function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

interface Waiting {
  readonly source: string;
  readonly sink: string;
  readonly reason: string;
  readonly seconds: number;
  readonly failure?: string;
}

/** Slower with each request: on a machine whose load slows the senders, too, a service of one speed might keep up with them. */
const slowerEach = (requests: number): number => Math.min(30, 2 ** (requests / 32));

const SERVICES: Record<string, { answer: (requests: number) => FaultAnswer; timeout: string; failure?: string }> = {
  [`answers after ${SLOW_MS} ms and more`]: {
    answer: (requests) => ({ delayMs: SLOW_MS * slowerEach(requests) }),
    timeout: '60s',
  },
  'answers one byte at a time': {
    answer: (requests) => ({ dripMs: (SLOW_MS / 100) * slowerEach(requests) }),
    timeout: '60s',
  },
  'never answers': {
    answer: () => ({ never: 'lost' }),
    timeout: '300ms',
    failure: 'timeout: no complete answer within 300 ms (E_TIMEOUT)',
  },
};

const CASES = Object.keys(SERVICES).flatMap((name) =>
  (['files', 'every kind of source'] as const).map((kind) => [name, kind] as const),
);

test.for(CASES)('a service that %s slows %s down, within a bounded memory', async ([name, kind]) => {
  const { answer, timeout, failure } = SERVICES[name]!;
  const site = await makeSite();
  const { service } = site;
  service.respond = () => answer(service.requests.length);
  const [tcpPort, udpPort] = [await freePort(), await freePort()];
  const live = {
    pipe: '{type: stdin}',
    tcp: `{type: syslog, listen: ["tcp://127.0.0.1:${tcpPort}"]}`,
    udp: `{type: syslog, listen: ["udp://127.0.0.1:${udpPort}"], receive_buffer: 256KiB}`,
  };
  const config = configure(site, {
    top: 'shutdown_timeout: 4s',
    sources: { app: `{type: file, include: ["${backlog}/*.log"]}`, ...(kind !== 'files' && live) },
    sink: `timeout: ${timeout}, retry: {initial_backoff: 10ms, max_backoff: 100ms}, buffer: {max_memory: 32MiB, disk: {max_bytes: 4MiB}}`,
  });
  // The build, as it is published: a tree whose types are stripped at the start takes 20 MB more.
  const [command, ...args] = [...launcher(), program, 'run', '--config', config];
  const agent = startCommand(command, args, {}, 'pipe');
  const address = await addressOf(agent);
  const accounting = watchAccounting(200);
  accounting.watch(address);
  onTestFinished(() => accounting.stop());

  const senders = kind === 'files' ? undefined : floodAll(agent, tcpPort, udpPort);
  const waiters = senders ? ['app', 'pipe', 'tcp'] : ['app'];
  let metrics: Map<string, Family> = new Map();
  let rss = 0;
  const longest = new Map<string, Waiting>();
  const counted = (name: string, labels: Record<string, string>) => valueOf(metrics, `tailrace_${name}`, labels) ?? 0;
  const isSlowed = (source: string) =>
    counted('backpressure_seconds_total', { source }) >= PRESSURE_SECONDS && (longest.get(source)?.seconds ?? 0) > 0.2;
  // While there is no room they are left in the kernel's buffer, which drops what it does not hold.
  const droppedDatagrams = () => counted('source_dropped_datagrams_total', { source: 'udp' });
  await until(
    'every source waits',
    async () => {
      rss = Math.max(rss, memoryOf(agent.process.pid!, 'VmRSS'));
      metrics = await metricsOf(address);
      const ready = await fetch(`${address}/readyz`);
      expect(ready.status).toBe(200);
      for (const waiting of ((await ready.json()) as { waiting: Waiting[] }).waiting) {
        if (waiting.seconds > (longest.get(waiting.source)?.seconds ?? -1)) longest.set(waiting.source, waiting);
      }
      return waiters.every(isSlowed) && (!senders || droppedDatagrams() > 0);
    },
    { withinMs: 180_000 + 2000 * PRESSURE_SECONDS, everyMs: 200 },
  ).catch((error: unknown) => {
    throw new Error(`${JSON.stringify([...longest])} ${agent.stderr().slice(-2000)}`, { cause: error });
  });
  const peak = memoryOf(agent.process.pid!, 'VmHWM');
  const taken = senders
    ? `stdin took ${Math.round(senders.stdin.bytes / 1e6)} MB, tcp ${Math.round(senders.tcp.bytes / 1e6)} MB, ${senders.udp.sent} datagrams sent, ` +
      `${droppedDatagrams()} dropped, `
    : '';
  console.log(
    `${name}, ${kind}: VmHWM ${Math.round(peak / 1e6)} MB, VmRSS at most ${Math.round(rss / 1e6)} MB, ${BACKLOG_MIB} MiB backlog, ${taken}` +
      `${service.requests.length} requests, ${accounting.scrapes} scrapes; ${JSON.stringify([...longest.values()])}`,
  );
  expect(peak).toBeLessThan(MEMORY_BYTES);
  if (senders) {
    expect(senders.isCut()).toBe(false);
    const deliveredBytes = service.stored.reduce((sum, event) => sum + event.length, 0);
    expect(senders.stdin.bytes + senders.tcp.bytes).toBeLessThan(HELD_BYTES + deliveredBytes);
    // Those that the kernel dropped never came: they are no events.
    expect(counted('events_total', { source: 'udp', outcome: 'accepted' }) + droppedDatagrams()).toBeLessThanOrEqual(
      senders.udp.sent,
    );
    expect(counted('events_total', { source: 'udp', outcome: 'dropped' })).toBe(0);
  }
  for (const source of waiters) {
    expect(longest.get(source)).toMatchObject({
      sink: 'store',
      reason: expect.stringMatching(
        source === 'app' ? /memory_full|service_behind/ : /memory_full|disk_buffer_full/,
      ) as string,
      ...(failure === undefined ? {} : { failure }),
    });
  }
  senders?.stop();
  accounting.watch(undefined);
  expect(await agent.end('SIGTERM'), agent.stderr().slice(-3000)).toBe(0);
  await accounting.stop();
  expect(accounting.problems).toEqual([]);
  expect(accounting.scrapes).toBeGreaterThan(5);
  expect(service.misusedKeys).toEqual([]);
});

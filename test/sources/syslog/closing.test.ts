/** What senders write while their connection is being closed: syslog has no acknowledgement, so they cannot send it again. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { InternetAddress, ListenAddress } from '../../../src/config/fields/kinds-listen.ts';
import { SYSLOG_LINGER_MS } from '../../../src/sources/syslog/limits.ts';
import type { SyslogConfig } from '../../../src/sources/syslog/syslog-type.ts';
import { type Certificate, hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts';
import { suiteFolder } from '../../support/temp-tree.ts';
import type { TestContext } from '../source-context.ts';
import { messages, patience, start, tcp } from './started.ts';

const folder = suiteFolder();
const unix: ListenAddress = { protocol: 'unix', path: join(folder, 'closing.sock') };
const tls: InternetAddress = { protocol: 'tls', host: '127.0.0.1', port: 0 };
const HEADER = 'PROXY TCP4 192.0.2.9 203.0.113.5 4711 601\r\n';
const LINE = '<13>late\n';

let server: Certificate | undefined;
beforeAll(() => {
  if (hasOpenssl)
    server = makeCertificate(folder, 'server', makeAuthority(folder, 'authority'), { names: 'DNS:localhost' });
});

/** Long enough for a stop to have read all that was there: it takes two turns for that. */
async function isStopping(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

interface Way {
  readonly changes: () => Partial<SyslogConfig>;
  /** Sent, and taken, before the stop. */
  readonly before?: string;
  readonly late: string;
}

const ways: Record<string, Way> = {
  'that has just connected': { changes: () => ({ listen: [tcp] }), late: LINE },
  'that has sent before': { changes: () => ({ listen: [tcp] }), before: '<13>early\n', late: LINE },
  'that is in the middle of a message': {
    changes: () => ({ listen: [tcp] }),
    before: '<13>early\n<13>la',
    late: 'te\n',
  },
  'of a unix socket': { changes: () => ({ listen: [unix] }), late: LINE },
  'whose PROXY header is still to come': {
    changes: () => ({ listen: [tcp], proxyProtocol: true }),
    late: HEADER + LINE,
  },
  'whose PROXY header is half there': {
    changes: () => ({ listen: [tcp], proxyProtocol: true }),
    before: HEADER.slice(0, 9),
    late: HEADER.slice(9) + LINE,
  },
};

async function dial(to: NetConnectOpts): Promise<Socket> {
  const socket = connect({ ...to, allowHalfOpen: true }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket.resume();
}

describe('a stop takes late messages of a sender', () => {
  test.each(Object.entries(ways))('%s', async (_name, { changes, before, late }) => {
    const { source, context } = await start(changes());
    const [address] = source.addresses();
    const to =
      address!.protocol === 'unix'
        ? { path: address!.path }
        : { port: (address as InternetAddress).port, host: '127.0.0.1' };
    const socket = await dial(to);
    if (before !== undefined) await new Promise((resolve) => socket.write(before, resolve));
    // Connections are taken from the queue in their order.
    if (before?.includes('\n')) await context.lane.until((lane) => lane.count > 0);
    else await dial(to);
    const stopped = source.stop();
    await isStopping();
    socket.end(late);
    await stopped;
    expect(messages(context)).toEqual(before?.includes('\n') ? ['early', 'late'] : ['late']);
  });

  test.skipIf(!hasOpenssl).each(['before', 'after'])('whose TLS handshake ends %s it', async (when) => {
    const files = {
      cert: server!.cert,
      key: server!.key,
      ca: undefined,
      requireClientCert: false,
      maxVersion: '1.2' as const,
    };
    const { source, context } = await start({ listen: [tls], tls: files });
    const to = { port: (source.addresses()[0] as InternetAddress).port, host: '127.0.0.1' };
    const raw = await dial(to);
    const secure = (): Socket => connectTls({ socket: raw, rejectUnauthorized: false }).on('error', () => {});
    let socket = when === 'before' ? secure() : undefined;
    if (socket) {
      await once(socket, 'secureConnect');
      await expect.poll(() => source.stats.files['open'], patience).toBe(1);
    } else await dial(to);
    const stopped = source.stop();
    await isStopping();
    socket ??= secure();
    socket.end(LINE);
    await stopped;
    expect(messages(context)).toEqual(['late']);
  });
});

test('a connection that is closed as idle takes what its sender writes until it sees that', async () => {
  const { context, tcpPort } = await start({ idleTimeoutMs: 100 });
  const socket = await dial({ port: tcpPort, host: '127.0.0.1' });
  socket.write('<13>early\n');
  await once(socket, 'end');
  socket.end(LINE);
  await context.lane.until((lane) => lane.count === 2);
  expect(messages(context)).toEqual(['early', 'late']);
});

describe('a stop takes, of a sender that has seen the end,', () => {
  async function ending(): Promise<{ socket: Socket; stopped: Promise<void>; context: TestContext }> {
    const { source, context, tcpPort } = await start();
    const socket = await dial({ port: tcpPort, host: '127.0.0.1' });
    socket.write('<13>early\n');
    await context.lane.until((lane) => lane.count > 0);
    const stopped = source.stop();
    await once(socket, 'end');
    return { socket, stopped, context };
  }

  test('a message that it writes while the process is busy', async () => {
    const { socket, stopped, context } = await ending();
    socket.write(LINE);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * SYSLOG_LINGER_MS);
    await stopped;
    expect(messages(context)).toEqual(['early', 'late']);
  });

  test('a message whose second part is late', async () => {
    const { socket, stopped, context } = await ending();
    socket.write(LINE.slice(0, 6));
    setTimeout(() => socket.end(LINE.slice(6)), 2.5 * SYSLOG_LINGER_MS);
    await stopped;
    expect(messages(context)).toEqual(['early', 'late']);
  });
});

test('a connection that is being closed as idle gives its place to a new one', async () => {
  const { context, tcpPort } = await start({ listen: [tcp], maxConnections: 1, idleTimeoutMs: 100 });
  const to = { port: tcpPort, host: '127.0.0.1' };
  const socket = await dial(to);
  socket.write('<13>early\n');
  await once(socket, 'end');
  (await dial(to)).end(LINE);
  await context.lane.until((lane) => lane.count > 1);
  expect(messages(context)).toEqual(['early', 'late']);
});

describe('while a stop waits for a sender', () => {
  test('others connect anew and send datagrams, and all of it is taken', async () => {
    const { source, context, tcpPort, udpPort } = await start();
    const to = { port: tcpPort, host: '127.0.0.1' };
    await dial(to);
    await dial(to);
    const stopped = source.stop();
    await isStopping();
    (await dial(to)).end('<13>anew\n');
    const datagrams = createSocket('udp4');
    await new Promise((resolve) => datagrams.send('<13>datagram', udpPort, '127.0.0.1', resolve));
    datagrams.close();
    await stopped;
    expect(new Set(messages(context))).toEqual(new Set(['anew', 'datagram']));
  });

  test('one that never sends, and one that does not notice the end, do not hold it up', async () => {
    const { source, context, tcpPort } = await start();
    const to = { port: tcpPort, host: '127.0.0.1' };
    await dial(to);
    const chatty = await dial(to);
    const writing = setInterval(() => chatty.write('<13>more\n'), 20);
    onTestFinished(() => clearInterval(writing));
    await context.lane.until((lane) => lane.count > 0);
    const closed = new Promise((resolve) => chatty.once('close', resolve));
    await source.stop();
    await closed;
  });
});

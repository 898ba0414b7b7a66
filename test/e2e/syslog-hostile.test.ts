/**
 * Hostile syslog peers beside a good one, against the real binary: idle connections, bytes that drip, a gibibyte without a newline,
 * garbage for a TLS handshake, storms of connections, wrong octet counts, times that cannot be. Memory stays flat, and every message of the
 * good peer arrives.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasOpenssl, makeAuthority, makeCertificate, readCertificate } from '../support/certificates.ts';
import { FaultService } from '../support/fault-service.ts';
import { freePort } from '../support/free-port.ts';
import type { Program } from '../support/program.ts';
import { startShipping } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { suiteFolder } from '../support/temp-tree.ts';

const GIB = 1024 ** 3;
/** What hostile peers may add to the resident memory: windows, unfinished messages, and what the runtime leaves uncollected. */
const MORE_BYTES = 48e6;
const patience = 120_000;

describe.skipIf(!hasOpenssl)('hostile syslog peers (apt-get install openssl)', () => {
  let service: FaultService;
  const folder = suiteFolder();
  let agent: Program;
  let ports: { readonly tcp: number; readonly tls: number };
  const unixPath = join(folder, 'syslog.sock');
  let authority: Buffer;
  let good: Socket;
  let sent = 0;
  let rssBefore = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    const signer = makeAuthority(folder, 'authority');
    const { cert, key } = makeCertificate(folder, 'server', signer, { names: 'DNS:localhost,IP:127.0.0.1' });
    authority = readCertificate(signer).cert;
    ports = { tcp: await freePort(), tls: await freePort() };
    service = await FaultService.start();
    const net = `{type: syslog, listen: ["tcp://127.0.0.1:${ports.tcp}", "tls://127.0.0.1:${ports.tls}", "unix://${unixPath}"], tls: {cert: ${cert}, key: ${key}}, max_connections: 2000}`;
    agent = startShipping({ folder, url: service.url }, { sources: { net }, sink: 'batch: {max_age: 50ms}' });
    await agent.says('tailrace runs');
    good = await open(ports.tcp);
    // What the runtime needs once it works at all.
    await speak(20_000);
    rssBefore = memory('VmRSS');
  }, patience);

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await agent.end('SIGKILL');
    await service.stop();
  });

  function memory(name: 'VmRSS' | 'VmHWM'): number {
    return (
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${agent.process.pid}/status`, 'utf8'))![1]) *
      1024
    );
  }

  async function open(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    await once(socket, 'connect');
    return socket;
  }

  const write = (socket: Socket, data: string | Buffer): Promise<void> =>
    new Promise((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())));

  /** The good peer sends so many messages; resolves once the service has them. */
  async function speak(count = 500): Promise<void> {
    const first = sent;
    sent += count;
    await write(good, Array.from({ length: count }, (_, n) => `<13>1 - good app - - - good ${first + n}\n`).join(''));
    await until('the good peer is served', () => heard() === sent, { withinMs: patience, everyMs: 20 });
  }

  const heard = (): number => service.stored.filter((event) => event.includes('"host":"good"')).length;

  /** Nobody but the good peer was harmed: memory is flat, and it is served. */
  async function isUnharmed(): Promise<void> {
    await speak();
    console.log(`${Math.round(rssBefore / 1e6)} MB before, at most ${Math.round(memory('VmHWM') / 1e6)} MB by now`);
    expect(memory('VmHWM') - rssBefore).toBeLessThan(MORE_BYTES);
    expect(agent.process.exitCode).toBeNull();
  }

  test('1,000 idle connections', { timeout: patience }, async () => {
    const idle: Socket[] = [];
    for (let n = 0; n < 1000; n += 1) idle.push(await open(ports.tcp));
    await isUnharmed();
    for (const socket of idle) socket.destroy();
  });

  test('200 connections that drip bytes', { timeout: patience }, async () => {
    const dripping = await Promise.all(Array.from({ length: 200 }, () => open(ports.tcp)));
    for (const byte of '9999 <13>1 - slow app - - - drip') {
      await Promise.all(dripping.map((socket) => write(socket, byte)));
      if (byte === '1') await speak(100);
    }
    await isUnharmed();
    for (const socket of dripping) socket.end();
    await until(
      'what dripped is kept, as cut',
      () => service.stored.filter((event) => event.includes('"host":"slow"')).length === 200,
      {
        withinMs: patience,
        everyMs: 50,
      },
    );
    expect(
      service.stored
        .filter((event) => event.includes('"host":"slow"'))
        .every((event) => event.includes('"truncated":true')),
    ).toBe(true);
  });

  test('1 GiB without a newline, and an absurd count', { timeout: 4 * patience }, async () => {
    const chunk = Buffer.alloc(4 * 1024 * 1024, 'x');
    const flooding = await open(ports.tcp);
    await write(flooding, '<13>1 - flood app - - - ');
    for (let bytes = 0; bytes < GIB; bytes += chunk.length) {
      await write(flooding, chunk);
      if (bytes % (GIB / 8) === 0) await speak(50);
    }
    const absurd = await open(ports.tcp);
    await write(absurd, '9999999999 <13>1 - absurd app - - - x');
    await isUnharmed();
    flooding.end();
    await until(
      'the beginning is kept, and its length said',
      () => service.stored.some((event) => event.includes(`"original_bytes":${GIB + 24}`)),
      { withinMs: patience, everyMs: 50 },
    );
    absurd.end();
    await until(
      'the absurd one, too',
      () => service.stored.some((event) => event.includes('"original_bytes":9999999999')),
      {
        withinMs: patience,
        everyMs: 50,
      },
    );
  });

  test(
    '40 long unfinished messages: a long message of another waits and arrives whole',
    { timeout: patience },
    async () => {
      const hogs = await Promise.all(Array.from({ length: 40 }, () => open(ports.tcp)));
      for (const hog of hogs) hog.write(`<13>1 - hog app - - - ${'x'.repeat(300_000)}`);
      await until('the hogs fill the room', () => service.stored.some((event) => event.includes('"host":"hog"')), {
        withinMs: patience,
        everyMs: 50,
      });
      const long = await open(ports.tcp);
      const text = `<13>1 - long app - - - ${'y'.repeat(900_000)}`;
      for (let at = 0; at < text.length; at += 30_000) await write(long, text.slice(at, at + 30_000));
      long.write('\n');
      const own = (): string[] => service.stored.filter((event) => event.includes('"host":"long"'));
      await until('the long message arrives', () => own().length > 0, { withinMs: patience, everyMs: 50 });
      expect(own()).toHaveLength(1);
      expect(JSON.parse(own()[0]!)).toMatchObject({ message: 'y'.repeat(900_000) });
      expect(own()[0]).not.toContain('"truncated"');
      await isUnharmed();
      for (const socket of [...hogs, long]) socket.destroy();
    },
  );

  test(
    'wrong octet counts and times that cannot be, over TCP, TLS and unix sockets',
    { timeout: patience },
    async () => {
      const secured = connectTls({ port: ports.tls, host: '127.0.0.1', ca: authority, servername: 'localhost' });
      const unix = connect(unixPath);
      await Promise.all([once(secured, 'secureConnect'), once(unix, 'connect')]);
      for (const [name, socket] of [
        ['over-tcp', await open(ports.tcp)],
        ['over-tls', secured],
        ['over-unix', unix],
      ] as const) {
        const bad = `<13>1 - ${name} app - - - é é é`;
        const counted = Array.from(
          { length: 20_000 },
          (_, n) => `<13>1 0001-01-01T00:00:00Z ${name} app - - - number ${n}`,
        ).map((text) => `${text.length} ${text}`);
        await write(socket, `${bad.length} ${bad}${counted.join('')}`);
        const own = (): string[] => service.stored.filter((event) => event.includes(name));
        await until(`all of ${name} arrives`, () => own().length === 20_001, { withinMs: patience, everyMs: 50 });
        const all = own().map((event) => JSON.parse(event) as Record<string, unknown>);
        expect(all.filter((event) => event['parse_error'] !== undefined).map((event) => event['message'])).toEqual([
          bad,
        ]);
        expect(all.filter((event) => event['time_error'] === '0001-01-01T00:00:00Z')).toHaveLength(20_000);
        expect(all.every((event) => Math.abs(Date.parse(String(event['_time'])) - Date.now()) < 24 * 3_600_000)).toBe(
          true,
        );
        socket.destroy();
      }
      await isUnharmed();
    },
  );

  test('garbage, silence and half a hello in place of a TLS handshake', { timeout: patience }, async () => {
    const silent = await Promise.all(Array.from({ length: 100 }, () => open(ports.tls)));
    const hello = Buffer.from('160301020001000200', 'hex');
    for (let n = 0; n < 300; n += 1) {
      const socket = await open(ports.tls);
      socket.write(n % 2 === 0 ? Buffer.alloc(5000, n) : hello);
      if (n % 3 === 0) socket.resetAndDestroy();
    }
    await isUnharmed();
    const secured = connectTls({ port: ports.tls, host: '127.0.0.1', ca: authority, servername: 'localhost' });
    await once(secured, 'secureConnect');
    secured.end('<13>1 - secured app - - - x\n');
    await until('a good TLS peer is served', () => service.stored.some((event) => event.includes('"host":"secured"')), {
      withinMs: patience,
      everyMs: 20,
    });
    for (const socket of silent) socket.destroy();
  });

  test(
    'storms of connections that close at once, politely or not, with and without bytes',
    { timeout: patience },
    async () => {
      for (let round = 0; round < 30; round += 1) {
        const some = await Promise.all(
          Array.from({ length: 100 }, () => open(round % 3 === 2 ? ports.tls : ports.tcp)),
        );
        for (const [n, socket] of some.entries()) {
          if (n % 4 === 1) socket.write('<13>1 - storm app - - - x\n');
          if (n % 2 === 0) socket.resetAndDestroy();
          else socket.destroy();
        }
        if (round % 10 === 0) await speak(100);
      }
      await isUnharmed();
    },
  );

  test('the agent stops as usual, with everything delivered', { timeout: patience }, async () => {
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(heard()).toBe(sent);
  });
});

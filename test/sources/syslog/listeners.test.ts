/** Listeners beside UDP and TCP: TLS, unix sockets, what systemd opened; and the PROXY protocol before them. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, lstatSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { InternetAddress } from '../../../src/config/fields/kinds-listen.ts';
import type { SyslogConfig } from '../../../src/sources/syslog/syslog-type.ts';
import { systemdDescriptors } from '../../../src/sources/syslog/listen/systemd.ts';
import { nativeLibrary } from '../../../src/sources/native/library.ts';
import {
  type Certificate,
  hasOpenssl,
  makeAuthority,
  makeCertificate,
  readCertificate,
} from '../../support/certificates.ts';
import { freePort } from '../../support/free-port.ts';
import { createTestContext } from '../source-context.ts';
import { create, events, messages, patience, start, type Started } from './started.ts';
import { suiteFolder } from '../../support/temp-tree.ts';

// Never synchronously: a full socket makes the client wait for this process.
const run = promisify(execFile);
const folder = suiteFolder();

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return socket;
}

function portOf({ source }: Started): number {
  return (source.addresses()[0] as InternetAddress).port;
}

describe.skipIf(!hasOpenssl)('TLS (apt-get install openssl)', () => {
  let authority: Certificate;
  let server: Certificate;
  let other: Certificate;
  let client: Certificate;
  let stranger: Certificate;
  const tls: InternetAddress = { protocol: 'tls', host: '127.0.0.1', port: 0 };

  beforeAll(() => {
    authority = makeAuthority(folder, 'authority');
    server = makeCertificate(folder, 'server', authority, { names: 'DNS:localhost,IP:127.0.0.1' });
    other = makeCertificate(folder, 'other', authority, { names: 'DNS:localhost,IP:127.0.0.1' });
    client = makeCertificate(folder, 'router-7', authority, { names: 'DNS:router-7.example' });
    stranger = makeCertificate(folder, 'stranger', makeAuthority(folder, 'nobody'), { names: 'DNS:stranger.example' });
  });

  const files = (changes: Partial<SyslogConfig['tls']> = {}) => ({
    cert: server.cert,
    key: server.key,
    ca: undefined,
    requireClientCert: false,
    maxVersion: '1.2' as const,
    ...changes,
  });

  async function dial(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      ca: readCertificate(authority).cert,
      servername: 'localhost',
      ...options,
    });
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  }

  test('takes messages, in reads of any size, without a client certificate where none is wanted', async () => {
    const started = await start({ listen: [tls], tls: files() });
    const socket = await dial(portOf(started));
    const { localPort } = socket;
    const all = Array.from({ length: 3000 }, (_, n) => `message ${n} ${'x'.repeat(n % 200)}`);
    socket.end(all.map((text) => `${text.length + 4} <13>${text}`).join(''));
    await started.context.lane.until((lane) => lane.count === 3000);
    expect(messages(started.context)).toEqual(all);
    expect(events(started.context)[0]?.['peer']).toBe(`127.0.0.1:${localPort}`);
    expect(events(started.context)[0]).not.toHaveProperty('peer_name');
    expect(started.source.stats.slowPathEvents).toBe(0);
  });

  test('names the sender by its certificate', async () => {
    const started = await start({ listen: [tls], tls: files({ ca: authority.cert, requireClientCert: true }) });
    const socket = await dial(portOf(started), readCertificate(client));
    socket.end('<13>mine\n');
    await started.context.lane.until((lane) => lane.count === 1);
    expect(events(started.context)).toMatchObject([{ message: 'mine', peer_name: 'router-7' }]);
  });

  test('names no one by a certificate that the authority has not signed, where one is not required', async () => {
    const started = await start({ listen: [tls], tls: files({ ca: authority.cert }) });
    const socket = await dial(portOf(started), readCertificate(stranger));
    socket.end('<13>anyone\n');
    await started.context.lane.until((lane) => lane.count === 1);
    expect(events(started.context)[0]).toMatchObject({ message: 'anyone' });
    expect(events(started.context)[0]).not.toHaveProperty('peer_name');
  });

  test.each([
    ['no certificate', () => ({})],
    ['a certificate that the authority has not signed', () => readCertificate(stranger)],
    [
      'TLS 1.1',
      () => ({
        ...readCertificate(client),
        minVersion: 'TLSv1' as const,
        maxVersion: 'TLSv1.1' as const,
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
    ],
  ])('refuses a sender with %s, says so, and serves others', async (_name, options) => {
    const started = await start({ listen: [tls], tls: files({ ca: authority.cert, requireClientCert: true }) });
    const port = portOf(started);
    const refused = connectTls({
      port,
      host: '127.0.0.1',
      ca: readCertificate(authority).cert,
      servername: 'localhost',
      ...options(),
    });
    refused.on('error', () => {}).on('secureConnect', () => refused.write('<13>not mine\n'));
    await new Promise((resolve) => refused.resume().on('close', resolve));
    await expect
      .poll(() => started.context.logged.filter((line) => line.includes('TLS handshake failed')), patience)
      .toHaveLength(1);
    (await dial(port, readCertificate(client))).end('<13>mine\n');
    await started.context.lane.until((lane) => lane.count === 1);
    expect(messages(started.context)).toEqual(['mine']);
  });

  test.each(['1.2', '1.3'] as const)('speaks TLS up to %s where that is configured', async (maxVersion) => {
    const started = await start({ listen: [tls], tls: files({ maxVersion }) });
    const socket = await dial(portOf(started));
    expect(socket.getProtocol()).toBe(`TLSv${maxVersion}`);
  });

  test('plain text on a TLS port costs the sender its connection, and no one else', async () => {
    const started = await start({ listen: [tls], tls: files() });
    const garbage = await open(portOf(started));
    garbage.write('<13>this is no handshake\n');
    await once(garbage.resume(), 'close');
    (await dial(portOf(started))).end('<13>mine\n');
    await started.context.lane.until((lane) => lane.count === 1);
    expect(messages(started.context)).toEqual(['mine']);
  });

  test('reads changed certificates, and keeps the old ones when the new cannot be used', async () => {
    const changing = { cert: join(folder, 'changing.crt'), key: join(folder, 'changing.key') };
    const put = ({ cert, key }: Certificate) => {
      copyFileSync(cert, changing.cert);
      copyFileSync(key, changing.key);
    };
    put(server);
    const context = createTestContext();
    let nowMs = 0;
    const clock = { ...context.clock, monotonic: () => (nowMs += 10_000) };
    const started = await start({ listen: [tls], tls: files(changing) }, { ...context, clock });
    const nameNow = async () => (await dial(portOf(started))).getPeerCertificate().subject.CN;
    expect(await nameNow()).toBe('server');
    put(other);
    expect(await nameNow()).toBe('other');
    writeFileSync(changing.key, 'half written');
    expect(await nameNow()).toBe('other');
    expect(context.logged.filter((line) => line.includes('certificate'))).toEqual([
      'info: the certificates of TLS listeners were read again',
      'error: changed certificate files cannot be used; the ones loaded before stay in use',
    ]);
  });

  test('a certificate that cannot be used is an error at the start', async () => {
    const source = create({ listen: [tls], tls: files({ key: client.key }) });
    await expect(source.open()).rejects.toMatchObject({ code: 'E_TLS_FILE' });
  });

  test('takes the sender from a PROXY header before the handshake', async () => {
    const started = await start({ listen: [tls], tls: files(), proxyProtocol: true });
    const raw = await open(portOf(started));
    raw.write('PROXY TCP4 192.0.2.9 127.0.0.1 4711 6514\r\n');
    const socket = connectTls({ socket: raw, ca: readCertificate(authority).cert, servername: 'localhost' });
    await once(socket, 'secureConnect');
    socket.end('<13>far\n');
    await started.context.lane.until((lane) => lane.count === 1);
    expect(events(started.context)).toMatchObject([{ message: 'far', peer: '192.0.2.9:4711' }]);
  });
});

describe('the PROXY protocol', () => {
  const tcp: InternetAddress = { protocol: 'tcp', host: '127.0.0.1', port: 0 };
  const v2 = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000209cb0071051267 02ca'.replaceAll(' ', ''), 'hex');

  const M = Buffer.from('<13>m\n');
  /** The signature of version 2, these bytes, and a message. */
  const v2Of = (...parts: (string | Buffer)[]): Buffer =>
    Buffer.concat([
      v2.subarray(0, 12),
      ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)),
      M,
    ]);
  /** The bytes of an address with one `::`. */
  function v6(text: string): Buffer {
    const [head, tail] = text.split('::').map((part) =>
      Buffer.from(
        part
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      ),
    );
    return Buffer.concat([head!, Buffer.alloc(16 - head!.length - tail!.length), tail!]);
  }

  test.each<[string, (string | Buffer)[], string | undefined]>([
    ['version 1', ['PROXY TCP4 192.0.2.9 203.0.113.5 4711 601\r\n<13>m\n'], '192.0.2.9:4711'],
    ['version 1, IPv6', ['PROXY TCP6 2001:db8::9 2001:db8::1 4711 601\r\n<13>m\n'], '[2001:db8::9]:4711'],
    ['version 1, unknown', ['PROXY UNKNOWN\r\n<13>m\n'], undefined],
    ['version 1 in pieces', ['PRO', 'XY TCP4 192.0.2.9 203.0.113.5 47', '11 601\r', '\n<1', '3>m\n'], '192.0.2.9:4711'],
    ['version 2', [Buffer.concat([v2, M])], '192.0.2.9:4711'],
    ['version 2, IPv6', [v2Of('21210024', v6('2001:0db8::9'), v6('2001:0db8::1'), '126702ca')], '[2001:db8::9]:4711'],
    ['version 2 of the proxy itself', [v2Of('20000000')], undefined],
    ['version 2 with what proxies add', [v2Of('21110010', v2.subarray(16), '04000161')], '192.0.2.9:4711'],
    [
      'version 2 in pieces',
      [v2.subarray(0, 5), v2.subarray(5, 20), Buffer.concat([v2.subarray(20), M.subarray(0, 4)]), 'm\n'],
      '192.0.2.9:4711',
    ],
  ])('%s', async (_name, writes, peer) => {
    const started = await start({ listen: [tcp], proxyProtocol: true });
    const socket = await open(portOf(started));
    socket.setNoDelay(true);
    for (const write of writes) {
      await new Promise((resolve) => socket.write(write, resolve));
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await started.context.lane.until((lane) => lane.count === 1);
    expect(events(started.context)).toMatchObject([{ message: 'm', peer: peer ?? `127.0.0.1:${socket.localPort}` }]);
  });

  test.each([
    '<13>no header\n',
    'PROXY TCP4 192.0.2.9\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    `PROXY UNKNOWN ${'x'.repeat(200)}`,
    '\r\n\r\n\0\r\nQUIT\n\x31\x11\0\x0c',
  ])('closes a connection that begins with %j, and says so', async (beginning) => {
    const started = await start({ listen: [tcp], proxyProtocol: true });
    const socket = await open(portOf(started));
    socket.write(beginning, 'latin1');
    await once(socket.resume(), 'close');
    expect(started.context.logged.filter((line) => line.includes('PROXY'))).toHaveLength(1);
    expect(started.context.lane.count).toBe(0);
  });
});

describe('unix stream sockets', () => {
  const unix = (name: string) => ({ protocol: 'unix', path: join(folder, name) }) as const;

  test('take messages that LF or NUL ends, with the permissions that are configured, and go when they are closed', async () => {
    const address = unix('stream.sock');
    const { context, source } = await start({ listen: [address], socketMode: 0o622, proxyProtocol: true });
    expect(lstatSync(address.path).mode & 0o777).toBe(0o622);
    const socket = connect(address.path);
    socket.end('<13>one\0<13>two\n<13>three');
    await context.lane.until((lane) => lane.count === 3);
    expect(events(context)).toMatchObject(
      ['one', 'two', 'three'].map((message) => ({ message, peer: `unix:${address.path}` })),
    );
    await source.stop();
    expect(existsSync(address.path)).toBe(false);
  });

  test('replace what a killed agent left', async () => {
    const address = unix('left.sock');
    const code = `require('net').createServer().listen(${JSON.stringify(address.path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', code]);
    expect(existsSync(address.path)).toBe(true);
    const { context } = await start({ listen: [address] });
    connect(address.path).end('<13>new\n');
    await context.lane.until((lane) => lane.count === 1);
    expect(messages(context)).toEqual(['new']);
  });

  test('are refused at a path with a file, with a socket that is in use, and in a folder that is not there', async () => {
    const file = unix('file.sock');
    writeFileSync(file.path, 'precious');
    await expect(create({ listen: [file] }).open()).rejects.toThrow('a file that is no socket is there');
    expect(existsSync(file.path)).toBe(true);
    const used = unix('used.sock');
    const server = createServer().listen(used.path);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    await expect(create({ listen: [used] }).open()).rejects.toThrow(
      `cannot listen on unix://${used.path}: another program listens there`,
    );
    await expect(create({ listen: [unix('nowhere/x.sock')] }).open()).rejects.toThrow('its folder does not exist');
  });
});

const hasLogger = spawnSync('logger', ['--version']).error === undefined;

describe.skipIf(nativeLibrary() === undefined || !hasLogger)('unix datagram sockets (apt-get install bsdutils)', () => {
  const unixgram = (name: string) => ({ protocol: 'unixgram', path: join(folder, name) }) as const;
  const send = async (path: string, ...args: string[]): Promise<void> => {
    await run('logger', ['--socket', path, '--socket-errors=on', '--id=7', '--tag', 'app', ...args]);
  };
  const sendRaw = async (path: string, sizes: readonly number[]): Promise<void> => {
    const script = `import socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET,socket.SO_SNDBUF,1<<21)
for size in ${JSON.stringify(sizes)}: s.sendto(b'<13>'+b'y'*size,${JSON.stringify(path)})`;
    await run('python3', ['-c', script]);
  };

  test('take messages of logger, with the permissions that are configured, and go when they are closed', async () => {
    const address = unixgram('log.sock');
    const { context, source } = await start({ listen: [address], socketMode: 0o666 });
    expect(lstatSync(address.path).mode & 0o777).toBe(0o666);
    await send(address.path, 'hello');
    await context.lane.until((lane) => lane.count === 1);
    expect(events(context)).toMatchObject([
      { message: 'hello', appname: 'app', procid: '7', peer: `unix:${address.path}` },
    ]);
    await source.stop();
    expect(existsSync(address.path)).toBe(false);
  });

  test('keep the beginning of a datagram that is too long, and say how long it was', async () => {
    const address = unixgram('long.sock');
    const { context, source } = await start({ listen: [address], maxEventBytes: 1 << 20 });
    await sendRaw(address.path, [10, 200_000, 300_000, 20]);
    await context.lane.until((lane) => lane.count === 4);
    expect(events(context).map((event) => [String(event['message']).length, event['original_bytes']])).toEqual([
      [10, undefined],
      [200_000, undefined],
      [256 * 1024 - 4, 300_004],
      [20, undefined],
    ]);
    expect(source.stats.truncatedEvents).toBe(1);
  });

  test('make senders wait while there is no room, and lose nothing', async () => {
    const address = unixgram('slow.sock');
    const { context } = await start({ listen: [address] });
    context.lane.hold();
    const sizes = Array.from({ length: 3000 }, () => 5000);
    const script = `import socket
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)
for size in ${JSON.stringify(sizes)}: s.sendto(b'<13>'+b'y'*size,${JSON.stringify(address.path)})`;
    const sender = spawn('python3', ['-c', script], { stdio: 'inherit' });
    const ended = once(sender, 'exit');
    await context.lane.until((lane) => lane.waiting === 1);
    for (let turn = 0; turn < 2000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sender.exitCode).toBeNull();
    context.lane.release();
    await context.lane.until((lane) => lane.count === 3000);
    expect((await ended)[0]).toBe(0);
  });

  test('are refused without the native way', async () => {
    await expect(create({ listen: [unixgram('x.sock')] }, undefined, 'node').open()).rejects.toMatchObject({
      code: 'E_LISTEN',
      message: expect.stringContaining('this Node has no node:ffi'),
    });
  });
});

describe('what systemd opened', () => {
  const descriptors = { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'a:b:a' };

  test.each([
    ['', [3, 4, 5]],
    ['a', [3, 5]],
    ['b', [4]],
    ['c', []],
  ])('of the name %j', (name, fds) => {
    expect(systemdDescriptors(name, descriptors, 7).map(({ fd }) => fd)).toEqual(fds);
  });

  test('is nothing for another process, or without descriptors', () => {
    expect(systemdDescriptors('', descriptors, 8)).toEqual([]);
    expect(systemdDescriptors('', { ...descriptors, LISTEN_FDS: 'x' }, 7)).toEqual([]);
    expect(systemdDescriptors('', {}, 7)).toEqual([]);
  });

  test('that is not there is an error which says what to do', async () => {
    await expect(create({ listen: [{ protocol: 'systemd', name: 'web' }] }).open()).rejects.toMatchObject({
      code: 'E_LISTEN',
      message: 'cannot listen on systemd://web: systemd has opened no such socket for this process',
    });
  });

  test.skipIf(nativeLibrary() === undefined || spawnSync('systemd-socket-activate', ['--version']).error !== undefined)(
    'is served whatever its kind: TCP, UDP, unix stream and unix datagram (apt-get install systemd)',
    async () => {
      const child = join(import.meta.dirname, 'activated-child.ts');
      for (const [option, kind] of [
        [[], 'stream'],
        [['--datagram'], 'datagram'],
      ] as const) {
        const port = await freePort();
        const path = join(folder, `activated-${kind}.sock`);
        const args = [
          ...option,
          `--listen=127.0.0.1:${port}`,
          `--listen=${path}`,
          process.execPath,
          '--disable-warning=ExperimentalWarning',
          child,
        ];
        const activated = spawn('systemd-socket-activate', args, { stdio: ['ignore', 'pipe', 'inherit'] });
        onTestFinished(() => void activated.kill('SIGKILL'));
        const lines = createInterface({ input: activated.stdout })[Symbol.asyncIterator]();
        await expect.poll(() => existsSync(path), patience).toBe(true);
        const network = kind === 'stream' ? ['--tcp'] : ['--udp'];
        // The first one starts the process, and is not lost.
        await run('logger', [
          '--server',
          '127.0.0.1',
          '--port',
          String(port),
          ...network,
          '--rfc3164',
          '--tag',
          'app',
          'by network',
        ]);
        const first = JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
        if (kind === 'stream') connect(path).end('<13>by path\n');
        else await run('logger', ['--socket', path, '--socket-errors=on', '--tag', 'app', 'by path']);
        const second = JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
        expect(first).toMatchObject({ message: 'by network', peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
        expect(second).toMatchObject({ message: 'by path', peer: 'unix' });
      }
    },
  );
});

/** Real clients over what logger and loggen do not cover in source.test.ts: rsyslog, loggen over TLS and unix sockets, logger's sockets, journald. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { InternetAddress, ListenAddress } from '../../../src/config/fields/kinds-listen.ts';
import { nativeLibrary } from '../../../src/sources/native/library.ts';
import { type Certificate, hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts';
import { findProgram } from '../../support/installed.ts';
import { hasRsyslog, startRsyslog } from '../../support/rsyslog.ts';
import { expectRelayed, logFile, sampleLines } from './relayed.ts';
import { snippetBehind } from './snippets.ts';
import { events, messages, patience, start, tcp, udp } from './started.ts';
import { suiteFolder } from '../../support/temp-tree.ts';

// Never synchronously: a full socket makes the client wait for this process.
const run = promisify(execFile);
const tlsAddress: InternetAddress = { protocol: 'tls', host: '127.0.0.1', port: 0 };
const lines = sampleLines(300);
const folder = suiteFolder();
let authority: Certificate;
let server: Certificate;
let client: Certificate;

beforeAll(() => {
  writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\n`);
  if (!hasOpenssl) return;
  authority = makeAuthority(folder, 'authority');
  server = makeCertificate(folder, 'server', authority, { names: 'DNS:localhost,IP:127.0.0.1' });
  client = makeCertificate(folder, 'relay-1', authority, { names: 'DNS:relay-1.example' });
});

const tlsFiles = (requireClientCert: boolean) => ({
  cert: server.cert,
  key: server.key,
  ca: requireClientCert ? authority.cert : undefined,
  requireClientCert,
  maxVersion: '1.2' as const,
});

describe.skipIf(!hasRsyslog || !hasOpenssl)('rsyslog (.ci/unpack-rsyslog)', () => {
  const omfwd = (port: number, more: string, template = 'RSYSLOG_SyslogProtocol23Format'): string =>
    `action(type="omfwd" target="127.0.0.1" port="${port}" template="${template}" ${more})`;

  test.each<[string, (port: number) => string, ListenAddress, Record<string, unknown>]>([
    ['over TCP, octet-counted', (port) => omfwd(port, 'protocol="tcp" TCP_Framing="octet-counted"'), tcp, {}],
    ['over TCP, with newlines', (port) => omfwd(port, 'protocol="tcp"'), tcp, {}],
    ['over UDP, RFC 3164 with an ISO time', (port) => omfwd(port, 'protocol="udp"', 'RSYSLOG_ForwardFormat'), udp, {}],
    ['over TCP, RFC 3164', (port) => omfwd(port, 'protocol="tcp"', 'RSYSLOG_TraditionalForwardFormat'), tcp, {}],
    [
      'over TLS with a client certificate',
      (port) =>
        omfwd(
          port,
          'protocol="tcp" TCP_Framing="octet-counted" StreamDriver="gtls" StreamDriverMode="1" ' +
            'StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="server"',
        ),
      tlsAddress,
      { peer_name: 'relay-1' },
    ],
  ])('%s: every message arrives with its fields', async (_name, action, address, fields) => {
    const { context, source } = await start({ listen: [address], tls: tlsFiles(true) });
    const own = mkdtempSync(join(folder, 'rsyslog-'));
    const { port } = source.addresses()[0] as InternetAddress;
    const input = join(own, 'in.sock');
    const rsyslog = startRsyslog(
      own,
      `global(DefaultNetstreamDriverCAFile="${authority.cert}" DefaultNetstreamDriverCertFile="${client.cert}" DefaultNetstreamDriverKeyFile="${client.key}" workDirectory="${own}")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="${input}" RateLimit.Interval="0")
${action(port)}
`,
    );
    onTestFinished(() => void rsyslog.kill('SIGKILL'));
    await logFile(input, join(folder, 'lines'));
    await expectRelayed(context, lines, { host: expect.any(String), ...fields });
    for (const event of events(context))
      expect(Math.abs(Date.parse(event['_time'] as string) - Date.now())).toBeLessThan(120_000);
    expect(source.stats.slowPathEvents).toBe(0);
    rsyslog.kill('SIGTERM');
    await once(rsyslog, 'exit');
  });
});

describe.skipIf(findProgram('loggen') === undefined)('syslog-ng loggen (apt-get install syslog-ng-core)', () => {
  const count = 3000;
  const loggen = (...args: string[]): Promise<unknown> => {
    const child = spawn(
      'loggen',
      ['--number', String(count), '--rate', '100000', '--interval', '60', '--size', '300', ...args],
      {
        stdio: 'ignore',
      },
    );
    return once(child, 'exit');
  };
  const arrive = async (context: Awaited<ReturnType<typeof start>>['context']): Promise<void> => {
    await context.lane.until((lane) => lane.count === count);
    const numbers = messages(context).map((text) => Number(/seq: (\d+)/.exec(String(text))![1]));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
  };

  test.skipIf(!hasOpenssl)('over TLS: every message arrives once', async () => {
    const { context, source } = await start({ listen: [tlsAddress], tls: tlsFiles(false), maxEventBytes: 10_000 });
    const { port } = source.addresses()[0] as InternetAddress;
    await loggen('--use-ssl', '127.0.0.1', String(port));
    await arrive(context);
  });

  test('over a unix stream socket: every message arrives once', async () => {
    const path = join(folder, 'loggen-stream.sock');
    const { context } = await start({ listen: [{ protocol: 'unix', path }] });
    await loggen('--unix', '--stream', path);
    await arrive(context);
  });

  test.skipIf(nativeLibrary() === undefined)('over a unix datagram socket: every message arrives once', async () => {
    const path = join(folder, 'loggen-dgram.sock');
    const { context } = await start({ listen: [{ protocol: 'unixgram', path }] });
    await loggen('--unix', '--dgram', path);
    await arrive(context);
  });
});

describe.skipIf(findProgram('logger') === undefined)('util-linux logger on sockets (apt-get install bsdutils)', () => {
  const send = async (path: string, ...args: string[]): Promise<void> => {
    await run('logger', [
      '--socket',
      path,
      '--socket-errors=on',
      '-p',
      'local3.warning',
      '-t',
      'shop',
      '-f',
      join(folder, 'lines'),
      ...args,
    ]);
  };

  test('a unix stream socket takes every message', async () => {
    const path = join(folder, 'logger-stream.sock');
    const { context } = await start({ listen: [{ protocol: 'unix', path }] });
    await send(path);
    await context.lane.until((lane) => lane.count === lines.length);
    expect(messages(context)).toEqual(lines);
    expect(events(context)[0]).toMatchObject({ facility: 'local3', severity: 'warning', appname: 'shop' });
  });

  test.skipIf(nativeLibrary() === undefined)('a unix datagram socket takes every message', async () => {
    const path = join(folder, 'logger-dgram.sock');
    const { context } = await start({ listen: [{ protocol: 'unixgram', path }] });
    await send(path);
    await context.lane.until((lane) => lane.count === lines.length);
    expect(messages(context)).toEqual(lines);
  });
});

const JOURNALD = '/lib/systemd/systemd-journald';
const canUnshare =
  spawnSync('unshare', ['--mount', '--propagation', 'private', 'mount', '-t', 'tmpfs', 'none', '/run']).status === 0;

describe.skipIf(!existsSync(JOURNALD) || !canUnshare || nativeLibrary() === undefined)(
  'journald (apt-get install systemd, as root)',
  () => {
    test('forwards its entries to the socket that is listened on', async () => {
      const shared = join(folder, 'journal');
      mkdirSync(shared);
      const { context } = await start({
        listen: [{ protocol: 'unixgram', path: join(shared, 'syslog') }],
        socketMode: 0o666,
      });
      writeFileSync(join(folder, 'forward.conf'), snippetBehind('**journald**'));
      // A /run of its own, of which the folder with the sockets is ours.
      const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal /run/log/journal /run/systemd/journald.conf.d &&
mount --bind ${shared} /run/systemd/journal &&
cp ${folder}/forward.conf /run/systemd/journald.conf.d/tailrace.conf &&
printf '[Journal]\\nStorage=volatile\\nReadKMsg=no\\nAudit=no\\nRateLimitIntervalSec=0\\n' > /run/systemd/journald.conf.d/test.conf &&
exec ${JOURNALD}`;
      const journald = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script], {
        stdio: 'ignore',
      });
      onTestFinished(() => void journald.kill('SIGKILL'));
      const input = join(shared, 'dev-log');
      await expect.poll(() => existsSync(input), patience).toBe(true);
      await run('logger', [
        '--socket',
        input,
        '--socket-errors=on',
        '-p',
        'local3.warning',
        '-t',
        'shop',
        'through the journal é',
      ]);
      await context.lane.until(() => messages(context).includes('through the journal é'));
      expect(events(context).find(({ message }) => message === 'through the journal é')).toMatchObject({
        facility: 'local3',
        severity: 'warning',
        appname: 'shop',
      });
    });
  },
);

/** A message without a priority was kept as text, with `parse_error`, though it began with a header of RFC 3164. It is taken as 13, over each way in. */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { InternetAddress } from '../../../src/config/fields/kinds-listen.ts';
import type { SyslogConfig } from '../../../src/sources/syslog/syslog-type.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { nativeLibrary } from '../../../src/sources/native/library.ts';
import { hasOpenssl, makeAuthority, makeCertificate, readCertificate } from '../../support/certificates.ts';
import { suiteFolder } from '../../support/temp-tree.ts';
import { createTestContext } from '../source-context.ts';
import { RECEIVED_AT } from './receipt.ts';
import { config, events, start, tcp, udp, type Started } from './started.ts';

const folder = suiteFolder();
const clock = { ...systemClock, now: () => Date.parse(RECEIVED_AT) };
/** The kernel reads the first two, JavaScript the third; the last has no header. */
const MESSAGES = [
  'Jul 10 07:59:57 gw CEF:0|Vendor|Product|1|42|Sign in|3|',
  'Jul 10 07:59:58 cron[12]: started',
  '2026-07-10T07:59:59Z gw app: é',
  'Jul 32 07:59:59 gw app: x',
];
const head = { facility: 'user', facility_code: 1, severity: 'notice', severity_code: 5 };
const EVENTS = [
  { ...head, _time: '2026-07-10T07:59:57Z', host: 'gw', message: 'CEF:0|Vendor|Product|1|42|Sign in|3|' },
  { ...head, _time: '2026-07-10T07:59:58Z', appname: 'cron', procid: '12', message: 'started' },
  { ...head, _time: '2026-07-10T07:59:59Z', host: 'gw', appname: 'app', message: 'é' },
  { _time: RECEIVED_AT, message: MESSAGES[3], parse_error: 'no <PRI> from 0 to 191 at the beginning' },
];

const portOf = ({ source }: Started): number => (source.addresses()[0] as InternetAddress).port;

async function expectEvents(started: Started): Promise<void> {
  await started.context.lane.until((lane) => lane.count === MESSAGES.length);
  const seen = events(started.context).map(({ peer: _peer, team: _team, ...event }) => event);
  expect(seen).toEqual(EVENTS);
}

async function sendLines(socket: Socket): Promise<void> {
  for (const text of MESSAGES) await new Promise<void>((resolve) => void socket.write(`${text}\n`, () => resolve()));
  socket.end();
}

async function sendDatagrams(port: number): Promise<void> {
  const socket = createSocket('udp4');
  for (const text of MESSAGES) await new Promise((resolve) => socket.send(text, port, '127.0.0.1', resolve));
  socket.close();
}

const open = (changes: Partial<SyslogConfig>, library?: 'node') =>
  start(changes, createTestContext({ clock }), library);

test('a header without a priority is read from datagrams', async () => {
  const started = await open({ listen: [udp] });
  await sendDatagrams(portOf(started));
  await expectEvents(started);
});

test('a header without a priority is read from datagrams that come through Node', async () => {
  const started = await open({ listen: [udp] }, 'node');
  await sendDatagrams(portOf(started));
  await expectEvents(started);
});

test('a header without a priority is read over TCP, line by line', async () => {
  const started = await open({ listen: [tcp] });
  const socket = connect(portOf(started), '127.0.0.1');
  await once(socket, 'connect');
  await sendLines(socket);
  await expectEvents(started);
});

test('a header without a priority is read behind octet counts of a sender that counts', async () => {
  const started = await open({ listen: [tcp] });
  const socket = connect(portOf(started), '127.0.0.1');
  socket.end(['<13>first', ...MESSAGES].map((text) => `${Buffer.byteLength(text)} ${text}`).join(''));
  await started.context.lane.until((lane) => lane.count === MESSAGES.length + 1);
  expect(events(started.context).slice(1)).toMatchObject(EVENTS);
});

test.skipIf(!hasOpenssl)('a header without a priority is read over TLS (apt-get install openssl)', async () => {
  const authority = makeAuthority(folder, 'authority');
  const server = makeCertificate(folder, 'server', authority, { names: 'DNS:localhost,IP:127.0.0.1' });
  const started = await open({
    listen: [{ protocol: 'tls', host: '127.0.0.1', port: 0 }],
    tls: { ...config.tls, ...server },
  });
  const socket = connectTls({
    port: portOf(started),
    host: '127.0.0.1',
    ca: readCertificate(authority).cert,
    servername: 'localhost',
  });
  await once(socket, 'secureConnect');
  await sendLines(socket);
  await expectEvents(started);
});

test('a header without a priority is read from a unix stream socket', async () => {
  const path = join(folder, 'stream.sock');
  const started = await open({ listen: [{ protocol: 'unix', path }] });
  await sendLines(connect(path));
  await expectEvents(started);
});

test.skipIf(nativeLibrary() === undefined)(
  'a header without a priority is read from a unix datagram socket',
  async () => {
    const path = join(folder, 'datagram.sock');
    const started = await open({ listen: [{ protocol: 'unixgram', path }] });
    const script = `import socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)
for text in sys.argv[2:]: s.sendto(text.encode(),sys.argv[1])`;
    await promisify(execFile)('python3', ['-c', script, path, ...MESSAGES], {
      env: { ...process.env, PYTHONUTF8: '1' },
    });
    await expectEvents(started);
  },
);

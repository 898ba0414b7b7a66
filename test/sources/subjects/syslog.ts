/** Listeners of each kind, with a sender. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { InternetAddress } from '../../../src/config/fields/kinds-listen.ts';
import { hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { createTestContext } from '../source-context.ts';
import { create } from '../syslog/started.ts';
import type { Subject, Subjects } from './subject.ts';

const SYSLOG = { prefix: '<13>', losesEvents: true, logsLoss: 'warn: syslog messages were lost' };

/** A syslog source with one listener. `open` resolves with a connection to it. */
function streamSubject(
  changes: Parameters<typeof create>[0],
  open: (port: number) => Promise<Socket>,
  isReadFirst = false,
): Subject {
  const context = createTestContext();
  const source = create(changes, context);
  let socket: Socket | undefined;
  let port = 0;
  return {
    source,
    context,
    ...SYSLOG,
    rest: '<13>rest',
    isReadFirst,
    async connect() {
      const [address] = source.addresses();
      if (address !== undefined && 'port' in address) ({ port } = address);
      socket = await open(port);
      socket.on('error', () => {});
      onTestFinished(() => void socket!.destroy());
    },
    send: (text) => new Promise((resolve) => socket!.write(text, resolve)),
  };
}

const listen = (protocol: InternetAddress['protocol']): InternetAddress => ({ protocol, host: '127.0.0.1', port: 0 });

async function dial(socket: Socket, event = 'connect'): Promise<Socket> {
  await once(socket, event);
  return socket;
}

function udpSubject(): Subject {
  const context = createTestContext();
  const source = create({ listen: [listen('udp')] }, context);
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  return {
    source,
    context,
    ...SYSLOG,
    rest: '<13>rest',
    isDatagram: true,
    async send(text) {
      const { port } = source.addresses()[0] as InternetAddress;
      for (const message of text.split('\n').filter((each) => each !== ''))
        await new Promise((resolve) => socket.send(message, port, '127.0.0.1', resolve));
    },
  };
}

function tlsSubject(): Subject {
  const folder = makeTree({});
  const { cert, key } = makeCertificate(folder, 'server', makeAuthority(folder, 'authority'), {
    names: 'IP:127.0.0.1',
  });
  const tls = { cert, key, ca: undefined, requireClientCert: false, maxVersion: '1.3' as const };
  const open = (port: number): Promise<Socket> =>
    dial(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }), 'secureConnect');
  return streamSubject({ listen: [listen('tls')], tls }, open, true);
}

function unixSubject(): Subject {
  const path = join(makeTree({}), 'log.sock');
  return streamSubject({ listen: [{ protocol: 'unix', path }] }, () => dial(connect(path)));
}

export const subjects: Subjects = {
  'syslog over UDP': udpSubject,
  'syslog over TCP': () => streamSubject({ listen: [listen('tcp')] }, (port) => dial(connect(port, '127.0.0.1'))),
  'syslog over a unix socket': unixSubject,
  ...(hasOpenssl ? { 'syslog over TLS': tlsSubject } : {}),
};

/** Named for the program that they lack. */
export const skipped = hasOpenssl ? [] : ['syslog over TLS (apt-get install openssl)'];

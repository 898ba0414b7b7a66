/** What holds for every source, whatever it reads: how it hands over, waits, stops and is stopped. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { InternetAddress } from '../../src/config/model.ts';
import type { Source } from '../../src/core/source.ts';
import { createFileSource } from '../../src/sources/file/source.ts';
import { createStdinSource } from '../../src/sources/stdin/stdin.ts';
import { hasOpenssl, makeAuthority, makeCertificate } from '../support/certificates.ts';
import { fileSourceConfig, plainLineConfig } from '../support/source-config.ts';
import { settleTurns } from '../support/until.ts';
import { createTestContext, type TestContext } from './source-context.ts';
import { create, patience } from './syslog/started.ts';
import { makeTree } from '../support/temp-tree.ts';

/** A source that is not open yet, and what its sender does. */
interface Subject {
  readonly source: Source;
  readonly context: TestContext;
  /** Connects, once the source is open. */
  connect?(): Promise<void>;
  /** Resolves when the system has taken it. */
  send(text: string): Promise<unknown> | void;
  /** What comes last may have no newline; of a file it is left for the next start. */
  readonly rest: string;
  /** What is sent is read, not only received, before a stop is sure to hand it over. */
  readonly isReadFirst?: boolean;
  /** Its newlines only part what is sent. */
  readonly isDatagram?: boolean;
  /** Bytes of a message before its text. */
  readonly prefix: string;
}

function fileSubject(): Subject {
  const path = join(makeTree({}), 'a.log');
  writeFileSync(path, '');
  const context = createTestContext();
  const source = createFileSource(fileSourceConfig(path, { scanIntervalMs: 10 }), context);
  return { source, context, prefix: '', rest: '', send: (text) => appendFileSync(path, text) };
}

function stdinSubject(): Subject {
  const context = createTestContext();
  const input = new PassThrough();
  const source = createStdinSource({ ...plainLineConfig, id: 'pipe' }, context, { input });
  return { source, context, prefix: '', rest: 'rest', isReadFirst: true, send: (text) => void input.write(text) };
}

/** A syslog source with one listener. `open` resolves with a connection to it. */
function streamSubject(changes: Parameters<typeof create>[0], open: (port: number) => Promise<Socket>, isReadFirst = false): Subject {
  const context = createTestContext();
  const source = create(changes, context);
  let socket: Socket | undefined;
  let port = 0;
  return {
    source,
    context,
    prefix: '<13>',
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
    prefix: '<13>',
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
  const { cert, key } = makeCertificate(folder, 'server', makeAuthority(folder, 'authority'), { names: 'IP:127.0.0.1' });
  const tls = { cert, key, ca: undefined, requireClientCert: false, maxVersion: '1.3' as const };
  const open = (port: number): Promise<Socket> => dial(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }), 'secureConnect');
  return streamSubject({ listen: [listen('tls')], tls }, open, true);
}

function unixSubject(): Subject {
  const path = join(makeTree({}), 'log.sock');
  return streamSubject({ listen: [{ protocol: 'unix', path }] }, () => dial(connect(path)));
}

const subjects: readonly (readonly [name: string, make: () => Subject, isThere?: boolean])[] = [
  ['file', fileSubject],
  ['stdin', stdinSubject],
  ['syslog over UDP', udpSubject],
  ['syslog over TCP', () => streamSubject({ listen: [listen('tcp')] }, (port) => dial(connect(port, '127.0.0.1')))],
  ['syslog over TLS (apt-get install openssl)', tlsSubject, hasOpenssl],
  ['syslog over a unix socket', unixSubject],
];

/** As many messages as the smallest receive buffer of a socket holds. */
const COUNT = 149;
const texts = Array.from({ length: COUNT }, (_, n) => `message ${n}`);
const sent = ({ prefix }: Subject): string => texts.map((text) => `${prefix}${text}\n`).join('');

const bytesOf = (subject: Subject): number => `${sent(subject)}${subject.rest}`.length;

/** The newlines between datagrams are not sent. */
const isRead = (subject: Subject): Promise<void> =>
  expect.poll(() => subject.source.stats.readBytes, patience).toBe(bytesOf(subject) - (subject.isDatagram ? COUNT : 0));

/** The text of each line that the lane took. */
const taken = ({ context, prefix }: Subject): unknown[] =>
  context.lane.texts.map((line) => (prefix === '' ? line : (JSON.parse(line) as { message: string }).message));

async function start(make: () => Subject): Promise<Subject & { readonly running: Promise<void> }> {
  const subject = make();
  await subject.source.open();
  const running = subject.source.run();
  onTestFinished(async () => {
    subject.context.lane.giveUp();
    await subject.source.stop();
    await running;
  });
  await subject.connect?.();
  return { ...subject, running };
}

for (const [name, make, isThere = true] of subjects)
  describe.skipIf(!isThere)(name, () => {
    test('hands over each event once, in order, in streams that were minted before', async () => {
      const subject = await start(make);
      const { lane, minted } = subject.context;
      await subject.send(sent(subject));
      await lane.until(({ count }) => count === COUNT);
      await subject.source.stop();
      expect(taken(subject)).toEqual(texts);
      expect(new Set(lane.blocks.map(({ stream }) => stream))).toEqual(new Set(minted.map(({ id }) => id)));
      expect(minted).toHaveLength(1);
      expect(subject.source.stats).toMatchObject({ lostBytes: 0 });
      expect(subject.source.stats.droppedEvents ?? 0).toBe(0);
    });

    test('offers one block at a time, and goes on where it was once the lane takes it', async () => {
      const subject = await start(make);
      const { lane } = subject.context;
      lane.hold();
      await subject.send(sent(subject));
      await lane.until(({ waiting }) => waiting === 1);
      await settleTurns(200);
      expect([lane.waiting, lane.count]).toEqual([1, 0]);
      lane.release();
      await lane.until(({ count }) => count === COUNT);
      expect(taken(subject)).toEqual(texts);
    });

    test('stop hands over what was received, the unfinished end too, may be called twice, ends run, and lets nobody in', async () => {
      const subject = await start(make);
      const { source, context, prefix, rest } = subject;
      await subject.send(sent(subject) + rest);
      if (source.kind === 'file') await context.lane.until(({ count }) => count === COUNT);
      else if (subject.isReadFirst) await isRead(subject);
      await Promise.all([source.stop(), source.stop()]);
      await subject.running;
      expect(taken(subject)).toEqual(rest === '' ? texts : [...texts, rest.slice(prefix.length)]);
      expect(context.lane.waiting).toBe(0);
      if (subject.connect) await expect(subject.connect()).rejects.toThrow(/ECONNREFUSED|ENOENT/);
    });

    test('stop before run is the end', async () => {
      const { source, context } = make();
      await source.open();
      await source.stop();
      await source.run();
      expect(context.lane.blocks).toEqual([]);
    });

    test('lane that takes nothing any more ends it, and what cannot be read again is counted and logged', async () => {
      const subject = await start(make);
      const { source, context } = subject;
      context.lane.hold();
      await subject.send(sent(subject) + subject.rest);
      await context.lane.until(({ waiting }) => waiting === 1);
      if (source.kind !== 'file') await isRead(subject);
      context.lane.giveUp();
      await source.stop();
      await subject.running;
      const { lostBytes, droppedEvents = 0 } = source.stats;
      expect(context.lane.blocks).toEqual([]);
      const expected = {
        file: { lost: [0, 0], logged: [] },
        stdin: { lost: [bytesOf(subject), 0], logged: ['error: stopped before all that was read from standard input was accepted'] },
        syslog: { lost: [lostBytes, COUNT + 1], logged: ['warn: syslog messages were lost'] },
      }[source.kind];
      expect([lostBytes, droppedEvents]).toEqual(expected.lost);
      expect(context.logged).toEqual(expect.arrayContaining(expected.logged));
      // An audit of a later process reads them from the state.
      expect(context.losses.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(lostBytes);
    });
  });

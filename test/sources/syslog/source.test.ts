import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { TailraceError } from '../../../src/core/errors.ts';
import { createTestContext } from '../source-context.ts';
import type { TestContext } from '../source-context.ts';
import { create, events, messages, patience, start, tcp, udp } from './started.ts';
import { beginning } from '../../support/begin.ts';

const run = promisify(execFile);

const test = beginning(() => start(), 'context', 'source', 'tcpPort', 'udpPort');

async function open(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function write(socket: Socket, data: string | Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())));
}

async function sendDatagrams(port: number, datagrams: readonly string[], host = '127.0.0.1'): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  for (const datagram of datagrams) await new Promise((resolve) => socket.send(datagram, port, host, resolve));
  const from = socket.address().port;
  socket.close();
  return from;
}

describe('syslog over UDP', () => {
  test('takes each datagram as an event with its peer, in one stream', async ({ context, source, udpPort }) => {
    const from = await sendDatagrams(udpPort, ['<13>one', '<13>two\n', 'three', '\n']);
    await context.lane.until((lane) => lane.count === 3);
    expect(events(context)).toMatchObject([
      { message: 'one', facility: 'user', severity: 'notice', peer: `127.0.0.1:${from}`, team: 'core' },
      { message: 'two' },
      { message: 'three', parse_error: expect.any(String), team: 'core' },
    ]);
    expect(context.minted).toHaveLength(1);
    expect(context.lane.blocks[0]?.shape).toEqual({ format: 'events', wrapFields: {}, fields: {}, objects: 'none' });
    expect(source.stats).toMatchObject({ readBytes: 21, slowPathEvents: 1, lostBytes: 0, droppedEvents: 0 });
  });

  test('listens on IPv6', async () => {
    const { context, udpPort } = await start({ listen: [{ protocol: 'udp', host: '::1', port: 0 }] });
    const from = await sendDatagrams(udpPort, ['<13>six'], '::1');
    await context.lane.until((lane) => lane.count === 1);
    expect(events(context)).toMatchObject([{ message: 'six', peer: `[::1]:${from}` }]);
  });

  test('stops reading while the lane waits, and takes what the system held once it goes on', async ({
    context,
    source,
    udpPort,
  }) => {
    context.lane.hold();
    const datagram = `<13>${'x'.repeat(9000)}`;
    let sent = 0;
    for (let before = -1; before !== source.stats.readBytes || before < 300_000;) {
      before = source.stats.readBytes;
      await sendDatagrams(
        udpPort,
        Array.from({ length: 10 }, () => datagram),
      );
      sent += 10;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(source.stats.readBytes).toBeLessThan(sent * datagram.length);
    expect(context.lane.count).toBeLessThan(sent);
    context.lane.release();
    await context.lane.until((lane) => lane.count === sent);
    expect(source.stats).toMatchObject({ readBytes: sent * datagram.length, droppedEvents: 0, lostBytes: 0 });
  });

  test('through Node drops and counts what finds no room while the lane waits, and goes on after', async () => {
    const { context, source, udpPort } = await start({}, undefined, 'node');
    context.lane.hold();
    const datagram = `<13>${'x'.repeat(9000)}`;
    const some = Array.from({ length: 20 }, () => datagram);
    for (let tries = 0; tries < 1000 && source.stats.droppedEvents === 0; tries += 1) {
      await sendDatagrams(udpPort, some);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(source.stats.droppedEvents).toBeGreaterThan(0);
    context.lane.release();
    await context.lane.until(
      (lane) => lane.count + (source.stats.droppedEvents ?? 0) === source.stats.readBytes / datagram.length,
    );
    await sendDatagrams(udpPort, ['<13>after']);
    await context.lane.until(() => messages(context).at(-1) === 'after');
    expect(source.stats.lostBytes).toBe(source.stats.droppedEvents! * datagram.length);
    expect(source.stats.readBytes).toBe((context.lane.count - 1 + source.stats.droppedEvents!) * datagram.length + 9);
    expect(context.logged.filter((line) => line.includes('dropping'))).toHaveLength(1);
  });

  test('through Node takes each datagram as an event with its peer', async () => {
    const { context, udpPort } = await start({}, undefined, 'node');
    const from = await sendDatagrams(udpPort, ['<13>one', '8 <13>two\n', 'three']);
    await context.lane.until((lane) => lane.count === 3);
    expect(events(context)).toMatchObject([
      { message: 'one', peer: `127.0.0.1:${from}` },
      { message: 'two' },
      { message: 'three' },
    ]);
  });

  test('tells the peers of datagrams that come together apart', async () => {
    const { context, udpPort } = await start({ listen: [{ protocol: 'udp', host: '::', port: 0 }] });
    context.lane.hold();
    const ports = await Promise.all([
      sendDatagrams(udpPort, ['<13>a', '<13>a', '<13>a']),
      sendDatagrams(udpPort, ['<13>b', '<13>b'], '::1'),
      sendDatagrams(udpPort, ['<13>c', '<13>c']),
    ]);
    context.lane.release();
    await context.lane.until((lane) => lane.count === 7);
    const peers = { a: `127.0.0.1:${ports[0]}`, b: `[::1]:${ports[1]}`, c: `127.0.0.1:${ports[2]}` };
    for (const event of events(context)) expect(event['peer']).toBe(peers[event['message'] as keyof typeof peers]);
  });

  test('counts what the system drops, also once the socket is closed', async () => {
    const { context, source, udpPort } = await start({ receiveBufferBytes: 64 * 1024 });
    context.lane.hold();
    const some = Array.from({ length: 100 }, () => `<13>${'x'.repeat(9000)}`);
    let sent = 0;
    await expect
      .poll(async () => {
        await sendDatagrams(udpPort, some);
        sent += some.length;
        return source.stats.droppedDatagrams;
      }, patience)
      .toBeGreaterThan(0);
    context.lane.release();
    await source.stop();
    expect(source.stats.droppedDatagrams).toBe(sent - context.lane.count);
  });
});

describe('syslog over TCP', () => {
  test('gives each connection a stream, and one block to what comes together', async ({ context, source, tcpPort }) => {
    const first = await open(tcpPort);
    const idle = await open(tcpPort);
    first.end(
      Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? `<13>${n}\n` : `${4 + String(n).length} <13>${n}`)).join(''),
    );
    await context.lane.until((lane) => lane.count === 500);
    expect(messages(context)).toEqual(Array.from({ length: 500 }, (_, n) => String(n)));
    expect(context.lane.blocks.length).toBeLessThan(10);
    const second = await open(tcpPort);
    second.end('<13>other');
    await context.lane.until((lane) => lane.count === 501);
    expect(context.minted).toHaveLength(2);
    expect(context.lane.blocks.at(-1)).toMatchObject({ stream: context.minted[1]?.id, offset: 0 });
    idle.destroy();
    await expect.poll(() => source.stats.files['open'], patience).toBe(0);
    expect(context.forgotten).toEqual(context.minted.map(({ id }) => id));
  });

  test('stops reading while the lane waits, and loses nothing', async ({ context, source, tcpPort }) => {
    context.lane.hold();
    const socket = await open(tcpPort);
    const line = `<13>${'y'.repeat(995)}\n`;
    const total = 30_000;
    let isSent = false;
    const sent = write(socket, Buffer.from(line.repeat(total))).then(() => (isSent = true));
    // Reading waits: the same number of bytes over many turns, with most of them not read.
    await expect
      .poll(async () => {
        const before = source.stats.readBytes;
        for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return before > 400_000 && before === source.stats.readBytes;
      }, patience)
      .toBe(true);
    expect(source.stats.readBytes).toBeLessThan(5_000_000);
    expect(isSent).toBe(false);
    context.lane.release();
    await sent;
    socket.end();
    await context.lane.until((lane) => lane.count === total);
    expect(new Set(messages(context))).toEqual(new Set(['y'.repeat(995)]));
    expect(source.stats).toMatchObject({ lostBytes: 0, droppedEvents: 0 });
  });

  test('listens on IPv6', async () => {
    const { context, tcpPort } = await start({ listen: [{ protocol: 'tcp', host: '::1', port: 0 }] });
    const socket = await open(tcpPort, '::1');
    await write(socket, '<13>six\n');
    await context.lane.until((lane) => lane.count === 1);
    expect(events(context)).toMatchObject([{ message: 'six', peer: `[::1]:${socket.localPort}` }]);
  });

  test('keeps what several connections have begun apart', async ({ context, source, tcpPort }) => {
    const sockets = await Promise.all([open(tcpPort), open(tcpPort), open(tcpPort)]);
    const pieces = ['<13>', 'one ', 'message ', 'of '];
    let bytes = 0;
    for (const piece of pieces)
      for (const socket of sockets) {
        await write(socket, piece);
        bytes += piece.length;
        await expect.poll(() => source.stats.readBytes, patience).toBe(bytes);
      }
    for (const [n, socket] of sockets.entries()) socket.end(`${n}\n`);
    await context.lane.until((lane) => lane.count === 3);
    expect(new Set(messages(context))).toEqual(new Set(['one message of 0', 'one message of 1', 'one message of 2']));
  });

  test('cuts an oversize message, counts it, and keeps the connection', async ({ context, source, tcpPort }) => {
    const socket = await open(tcpPort);
    await write(socket, `<13>${'z'.repeat(1_000_000)}\n`);
    await write(socket, '<13>next\n99999 <13>unfinished');
    socket.end();
    await context.lane.until((lane) => lane.count === 3);
    expect(events(context)).toMatchObject([
      { message: 'z'.repeat(9996), truncated: true, original_bytes: 1_000_004 },
      { message: 'next' },
      { message: 'unfinished', truncated: true, original_bytes: 99_999 },
    ]);
    expect(source.stats.truncatedEvents).toBe(2);
  });

  test('keeps what came before a reset', async ({ context, tcpPort }) => {
    const socket = await open(tcpPort);
    await write(socket, '<13>whole\n<13>half');
    await context.lane.until((lane) => lane.count === 1);
    socket.resetAndDestroy();
    await context.lane.until((lane) => lane.count === 2);
    expect(messages(context)).toEqual(['whole', 'half']);
  });

  test('closes connections over the limit, says so once, and serves the others', async ({
    context,
    source,
    tcpPort,
  }) => {
    const sockets: Socket[] = [];
    for (let n = 0; n < 1024; n += 1) sockets.push(await open(tcpPort));
    await expect.poll(() => source.stats.files['open'], patience).toBe(1024);
    for (let n = 0; n < 3; n += 1) {
      const extra = await open(tcpPort);
      await once(extra.resume(), 'close');
    }
    expect(context.logged.filter((line) => line.includes('closed a new syslog connection'))).toHaveLength(1);
    sockets[1000]!.write('<13>still here\n');
    await context.lane.until((lane) => lane.count === 1);
    for (const socket of sockets) socket.destroy();
  });

  test('counts clients that have not identified themselves to the limit', async () => {
    const { context, source, tcpPort } = await start({ listen: [tcp], proxyProtocol: true, maxConnections: 2 });
    const silent = [await open(tcpPort), await open(tcpPort)];
    const extra = await open(tcpPort);
    await once(extra.resume(), 'close');
    expect(
      context.logged.filter((line) => line.includes('closed a new syslog connection: 2 are open already')),
    ).toHaveLength(1);
    silent[0]!.write('PROXY UNKNOWN\r\n<13>one\n');
    await context.lane.until((lane) => lane.count === 1);
    expect(source.stats.files['open']).toBe(1);
    for (const socket of silent) socket.destroy();
  });

  test('closes a connection that brings nothing for the idle timeout', async () => {
    const { context, tcpPort } = await start({ idleTimeoutMs: 100 });
    const socket = await open(tcpPort);
    socket.write('<13>one\n<13>unfinished');
    await once(socket.resume(), 'close');
    await context.lane.until((lane) => lane.count === 2);
    expect(messages(context)).toEqual(['one', 'unfinished']);
  });
});

test('syslog senders whose stream cannot be persisted are refused, counted and logged, and the source lives on', async () => {
  const context = createTestContext();
  let isBroken = true;
  const streams: TestContext['streams'] = {
    ...context.streams,
    mint(...args) {
      if (isBroken) throw new TailraceError('E_STATE', 'the disk is full');
      return context.streams.mint(...args);
    },
  };
  const { source, udpPort, tcpPort } = await start({}, { ...context, streams });
  const socket = await open(tcpPort);
  socket.write('<13>lost\n');
  await once(socket.resume(), 'close');
  await sendDatagrams(udpPort, ['<13>lost too']);
  await expect.poll(() => source.stats.droppedEvents, patience).toBe(2);
  expect(context.logged.filter((line) => line === 'error: cannot take syslog messages: the disk is full')).toHaveLength(
    2,
  );
  isBroken = false;
  await sendDatagrams(udpPort, ['<13>taken']);
  await context.lane.until((lane) => lane.count === 1);
  expect(messages(context)).toEqual(['taken']);
});

describe.each([
  ['TCP', 'tcp'],
  ['UDP', 'udp'],
] as const)('a message over max_event_bytes over %s', (_name, protocol) => {
  const text = Array.from({ length: 250 }, (_, n) => `word ${n} €`).join(' ');
  const message = `<13>1 - h app 7 - - ${text}`;

  async function send(onOversize: 'truncate' | 'split' | 'dead_letter') {
    const { context, source, udpPort, tcpPort } = await start({ onOversize, maxEventBytes: 1024 });
    if (protocol === 'udp') await sendDatagrams(udpPort, ['<13>before', message, '<13>after']);
    else await write(await open(tcpPort), `<13>before\n${Buffer.byteLength(message)} ${message}<13>after\n`);
    await context.lane.until(() => messages(context).includes('after'));
    const own = events(context).filter((event) => event['host'] === 'h');
    expect(own.every((event) => event['appname'] === 'app' && event['team'] === 'core')).toBe(true);
    expect(source.stats.oversizeLines).toBe(1);
    return { context, own, source };
  }

  test('is cut', async () => {
    const { own, source } = await send('truncate');
    expect(own).toMatchObject([{ truncated: true, original_bytes: Buffer.byteLength(message) }]);
    expect(source.stats.truncatedEvents).toBe(1);
  });

  test('comes in parts', async () => {
    const { own, source } = await send('split');
    expect(own.map((event) => event['message']).join('')).toBe(text);
    expect(own.map((event) => [event['part'], event['part_last']])).toEqual(
      own.map((_, n) => [n + 1, n === own.length - 1 ? true : undefined]),
    );
    expect(own.length).toBe(Math.ceil(Buffer.byteLength(message) / 1023));
    expect(source.stats.truncatedEvents).toBe(0);
  });

  test('goes to the dead letters with its beginning', async () => {
    const { context } = await send('dead_letter');
    const refused = context.lane.blocks.filter(({ single }) => single?.refusal !== undefined);
    expect(refused.map(({ single }) => single?.refusal)).toEqual([
      `the message has ${Buffer.byteLength(message)} bytes, more than max_event_bytes (1024); its beginning is kept`,
    ]);
    expect(JSON.parse(refused[0]!.lines[0]!.toString())).toMatchObject({
      host: 'h',
      truncated: true,
      original_bytes: Buffer.byteLength(message),
    });
  });
});

describe('messages that are no UTF-8', () => {
  const latin1 = Buffer.from('<13>1 - h\xf4te app - - [a@1 b="\xe9t\xe9"] caf\xe9', 'latin1');

  async function take(charset: string, message: Buffer) {
    const { context, source, tcpPort } = await start({ charset });
    await write(
      await open(tcpPort),
      Buffer.concat([Buffer.from('<13>app: größe €\n'), message, Buffer.from('\n<13>after\n')]),
    );
    await context.lane.until((lane) => lane.count === 3);
    expect(messages(context)[0]).toBe('größe €');
    return { event: events(context)[1]!, source };
  }

  test('are read in the charset that is configured, their header, too, and others as they are', async () => {
    const { event, source } = await take('latin1', latin1);
    expect(event).toMatchObject({
      host: 'hôte',
      appname: 'app',
      structured_data: { 'a@1': { b: 'été' } },
      message: 'café',
    });
    expect(source.stats.slowPathEvents).toBe(1);
    expect((await take('koi8-r', Buffer.from('<13>\xf2\xc5\xcb\xc1', 'latin1'))).event['message']).toBe('Река');
  });

  test('keep their ASCII, and U+FFFD for the rest, where no charset is set', async () => {
    const { event, source } = await take('utf-8', latin1);
    expect(event).toMatchObject({
      host: 'h\uFFFDte',
      structured_data: { 'a@1': { b: '\uFFFDt\uFFFD' } },
      message: 'caf\uFFFD',
    });
    expect(source.stats.slowPathEvents).toBe(0);
  });
});

describe('syslog listeners', () => {
  test('a taken port is an error that names address and remedy, and leaves nothing open', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const free = await start();
    const context = createTestContext();
    const source = create({ listen: [udp, { ...tcp, port }] }, context);
    const error: unknown = await source.open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TailraceError);
    expect(error).toMatchObject({
      code: 'E_LISTEN',
      message: `cannot listen on tcp://127.0.0.1:${port}: the port is taken by another program`,
    });
    expect((error as TailraceError).fix).toContain(`sport = :${port}`);
    expect(source.addresses()).toEqual([]);
    const taken = create({ listen: [{ ...udp, port: free.udpPort }] });
    await expect(taken.open()).rejects.toMatchObject({ code: 'E_LISTEN' });
    server.close();
  });

  test('an address that is not of this machine is an error', async () => {
    for (const protocol of ['udp', 'tcp'] as const) {
      const source = create({ listen: [{ protocol, host: '192.0.2.1', port: 5514 }] });
      await expect(source.open()).rejects.toMatchObject({
        code: 'E_LISTEN',
        message: `cannot listen on ${protocol}://192.0.2.1:5514: this machine does not have the address`,
      });
    }
  });

  test('under --once nothing listens and run returns', async () => {
    const source = create({}, createTestContext({ once: true }));
    await source.open();
    await source.run();
    expect(source.addresses()).toEqual([]);
    await source.stop();
  });
});

describe.skipIf(spawnSync('logger', ['--version']).error !== undefined)(
  'util-linux logger (apt install bsdutils)',
  () => {
    const lines = Array.from({ length: 200 }, (_, n) => `message ${n} with "quotes" and é`);
    const common = {
      facility: 'local3',
      facility_code: 19,
      severity: 'warning',
      severity_code: 4,
      host: expect.any(String),
      appname: 'shop',
      procid: expect.stringMatching(/^\d+$/),
      _time: expect.stringMatching(/^\d{4}-/),
    };
    const rfc5424 = { structured_data: { timeQuality: expect.any(Object), 'x@1': { a: 'b]c' } }, msgid: 'M1' };
    const modes: [string, readonly string[], Record<string, unknown>][] = [
      ['--tcp --octet-count --rfc5424', ['--msgid', 'M1', '--sd-id', 'x@1', '--sd-param', 'a="b\\]c"'], rfc5424],
      ['--tcp --rfc5424', ['--msgid', 'M1', '--sd-id', 'x@1', '--sd-param', 'a="b\\]c"'], rfc5424],
      ['--tcp --rfc3164', [], {}],
      ['--tcp --octet-count --rfc3164', [], {}],
      ['--tcp', [], {}],
      ['--udp --rfc3164', [], {}],
      ['--udp --rfc5424', [], {}],
      ['--udp', [], {}],
    ];
    test.each(modes)('%s: every message arrives with its fields', async (mode, more, expected) => {
      const { context, udpPort, tcpPort } = await start();
      const port = mode.includes('--udp') ? udpPort : tcpPort;
      const args = `--server 127.0.0.1 --port ${port} ${mode} -p local3.warning -t shop -i`.split(' ');
      const logger = run('logger', [...args, ...more]);
      logger.child.stdin?.end(`${lines.join('\n')}\n`);
      await logger;
      await context.lane.until((lane) => lane.count === lines.length);
      expect(messages(context)).toEqual(lines);
      for (const event of events(context)) expect(event).toMatchObject({ ...common, ...expected });
      expect(events(context).some((event) => 'parse_error' in event)).toBe(false);
    });
  },
);

describe.skipIf(spawnSync('loggen', ['--help']).error !== undefined)(
  'syslog-ng loggen (apt install syslog-ng-core)',
  () => {
    // It sends in bursts: over UDP each is smaller than the smallest receive buffer.
    test.each([
      ['TCP, RFC 3164', 20_000, 1, '--stream'],
      ['TCP, RFC 5424 with octet counting', 20_000, 1, '--stream --syslog-proto'],
      ['TCP, RFC 5424 with newlines', 20_000, 1, '--stream --syslog-proto --no-framing'],
      ['UDP, RFC 3164', 150, 4, '--dgram'],
      ['UDP, RFC 5424', 150, 4, '--dgram --syslog-proto'],
    ] as const)('%s: every message arrives once', async (_name, number, rounds, flags) => {
      const { context, source, udpPort, tcpPort } = await start();
      const port = flags.startsWith('--dgram') ? udpPort : tcpPort;
      for (let round = 1; round <= rounds; round += 1) {
        await run(
          'loggen',
          `--inet ${flags} --quiet --rate 1000000 --number ${number} --size 200 127.0.0.1 ${port}`.split(' '),
        );
        await context.lane.until((lane) => lane.count === round * number);
      }
      const all = events(context);
      expect(new Set(all.map(({ message }) => /seq: (\d+)/.exec(String(message))?.[1])).size).toBe(number);
      expect(
        new Set(
          all.map((event) =>
            ['appname', 'host', 'facility', 'severity', 'parse_error'].map((key) => event[key]).join(),
          ),
        ),
      ).toEqual(new Set(['prg00000,localhost,auth,info,']));
      expect(source.stats).toMatchObject({ droppedEvents: 0, lostBytes: 0, truncatedEvents: 0 });
    });
  },
);

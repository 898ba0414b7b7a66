/**
 * Unfinished messages: bytes of them were shared by all connections, and an honest message was cut when others had filled the room.
 * Now its sender waits, and those who do not end their messages run out of time.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { Flow } from '../../../src/sources/syslog/intake/flow.ts';
import * as bounds from '../../../src/sources/syslog/limits.ts';
import { serveConnection, type SyslogConnection } from '../../../src/sources/syslog/receive/connection.ts';
import {
  type UnfinishedHolder,
  UnfinishedMessages,
  UNFINISHED_LIMITS,
  type UnfinishedLimits,
} from '../../../src/sources/syslog/receive/unfinished-messages.ts';
import { createTestContext } from '../source-context.ts';
import { createRig, type Rig } from './rig.ts';
import { events, messages, patience, start, tcp } from './started.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A stopped clock. */
function stopped() {
  let now = 1_000_000;
  return { clock: { ...systemClock, monotonic: () => now }, advance: (ms: number) => void (now += ms) };
}

/** Room for two messages over the share. */
const SMALL: UnfinishedLimits = { ...UNFINISHED_LIMITS, shareBytes: 1024, allBytes: 2 * (10_000 + 1024) };

class Hall {
  readonly time = stopped();
  readonly rig: Rig = createRig();
  readonly open: SyslogConnection[] = [];
  readonly unfinished = new UnfinishedMessages(this.time.clock, SMALL);
  readonly #flow = new Flow(() => this.rig.isFull());
  readonly #largeReaders = { left: 100 };
  readonly #isPlain: boolean;

  constructor(isPlain: boolean) {
    this.#isPlain = isPlain;
    this.rig.onRoom(() => this.#flow.resume());
  }

  /** A new connection; the second value waits until so many bytes of it were read. */
  async enter(): Promise<[Socket, (bytes: number) => Promise<void>, SyslogConnection]> {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as { port: number }).port, '127.0.0.1').on('error', () => {});
    const [socket] = (await once(server, 'connection')) as [Socket];
    closers.push(
      () => client.destroy(),
      () => server.close(),
    );
    let read = 0;
    const connection = serveConnection({
      socket,
      isPlain: this.#isPlain,
      messages: this.rig.open(this.time.clock),
      flow: this.#flow,
      clock: this.time.clock,
      unfinished: this.unfinished,
      largeReaders: this.#largeReaders,
      input: this.rig.input,
      received: (bytes) => (read += bytes),
    });
    this.open.push(connection);
    return [client, (bytes) => expect.poll(() => read, patience).toBeGreaterThanOrEqual(bytes), connection];
  }

  look(): number {
    return this.unfinished.look(this.open.map(({ holder }) => holder));
  }

  async events(): Promise<Record<string, unknown>[]> {
    return (await this.rig.events()).map((event) => JSON.parse(event) as Record<string, unknown>);
  }
}

const body = (letter: string, length = 9000): string => `<13>${letter.repeat(length)}`;

describe.each([
  ['read into the shared buffer', true],
  ['read by data events', false],
])('connections %s', (_name, isPlain) => {
  test('an honest message waits whole while others hold all the room, and comes when their time is over', async () => {
    const hall = new Hall(isPlain);
    for (const letter of 'ab') {
      const [hog, hasRead] = await hall.enter();
      hog.write(body(letter, 5000));
      await hasRead(5004);
    }
    const [small, , smallConnection] = await hall.enter();
    const [honest, hasRead, connection] = await hall.enter();
    honest.write(`9004 ${body('h').slice(0, 3000)}`);
    await hasRead(3000);
    await expect.poll(() => connection.isPaused, patience).toBe(true);
    honest.write(`${body('h').slice(3000)}7 <13>end`);
    // One whose messages are short does not wait.
    small.write('<13>short\n');
    await expect.poll(() => smallConnection.reads, patience).toBe(1);
    expect((await hall.events()).map(({ message }) => message)).toEqual(['short']);
    expect(hall.look()).toBe(0);
    hall.time.advance(bounds.SYSLOG_SLOW_MS * (1 + 5004 / bounds.SYSLOG_SLOW_BYTES) + 1);
    // Then there is room, and the other hog may go on.
    expect(hall.look()).toBe(1);
    await hasRead(9004 + 5 + 9);
    expect(await hall.events()).toMatchObject([
      { message: 'a'.repeat(5000), truncated: true, original_bytes: 5004 },
      { message: 'h'.repeat(9000) },
      { message: 'end' },
    ]);
  });

  test('the time that a sender waits for room, or for the window, is not its message’s', async () => {
    const hall = new Hall(isPlain);
    for (const letter of 'ab') {
      const [hog, hasRead] = await hall.enter();
      hog.write(body(letter, 5000));
      await hasRead(5004);
    }
    const [honest, hasRead, connection] = await hall.enter();
    honest.write(body('h', 3000));
    await hasRead(3004);
    await expect.poll(() => connection.isPaused, patience).toBe(true);
    hall.time.advance(10 * bounds.SYSLOG_UNFINISHED_MS);
    expect(hall.look()).toBe(2);
    expect(hall.look()).toBe(0);
    hall.rig.lane.hold();
    const [flood, floodHasRead, floodConnection] = await hall.enter();
    flood.write(`<13>${'x'.repeat(995)}\n`.repeat(3000));
    await floodHasRead(1);
    await expect.poll(() => floodConnection.isPaused, patience).toBe(true);
    hall.time.advance(10 * bounds.SYSLOG_UNFINISHED_MS);
    expect(hall.look()).toBe(0);
    hall.rig.lane.release();
    await floodHasRead(3_000_000);
    honest.write('\n');
    await hasRead(3005);
    const all = await hall.events();
    expect(all.filter(({ truncated }) => truncated === true)).toHaveLength(2);
    expect(all).toContainEqual(expect.objectContaining({ message: 'h'.repeat(3000) }));
  });

  test('more messages whose time is over than the window holds all come', async () => {
    const hall = new Hall(isPlain);
    const senders = await Promise.all(Array.from({ length: 100 }, () => hall.enter()));
    hall.rig.lane.hold();
    for (const [client, hasRead] of senders) {
      client.write(`9000 <13>${'\u0001'.repeat(1000)}`);
      await hasRead(1009);
    }
    hall.time.advance(2 * bounds.SYSLOG_UNFINISHED_MS);
    let late = hall.look();
    expect(late).toBeLessThan(100);
    hall.rig.lane.release();
    await expect
      .poll(() => {
        hall.time.advance(2 * bounds.SYSLOG_UNFINISHED_MS);
        return (late += hall.look());
      }, patience)
      .toBe(100);
    expect(await hall.events()).toHaveLength(100);
  });

  test('many long messages at once all come whole, each in its turn', async () => {
    const hall = new Hall(isPlain);
    const senders = await Promise.all(Array.from({ length: 12 }, () => hall.enter()));
    const texts = senders.map((_, n) => body(String.fromCharCode(97 + n)));
    for (const [n, [client, hasRead]] of senders.entries()) {
      client.write(texts[n]!.slice(0, 5000));
      await hasRead(4096);
    }
    for (const [n, [client]] of senders.entries()) client.write(`${texts[n]!.slice(5000)}\n`);
    const seen: Record<string, unknown>[] = [];
    await expect.poll(async () => seen.push(...(await hall.events())), patience).toBe(12);
    expect(seen.every(({ truncated }) => truncated === undefined)).toBe(true);
    expect(new Set(seen.map(({ message }) => message))).toEqual(new Set(texts.map((text) => text.slice(4))));
  });

  test('a sender that keeps its pace keeps its room', async () => {
    const hall = new Hall(isPlain);
    const [fast, hasRead] = await hall.enter();
    const [hog, hogHasRead] = await hall.enter();
    const [, , waiting] = await hall.enter();
    fast.write(body('f', 4000));
    hog.write(body('a', 2000));
    await Promise.all([hasRead(4004), hogHasRead(2004)]);
    hall.time.advance(bounds.SYSLOG_SLOW_MS - 1);
    expect(hall.look()).toBe(0);
    // Nobody waits: the pace does not count.
    hall.time.advance(10 * bounds.SYSLOG_SLOW_MS);
    expect(hall.look()).toBe(0);
    expect(waiting.isPaused).toBe(false);
    fast.write('\n');
    await hasRead(4005);
    expect(await hall.events()).toMatchObject([{ message: 'f'.repeat(4000) }]);
  });

  test('an unfinished message has a time limit, and its rest is an event of its own', async () => {
    const hall = new Hall(isPlain);
    const [line, lineHasRead] = await hall.enter();
    const [count, countHasRead] = await hall.enter();
    const [lost, lostHasRead] = await hall.enter();
    line.write('<13>half a line');
    count.write('100 <13>half a message');
    lost.write('5 <13>agarbage');
    await Promise.all([lineHasRead(15), countHasRead(22), lostHasRead(14)]);
    hall.time.advance(bounds.SYSLOG_OUT_OF_STEP_MS + 1);
    expect(hall.look()).toBe(1);
    expect(await hall.events()).toMatchObject([{ message: '<13>agarbage', parse_error: expect.any(String) }]);
    hall.time.advance(bounds.SYSLOG_UNFINISHED_MS - bounds.SYSLOG_OUT_OF_STEP_MS - 2);
    expect(hall.look()).toBe(0);
    hall.time.advance(2);
    expect(hall.look()).toBe(2);
    expect(await hall.events()).toMatchObject([
      { message: 'half a line', truncated: true, original_bytes: 15 },
      { message: 'half a message', truncated: true, original_bytes: 100 },
    ]);
    line.write(' ended\n<13>next\n');
    count.write(' ended7 <13>one');
    await Promise.all([lineHasRead(31), countHasRead(37)]);
    expect((await hall.events()).map(({ message }) => String(message)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      ' ended',
      ' ended',
      'next',
      'one',
    ]);
  });

  test('the bytes of connections that wait are few, and those that are over give their room back', async () => {
    const hall = new Hall(isPlain);
    const clients: Socket[] = [];
    for (let n = 0; n < 8; n += 1) {
      const [client, hasRead] = await hall.enter();
      clients.push(client);
      client.write(body('x', 200_000));
      await hasRead(1024);
    }
    const held = (): number[] => hall.open.map(({ holder }) => holder.heldBytes).toSorted((a, b) => a - b);
    await expect.poll(() => hall.open.filter(({ isPaused }) => isPaused).length, patience).toBe(6);
    if (isPlain) expect(Math.max(...held().slice(0, 6))).toBeLessThanOrEqual(2 * bounds.SYSLOG_SMALL_READ_BYTES);
    for (const client of clients) client.destroy();
    await Promise.all(hall.open.map(({ done }) => done));
    expect(held()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    hall.open.length = 0;
    const [honest] = await hall.enter();
    honest.end(`${body('h')}\n`);
    await hall.open[0]!.done;
    expect((await hall.events()).at(-1)).toMatchObject({ message: 'h'.repeat(9000) });
  });
});

test('a message that fills the window when its time is over gives its room to those who wait', () => {
  const { clock, advance } = stopped();
  const unfinished = new UnfinishedMessages(clock, SMALL);
  let isFull = false;
  const holders = Array.from({ length: 3 }, () => {
    let heldBytes = 5000;
    let isHeldBack = false;
    const holder: UnfinishedHolder = {
      get heldBytes() {
        return heldBytes;
      },
      get isReading() {
        return !isHeldBack && !isFull;
      },
      setHeldBack: (is) => void (isHeldBack = is),
      expire() {
        heldBytes = 0;
        isFull = true;
      },
      messageBytes: 5000,
      mostBytes: 11_000,
      sinceMs: clock.monotonic(),
      isOutOfStep: false,
    };
    unfinished.note(holder);
    return { holder, isHeldBack: () => isHeldBack };
  });
  expect(holders.map(({ isHeldBack }) => isHeldBack())).toEqual([false, false, true]);
  advance(bounds.SYSLOG_UNFINISHED_MS);
  expect(unfinished.look(holders.map(({ holder }) => holder))).toBe(1);
  expect(holders.map(({ isHeldBack }) => isHeldBack())).toEqual([false, false, false]);
});

describe('where as many connections as allowed are open', () => {
  async function open(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket.resume(), 'connect');
    return socket;
  }

  test('the one idle longest is closed for a new one, counted, and one with an unfinished message is not', async () => {
    const { clock, advance } = stopped();
    const { context, source, tcpPort } = await start(
      { listen: [tcp], maxConnections: 3 },
      createTestContext({ clock }),
    );
    const sockets = [await open(tcpPort), await open(tcpPort), await open(tcpPort)];
    sockets[0]!.write('<13>unfinis');
    sockets[2]!.write('<13>hello\n');
    await context.lane.until((lane) => lane.count === 1);
    await expect.poll(() => source.stats.readBytes, patience).toBe(21);
    advance(bounds.SYSLOG_IDLE_MS - 1);
    const early = await open(tcpPort);
    if (!early.destroyed) await once(early, 'close');
    expect(source.stats.connections).toMatchObject({ closedIdle: 0, closedNew: 1 });
    sockets[2]!.write('<13>again\n');
    await context.lane.until((lane) => lane.count === 2);
    advance(1);
    // Nothing came from the second for so long.
    const next = await open(tcpPort);
    if (!sockets[1]!.destroyed) await once(sockets[1]!, 'close');
    next.write('<13>next\n');
    await context.lane.until(() => messages(context).includes('next'));
    expect(source.stats.connections).toMatchObject({ closedIdle: 1, closedNew: 1 });
    sockets[0]!.end('hed\n');
    await context.lane.until(() => messages(context).includes('unfinished'));
  });
});

test('messages whose time is over are counted, and a sender that counts wrongly is named once', async () => {
  const { clock, advance } = stopped();
  const { context, source, tcpPort } = await start({ listen: [tcp] }, createTestContext({ clock }));
  const socket = connect(tcpPort, '127.0.0.1');
  socket.write('5 <13>é6 <13>é7 <13>one5 <13>é7 <13>two99 <13>half');
  await context.lane.until((lane) => lane.count >= 5);
  expect(
    context.logged.filter((line) => line.startsWith('warn: a syslog sender’s octet counts do not agree')),
  ).toHaveLength(1);
  advance(bounds.SYSLOG_UNFINISHED_MS + 1000);
  await context.lane.until((lane) => lane.count === 6);
  expect(source.stats.connections?.lateMessages).toBe(1);
  expect(events(context).at(-1)).toMatchObject({ message: 'half', truncated: true, original_bytes: 99 });
  socket.destroy();
});

test('the bounds are those of docs/syslog.md', () => {
  expect(bounds.SYSLOG_SHARE_BYTES).toBe(8 * 1024);
  expect(bounds.MAX_SYSLOG_UNFINISHED_BYTES).toBe(16 * 1024 * 1024);
  expect([bounds.SYSLOG_UNFINISHED_MS, bounds.SYSLOG_IDLE_MS, bounds.SYSLOG_OUT_OF_STEP_MS]).toEqual([
    60_000, 60_000, 1000,
  ]);
  expect([bounds.SYSLOG_SLOW_MS, bounds.SYSLOG_SLOW_BYTES]).toEqual([1000, 256 * 1024]);
  // The share holds more than a small read, and no read is larger than the input.
  expect(bounds.SYSLOG_SMALL_READ_BYTES).toBeLessThan(bounds.SYSLOG_SHARE_BYTES);
  expect(bounds.SYSLOG_SMALL_READ_BYTES).toBeLessThan(bounds.SYSLOG_READ_BYTES);
});

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { serveConnection } from '../../../src/sources/syslog/receive/connection.ts';
import type { SyslogConnection } from '../../../src/sources/syslog/receive/connection.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { UnfinishedMessages } from '../../../src/sources/syslog/receive/unfinished-messages.ts';
import { SYSLOG_LINGER_MS } from '../../../src/sources/syslog/limits.ts';
import { Flow } from '../../../src/sources/syslog/intake/flow.ts';
import { IdleWatch } from '../../../src/sources/syslog/receive/idle.ts';
import { moveToSharedRead } from '../../../src/sources/syslog/receive/shared-read.ts';
import { createRig } from './rig.ts';

const patience = { timeout: 600_000 };
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The two ends of a connection; the accepted one is paused, as listeners hand it over. */
async function connected(): Promise<{ client: Socket; accepted: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  client.on('error', () => {});
  closers.push(
    () => client.destroy(),
    () => server.close(),
  );
  return { client, accepted };
}

interface Served {
  readonly client: Socket;
  readonly connection: SyslogConnection;
  readonly rig: ReturnType<typeof createRig>;
  readonly received: () => number;
}

/** `isPlain: false` reads as under TLS: by `data`. */
async function serve(isPlain: boolean): Promise<Served> {
  const { client, accepted } = await connected();
  const rig = createRig();
  const flow = new Flow(() => rig.isFull());
  rig.onRoom(() => flow.resume());
  let bytes = 0;
  const connection = serveConnection({
    socket: accepted,
    isPlain,
    messages: rig.open(),
    flow,
    clock: systemClock,
    unfinished: new UnfinishedMessages(systemClock),
    largeReaders: { left: 1 },
    input: rig.input,
    received: (count) => (bytes += count),
  });
  return { client, connection, rig, received: () => bytes };
}

describe.each([
  ['read into the shared buffer', true],
  ['read by data events', false],
])('a connection %s', (_name, isPlain) => {
  test('takes messages, the last one without a delimiter, and ends without an error', async () => {
    const { client, connection, rig } = await serve(isPlain);
    client.write('<13>one\n<13>tw');
    client.end('o\n9 <13>three');
    expect(await connection.done).toBeUndefined();
    expect(await rig.messages()).toEqual(['one', 'two', 'three']);
  });

  test('that is closed while there is no room takes all that was sent once there is some', async () => {
    const { client, connection, rig, received } = await serve(isPlain);
    rig.lane.hold();
    const line = `<13>${'x'.repeat(995)}\n`;
    client.write(line.repeat(3000));
    // Reading waits, with bytes that wait.
    await expect.poll(() => rig.isFull(), patience).toBe(true);
    let before = -1;
    for (let turn = 0; before !== received() || turn < 50; turn += 1) {
      before = received();
      await new Promise((resolve) => setImmediate(resolve));
    }
    connection.close();
    rig.lane.release();
    await connection.done;
    expect(received()).toBe(3000 * line.length);
    expect(await rig.messages()).toHaveLength(3000);
  });

  test('that is closed goes on when there is room, also if the process is busy then', async () => {
    const { client, connection, rig, received } = await serve(isPlain);
    rig.lane.hold();
    client.write(`<13>${'x'.repeat(995)}\n`.repeat(3000));
    await expect.poll(() => connection.isPaused, patience).toBe(true);
    connection.close();
    rig.lane.release();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * SYSLOG_LINGER_MS);
    await connection.done;
    expect(received()).toBe(3_000_000);
  });

  test('that is being closed while there is no room is closed earlier when less time is left', async () => {
    const { client, connection, rig } = await serve(isPlain);
    rig.lane.hold();
    client.write(`<13>${'x'.repeat(995)}\n`.repeat(3000));
    await expect.poll(() => connection.isPaused, patience).toBe(true);
    connection.close(Infinity);
    connection.close(systemClock.monotonic());
    await once(client.resume(), 'close');
    rig.lane.release();
    await connection.done;
  });

  test('keeps what came before a reset, and says what broke it', async () => {
    const { client, connection, rig, received } = await serve(isPlain);
    client.write('<13>whole\n<13>half');
    await expect.poll(received, patience).toBe(18);
    client.resetAndDestroy();
    expect(await connection.done).toMatchObject({ code: 'ECONNRESET' });
    expect(await rig.messages()).toEqual(['whole', 'half']);
  });

  test('that brings nothing between two scans is closed, but not one that is not read from', async () => {
    const { client, connection, rig, received } = await serve(isPlain);
    const watch = new IdleWatch();
    const look = () => watch.look([connection]);
    expect(look()).toBe(0);
    client.write('<13>one\n');
    await expect.poll(received, patience).toBe(8);
    expect(look()).toBe(0);
    rig.lane.hold();
    client.write(`<13>${'x'.repeat(995)}\n`.repeat(3000));
    await expect.poll(() => connection.isPaused, patience).toBe(true);
    expect([look(), look(), look()]).toEqual([0, 0, 0]);
    rig.lane.release();
    await expect.poll(received, patience).toBe(8 + 3_000_000);
    expect([look(), look()]).toEqual([0, 1]);
    await connection.done;
    expect(await rig.messages()).toHaveLength(3001);
  });
});

const holder = {} as SyslogConnection['holder'];

test('a connection that is not read from, because others flood, is not idle', () => {
  let closed = 0;
  const connection = {
    reads: 1,
    isPaused: false,
    idleSinceMs: undefined,
    isEnding: false,
    holder,
    done: Promise.resolve(undefined),
    close: () => void (closed += 1),
    abandon: () => {},
  };
  const watch = new IdleWatch();
  const look = () => watch.look([connection]);
  expect(look()).toBe(0);
  connection.isPaused = true;
  expect([look(), look()]).toEqual([0, 0]);
  connection.isPaused = false;
  expect([look(), look(), closed]).toEqual([0, 1, 1]);
});

test('this Node lets a connection read into a buffer that is shared', async () => {
  const { accepted } = await connected();
  const moved = moveToSharedRead(
    accepted,
    () => Buffer.alloc(1024),
    () => {},
  );
  expect(moved).toBeDefined();
  expect(moved?.remotePort).toBeGreaterThan(0);
  moved?.destroy();
});

test('where that is not so, a connection is read by data events', async () => {
  const { client, accepted } = await connected();
  (accepted as unknown as { _handle: unknown })._handle = null;
  expect(
    moveToSharedRead(
      accepted,
      () => Buffer.alloc(1024),
      () => {},
    ),
  ).toBeUndefined();
  client.destroy();
});

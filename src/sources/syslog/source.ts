/**
 * The syslog source: takes messages from UDP and TCP and hands them over as JSON lines. Promises: each message that was
 * received becomes an event, parsed or not; TCP senders are slowed while the lane waits; what UDP brings then finds room in
 * the window or is dropped and counted; one hostile sender costs the others nothing.
 */
import type { Socket } from 'node:net';
import type { ListenAddress, SyslogSourceConfig } from '../../config/model.ts';
import { TailraceError, codeOf, messageOf } from '../../core/errors.ts';
import {
  MAX_CLOSED_STREAMS,
  MAX_SYSLOG_CONNECTIONS,
  MAX_SYSLOG_UNFINISHED_BYTES,
  SYSLOG_STOP_MS,
  UDP_RECEIVE_BUFFER_BYTES,
} from '../../core/limits.ts';
import { newStats } from '../../core/source.ts';
import type { Source, SourceContext } from '../../core/source.ts';
import { Collector, halfBytes } from './collector.ts';
import type { Cursor } from './collector.ts';
import { Framer, frameDatagram } from './framing.ts';
import type { Frame } from './framing.ts';
import { serveConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { formatListen, formatPeer, listenTcp, listenUdp } from './listeners.ts';
import type { Listener } from './listeners.ts';
import { createNotice } from './notice.ts';
import { encodeEvent } from './parse.ts';
import { createZone } from './zone.ts';

/** Idle connections are asked for a sign of life after this long. */
const KEEP_ALIVE_MS = 60_000;

export interface SyslogSource extends Source {
  /** Where it listens, in the order of the configuration, with the ports that the system chose. */
  addresses(): ListenAddress[];
}

/** Kernel memory that the source reserves. */
export function syslogWindowBytes(maxEventBytes: number): number {
  return 2 * halfBytes(maxEventBytes);
}

export function createSyslogSource(config: SyslogSourceConfig, context: SourceContext): SyslogSource {
  const { log, clock, streams } = context;
  const { id, maxEventBytes } = config;
  const stats = { ...newStats(), droppedEvents: 0, files: { open: 0 } };
  const zone = createZone(config.timezone);
  const shape = { format: 'auto', wrapFields: {}, fields: config.fields } as const;
  const collector = new Collector(context.lane, context.reserve(syslogWindowBytes(maxEventBytes)), shape, clock, countLost);
  const budget = { left: MAX_SYSLOG_UNFINISHED_BYTES };
  const listeners: Listener[] = [];
  const connections = new Set<Connection>();
  const closedStreams: string[] = [];
  /** Chunks and datagrams so far: when it stands still for a turn, everything that was sent has been taken. */
  let received = 0;
  const ended = Promise.withResolvers<void>();
  // Heard of through `run`.
  ended.promise.catch(() => {});
  let stopping: Promise<void> | undefined;

  const noticeConnections = createNotice(clock, (heldBack) =>
    log.warn({ source: id, heldBack }, `closed a new syslog connection: ${MAX_SYSLOG_CONNECTIONS} are open already`),
  );
  const noticeDrop = createNotice(clock, () =>
    log.warn({ source: id, droppedEvents: stats.droppedEvents }, 'dropping syslog datagrams: the sinks are behind and the window is full'),
  );

  function countLost(events: number, bytes: number): void {
    stats.droppedEvents += events;
    stats.lostBytes += bytes;
  }

  function count(bytes: number): void {
    received += 1;
    stats.readBytes += bytes;
  }

  function encode(frame: Frame, peer: string): string {
    const event = encodeEvent(frame, { receivedAtMs: clock.now(), peer, zone }, maxEventBytes, halfBytes(maxEventBytes) - 1);
    stats.slowPathEvents += 1;
    if (event.isTruncated) stats.truncatedEvents += 1;
    return event.json;
  }

  function mint(): Cursor {
    return { stream: streams.mint(id, '').id, offset: 0 };
  }

  /** Forgets closed connections whose events are settled, oldest first, a few at a time. */
  function forgetSettled(): void {
    for (let n = 0; n < 8 && closedStreams.length > 0; n += 1) {
      if (!streams.isSettled(closedStreams[0]!)) break;
      streams.forget(closedStreams.shift()!);
    }
  }

  async function listenOnUdp(address: ListenAddress): Promise<Listener> {
    let cursor: Cursor | undefined;
    const onDatagram = (bytes: Buffer, peer: string): void => {
      count(bytes.length);
      const frame = frameDatagram(bytes, maxEventBytes);
      if (frame === undefined) return;
      try {
        cursor ??= mint();
        if (collector.append(cursor, encode(frame, peer))) return;
        noticeDrop();
      } catch (error) {
        fail(error, peer);
      }
      countLost(1, bytes.length);
    };
    const listener = await listenUdp(address, onDatagram, (error) => logListener(address, error));
    const granted = listener.receiveBufferBytes ?? 0;
    if (granted < UDP_RECEIVE_BUFFER_BYTES) {
      log.info(
        { source: id, granted },
        `the receive buffer of ${formatListen(address)} is small: bursts may be lost; raise net.core.rmem_max to ${UDP_RECEIVE_BUFFER_BYTES}`,
      );
    }
    return listener;
  }

  function onConnection(socket: Socket): void {
    if (connections.size >= MAX_SYSLOG_CONNECTIONS) {
      socket.destroy();
      noticeConnections();
      return;
    }
    received += 1;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const peer = formatPeer(socket.remoteAddress, socket.remotePort);
    let cursor: Cursor | undefined;
    const take = async (frame: Frame): Promise<void> => {
      cursor ??= mint();
      const json = encode(frame, peer);
      while (!collector.append(cursor, json)) await collector.room();
    };
    const connection = serveConnection(socket, new Framer(maxEventBytes, budget), take, count);
    connections.add(connection);
    stats.files.open = connections.size;
    const forget = (error: unknown): void => {
      if (error !== undefined) log.debug({ source: id, peer, code: codeOf(error) }, `a syslog connection broke: ${messageOf(error)}`);
      connections.delete(connection);
      stats.files.open = connections.size;
      if (cursor !== undefined && closedStreams.length < MAX_CLOSED_STREAMS) closedStreams.push(cursor.stream);
      forgetSettled();
    };
    connection.done.then(forget, (error: unknown) => {
      forget(undefined);
      fail(error, peer);
      countLost(1, 0);
    });
  }

  /** A stream that cannot be persisted costs the sender its connection or datagram; anything else is a bug. */
  function fail(error: unknown, peer: string): void {
    if (error instanceof TailraceError) log.error({ source: id, peer, code: error.code }, `cannot take syslog messages: ${error.message}`);
    else ended.reject(error);
  }

  function logListener(address: ListenAddress, error: Error): void {
    log.error({ source: id, code: codeOf(error) }, `listening on ${formatListen(address)}: ${messageOf(error)}`);
  }

  async function closeListeners(): Promise<void> {
    await Promise.all(listeners.splice(0).map((listener) => listener.close()));
  }

  /** Lets the loop take what the system has received, until a turn brings nothing new or the time is up. */
  async function takeReceived(): Promise<void> {
    const deadline = clock.monotonic() + SYSLOG_STOP_MS;
    for (let before = -1; received !== before && clock.monotonic() < deadline;) {
      before = received;
      // Two turns: the first may have begun before the sockets were asked.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function stop(): Promise<void> {
    await takeReceived();
    // A server has closed only when its connections have.
    const closed = closeListeners();
    const open = [...connections];
    for (const connection of open) connection.close();
    await Promise.allSettled(open.map(({ done }) => done));
    await closed;
    await collector.idle();
    if (stats.lostBytes > 0)
      log.warn({ source: id, droppedEvents: stats.droppedEvents, lostBytes: stats.lostBytes }, 'syslog messages were lost');
  }

  return {
    id,
    kind: 'syslog',
    stats,
    addresses: () => listeners.map(({ address }) => address),
    async open() {
      for (const { id: stream } of streams.list(id)) if (streams.isSettled(stream)) streams.forget(stream);
      if (context.once) return;
      try {
        for (const address of config.listen) {
          const listener = await (address.protocol === 'udp'
            ? listenOnUdp(address)
            : listenTcp(address, onConnection, (error) => logListener(address, error)));
          listeners.push(listener);
          log.info({ source: id }, `listening on ${formatListen(listener.address)}`);
        }
      } catch (error) {
        await closeListeners();
        throw error;
      }
    },
    async run() {
      // `--once` takes what exists, and no message does before it is sent.
      if (!context.once) await Promise.race([ended.promise, collector.failed]);
    },
    stop() {
      stopping ??= stop().finally(() => ended.resolve());
      return stopping;
    },
  };
}

/**
 * The syslog source: takes messages from its listeners and hands them over as JSON lines. Promises: each message that was
 * received becomes an event, parsed or not; senders are slowed while the lane waits, those of UDP by the system, which drops what
 * its buffer does not hold; one hostile sender costs the others nothing.
 */
import type { ListenAddress, SyslogSourceConfig } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import { TailraceError, codeOf, messageOf } from '../../core/errors.ts';
import { MAX_SYSLOG_CONNECTIONS, SYSLOG_READ_BYTES, SYSLOG_STOP_MS } from '../../core/limits.ts';
import { newStats } from '../../core/source.ts';
import type { Source, SourceContext } from '../../core/source.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { Collector, collectorBytes } from './collector.ts';
import type { Cursor } from './collector.ts';
import { Connections } from './connections.ts';
import { DatagramSockets } from './datagram-sockets.ts';
import { createEventForm } from './event-form.ts';
import { Flow } from './flow.ts';
import { Intake } from './intake.ts';
import { formatListen, formatPeer } from './listen/addresses.ts';
import type { Listener } from './listen/addresses.ts';
import { listenTcp } from './listen/streams.ts';
import { nativeLibrary, type NativeLibrary } from './native/library.ts';
import { createNotice } from './notice.ts';
import { createZone } from './zone.ts';

export interface SyslogSource extends Source {
  /** Where it listens, in the order of the configuration, with the ports that the system chose. */
  addresses(): ListenAddress[];
}

/** `library`: `node` reads datagrams through Node. */
export function createSyslogSource(
  config: SyslogSourceConfig,
  context: SourceContext,
  kernel: Kernel,
  library: NativeLibrary | 'node' = nativeLibrary() ?? 'node',
): SyslogSource {
  const { log, clock, streams } = context;
  const reserve = (bytes: number): Region => context.reserve(bytes);
  const { id, maxEventBytes } = config;
  const stats = {
    ...newStats(),
    droppedEvents: 0,
    files: { open: 0 },
    get droppedDatagrams() {
      return sockets?.droppedDatagrams ?? 0;
    },
  };
  const form = createEventForm(config.fields);
  const collector = new Collector({
    lane: context.lane,
    window: reserve(collectorBytes(maxEventBytes)),
    shape: form.shape,
    clock,
    lost: countLost,
    roomy: () => flow.resume(),
  });
  const flow = new Flow(() => collector.isFull);
  const intake = new Intake({ kernel, collector, maxEventBytes, zone: createZone(config.timezone), clock, stats, reserve });
  const ended = Promise.withResolvers<void>();
  // Heard of through `run`.
  ended.promise.catch(() => {});
  const common = { source: id, log, clock, form, intake, flow, reserve, mint, received, refused };
  const connections = new Connections({
    ...common,
    streams,
    input: reserve(SYSLOG_READ_BYTES),
    maxEventBytes,
    maxConnections: MAX_SYSLOG_CONNECTIONS,
    idleTimeoutMs: Infinity,
    changed: (open) => (stats.files.open = open),
  });
  let sockets: DatagramSockets | undefined;
  const listeners: Listener[] = [];
  /** Reads so far: when it stands still for a turn, everything that was sent has been taken. */
  let reads = 0;
  let stopping: Promise<void> | undefined;

  const noticeDrop = createNotice(clock, () =>
    log.warn({ source: id, droppedEvents: stats.droppedEvents }, 'dropping syslog datagrams: the sinks are behind and the window is full'),
  );

  function countLost(events: number, bytes: number): void {
    stats.droppedEvents += events;
    stats.lostBytes += bytes;
  }

  function received(bytes: number): void {
    reads += 1;
    stats.readBytes += bytes;
  }

  /** No error: there is no room. A stream that cannot be persisted is said; any other error is a bug. */
  function refused(error: unknown, events: number, bytes: number, peer?: string): void {
    countLost(events, bytes);
    if (error === undefined) noticeDrop();
    else if (error instanceof TailraceError)
      log.error({ source: id, ...(peer && { peer }), code: error.code }, `cannot take syslog messages: ${error.message}`);
    else ended.reject(error);
  }

  function mint(): Cursor {
    return { stream: streams.mint(id, '').id, offset: 0 };
  }

  function listen(address: ListenAddress): Promise<Listener> {
    if (address.protocol === 'udp') {
      sockets ??= new DatagramSockets({
        ...common,
        library: library === 'node' ? undefined : library,
        failed: (error) => ended.reject(error),
      });
      return sockets.listen(address);
    }
    return listenTcp(
      address,
      (socket) => connections.accept({ socket, isPlain: true, origin: { peer: formatPeer(socket.remoteAddress, socket.remotePort) } }),
      (error) => log.error({ source: id, code: codeOf(error) }, `listening on ${formatListen(address)}: ${messageOf(error)}`),
    );
  }

  async function closeListeners(): Promise<void> {
    sockets?.closing();
    await Promise.all(listeners.splice(0).map((listener) => listener.close()));
  }

  /** Lets the loop take what the system has received, until a turn brings nothing new or the time is up. */
  async function takeReceived(): Promise<void> {
    const deadline = clock.monotonic() + SYSLOG_STOP_MS;
    for (let before = -1; reads !== before && clock.monotonic() < deadline;) {
      before = reads;
      // Two turns: the first may have begun before the sockets were asked.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function stop(): Promise<void> {
    await takeReceived();
    const closed = closeListeners();
    await connections.close();
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
          const listener = await listen(address);
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

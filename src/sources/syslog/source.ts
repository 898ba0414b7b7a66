/**
 * The syslog source: takes messages from its listeners and hands them over as JSON lines. Promises: each message that was
 * received becomes an event, parsed or not; the lane's backpressure slows senders (for UDP, the system drops datagrams that its buffer
 * does not hold); one hostile sender costs the others nothing.
 */
import type { ListenAddress, SystemdAddress } from '../../config/fields/kinds-listen.ts';
import type { SyslogConfig } from './syslog-type.ts';
import type { Region } from '../../core/block.ts';
import { TailraceError, codeOf, messageOf } from '../../core/errors.ts';
import { LogLimit } from '../../core/log.ts';
import {
  SYSLOG_FIRST_LOOK_MS,
  SYSLOG_FIRST_MS,
  SYSLOG_NOTICE_MS,
  SYSLOG_READ_BYTES,
  SYSLOG_STOP_MS,
} from './limits.ts';
import { countLost, newStats, type Source, type SourceContext } from '../../core/source.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { StreamPosition } from './intake/collector.ts';
import { createIntake } from './intake/create-intake.ts';
import { SyslogConnections } from './receive/connections.ts';
import { DatagramSockets } from './receive/datagram-sockets.ts';
import { Handshakes } from './receive/handshake.ts';
import type { ListenerTraits } from './receive/handshake.ts';
import { Flow } from './intake/flow.ts';
import { formatListen } from './listen/addresses.ts';
import type { Listener } from './listen/addresses.ts';
import { listenDescriptor, listenInternet, listenUnix } from './listen/streams.ts';
import type { StreamHandlers } from './listen/streams.ts';
import { systemdDescriptors } from './listen/systemd.ts';
import type { Reception } from './receive/reception.ts';
import { nativeLibrary, type NativeLibrary } from '../native/library.ts';
import { kindOf } from '../native/sockets.ts';

export interface SyslogSource extends Source {
  /** Where it listens, in the order of the configuration, with the ports that the system chose. */
  addresses(): ListenAddress[];
}

/** `library`: `node` reads datagrams through Node. */
export function createSyslogSource(
  config: SyslogConfig,
  context: SourceContext,
  kernel: Kernel,
  library: NativeLibrary | 'node' = nativeLibrary() ?? 'node',
): SyslogSource {
  const { log, clock, streams } = context;
  const reserve = (bytes: number): Region => context.reserve(bytes);
  const { id, maxEventBytes } = config;
  const splits = config.onOversize === 'split';
  /** Datagrams that were dropped before a reload. */
  let droppedBefore = 0;
  /** Totals that carried over. */
  let atOpen = { droppedEvents: 0, lostBytes: 0 };
  const stats = {
    ...newStats(),
    oversizeLines: 0,
    droppedEvents: 0,
    timeErrors: 0,
    connections: { closedIdle: 0, closedNew: 0, lateMessages: 0 },
    files: { open: 0 },
    get droppedDatagrams() {
      return droppedBefore + (sockets?.drops.total ?? 0);
    },
    set droppedDatagrams(total) {
      droppedBefore += total - this.droppedDatagrams;
    },
  };
  const { lane } = context;
  const { form, collector, intake, loadCharset } = createIntake(config, {
    lane,
    clock,
    kernel,
    stats,
    reserve,
    lost: noteLost,
    freed: () => flow.resume(),
  });
  const flow = new Flow(() => collector.isFull);
  const ended = Promise.withResolvers<void>();
  // `run` reports it.
  ended.promise.catch(() => {});
  const reception: Reception = { source: id, log, clock, form, intake, flow, reserve, mint, received, refused };
  const connections = new SyslogConnections({
    reception,
    streams,
    input: reserve(SYSLOG_READ_BYTES),
    maxEventBytes,
    splits,
    idleTimeoutMs: config.idleTimeoutMs,
    stats,
    changed: (open) => (stats.files.open = open),
  });
  const handshakes = new Handshakes({
    reception,
    connections,
    stats,
    maxConnections: config.maxConnections,
    tls: config.tls,
    proxyProtocol: config.proxyProtocol,
  });
  let sockets: DatagramSockets | undefined;
  const listeners: Listener[] = [];
  /** Reads so far: when a turn adds none, everything that was sent has been taken. */
  let reads = 0;
  let hungUp: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  const dropLimit = new LogLimit(1, SYSLOG_NOTICE_MS);

  function warnOfDrops(): void {
    if (dropLimit.admit(clock.monotonic()) === undefined) return;
    log.warn(
      { source: id, droppedEvents: stats.droppedEvents },
      'dropping syslog datagrams: the sinks are behind and the window is full',
    );
  }

  function noteLost(events: number, bytes: number): void {
    stats.droppedEvents += events;
    countLost({ source: id, streams, stats }, { firstPath: '' }, bytes, undefined, 'not_taken');
  }

  function received(bytes: number): void {
    reads += 1;
    stats.readBytes += bytes;
  }

  /** No error: the window is full. A stream that cannot be persisted is logged; any other error is a bug. */
  function refused(error: unknown, events: number, bytes: number, peer?: string): void {
    noteLost(events, bytes);
    if (error === undefined) warnOfDrops();
    else if (error instanceof TailraceError)
      log.error(
        { source: id, ...(peer && { peer }), code: error.code },
        `cannot take syslog messages: ${error.message}`,
      );
    else ended.reject(error);
  }

  function mint(): StreamPosition {
    return { stream: streams.mint(id, '').id, offset: 0 };
  }

  function datagramSockets(): DatagramSockets {
    sockets ??= new DatagramSockets({
      reception,
      library: library === 'node' ? undefined : library,
      hasUnix: config.listen.some(({ protocol }) => protocol === 'unixgram' || protocol === 'systemd'),
      receiveBufferBytes: config.receiveBufferBytes,
      socketMode: config.socketMode,
      failed: (error) => ended.reject(error),
    });
    return sockets;
  }

  function handlersOf(address: ListenAddress, entry: ListenerTraits): StreamHandlers {
    if (entry.isSecure) handshakes.prepareTls();
    return {
      onConnection: (socket) => handshakes.enter(socket, entry),
      onError: (error) =>
        log.error({ source: id, code: codeOf(error) }, `listening on ${formatListen(address)}: ${messageOf(error)}`),
    };
  }

  async function listen(address: ListenAddress): Promise<Listener[]> {
    switch (address.protocol) {
      case 'udp':
        return [await datagramSockets().listenUdp(address)];
      case 'unixgram':
        return [await datagramSockets().listenUnix(address)];
      case 'unix': {
        const entry = { isSecure: false, isNetwork: false, name: `unix:${address.path}` };
        return [await listenUnix(address, config.socketMode, handlersOf(address, entry))];
      }
      case 'systemd':
      case 'systemd-tls':
        return listenSystemd(address);
      default: {
        const entry = { isSecure: address.protocol === 'tls', isNetwork: true };
        return [await listenInternet(address, handlersOf(address, entry))];
      }
    }
  }

  async function listenSystemd(address: SystemdAddress): Promise<Listener[]> {
    const opened: Listener[] = [];
    for (const { fd } of systemdDescriptors(address.name)) {
      const kind = library === 'node' ? 'tcp' : kindOf(library, fd);
      const entry =
        kind === 'unix'
          ? { isSecure: false, isNetwork: false, name: 'unix' }
          : { isSecure: address.protocol === 'systemd-tls', isNetwork: true };
      if (kind === 'tcp' || kind === 'unix')
        opened.push(await listenDescriptor(address, fd, handlersOf(address, entry)));
      else if (kind !== undefined) opened.push(datagramSockets().adopt(address, fd, kind === 'unixgram'));
    }
    if (opened.length > 0) return opened;
    throw new TailraceError(
      'E_LISTEN',
      `cannot listen on ${formatListen(address)}: systemd has opened no such socket for this process`,
      {
        fix: 'start the agent by its socket unit, with FileDescriptorName= as it is written here, or listen on an address',
      },
    );
  }

  async function closeListeners(which: (address: ListenAddress) => boolean = () => true): Promise<void> {
    const closing = listeners.filter(({ address }) => which(address));
    for (const listener of closing) listeners.splice(listeners.indexOf(listener), 1);
    if (listeners.length === 0) sockets?.drops.forgetAll();
    await Promise.all(closing.map((listener) => listener.close()));
  }

  /** Runs the event loop until a turn reads nothing new, or the time is up. */
  async function takeReceived(deadline: number): Promise<void> {
    for (let before = -1; reads !== before && clock.monotonic() < deadline;) {
      before = reads;
      // Two turns: the first may have begun before the sockets were asked.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function hangUp(): Promise<void> {
    const deadline = clock.monotonic() + SYSLOG_STOP_MS;
    await takeReceived(deadline);
    // Who connects now waits there for the next process.
    const closed = closeListeners(({ protocol }) => protocol === 'systemd' || protocol === 'systemd-tls');
    await awaitFirstMessages(deadline);
    await connections.close(deadline);
    // The other listeners stay open, as senders connect anew and datagrams go on.
    await awaitFirstMessages(deadline);
    await closed;
  }

  async function stop(): Promise<void> {
    await (hungUp ??= hangUp());
    await takeReceived(clock.monotonic() + SYSLOG_FIRST_MS);
    handshakes.close();
    await Promise.all([closeListeners(), connections.close('at once')]);
    await collector.idle();
    const droppedEvents = stats.droppedEvents - atOpen.droppedEvents;
    const lostBytes = stats.lostBytes - atOpen.lostBytes;
    if (lostBytes > 0) log.warn({ source: id, droppedEvents, lostBytes }, 'syslog messages were lost');
  }

  /** Waits while a sender is in a handshake, or has connected and sent nothing yet: a moment, mostly. */
  async function awaitFirstMessages(deadline: number): Promise<void> {
    const untilMs = Math.min(deadline, clock.monotonic() + SYSLOG_FIRST_MS);
    while ((handshakes.size > 0 || connections.hasNew) && clock.monotonic() < untilMs)
      await clock.sleep(SYSLOG_FIRST_LOOK_MS);
  }

  return {
    id,
    stats,
    addresses: () => listeners.map(({ address }) => address),
    async open() {
      atOpen = { droppedEvents: stats.droppedEvents, lostBytes: stats.lostBytes };
      for (const { id: stream } of streams.list(id)) if (streams.isSettled(stream)) streams.forget(stream);
      if (context.once) return;
      await loadCharset();
      try {
        for (const address of config.listen) {
          for (const listener of await listen(address)) {
            listeners.push(listener);
            log.info({ source: id }, `listening on ${formatListen(listener.address)}`);
          }
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
    hangUp: () => (hungUp ??= hangUp()),
    stop() {
      stopping ??= stop().finally(() => ended.resolve());
      return stopping;
    },
  };
}

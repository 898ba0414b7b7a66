/**
 * The datagram sockets of a source, read the native way where that is to be had, else through Node. Promises: a socket whose
 * receive buffer is small is said in the log; a datagram that cannot be taken is counted.
 */
import type { ListenAddress } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import { MAX_SYSLOG_DATAGRAMS, SYSLOG_DATAGRAM_BYTES, UDP_RECEIVE_BUFFER_BYTES } from '../../core/limits.ts';
import type { Log } from '../../core/log.ts';
import type { Cursor } from './collector.ts';
import { Datagrams } from './datagrams.ts';
import type { EventForm } from './event-form.ts';
import type { Flow } from './flow.ts';
import type { Intake } from './intake.ts';
import { formatListen } from './listen/addresses.ts';
import type { Listener } from './listen/addresses.ts';
import { listenUdp } from './listen/udp.ts';
import type { DatagramListener } from './listen/udp.ts';
import { listenUdpByNode } from './listen/udp-node.ts';
import type { NativeLibrary } from './native/library.ts';
import { suffixOf } from './sender.ts';
import { UdpDrops } from './udp-drops.ts';

/** Calls of one socket before others get their turn. */
const READS_A_TURN = 4;

export interface DatagramSocketsOptions {
  readonly source: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined: through Node. */
  readonly library: NativeLibrary | undefined;
  readonly form: EventForm;
  readonly intake: Intake;
  readonly flow: Flow;
  readonly reserve: (bytes: number) => Region;
  readonly mint: () => Cursor;
  /** Hears of each read. */
  readonly received: (bytes: number) => void;
  /** Hears of messages that cannot be taken, and why; undefined: there is no room. */
  readonly refused: (error: unknown, events: number, bytes: number) => void;
  /** Hears of what is a bug. */
  readonly failed: (error: unknown) => void;
}

export class DatagramSockets {
  readonly #options: DatagramSocketsOptions;
  readonly #native: DatagramListener[] = [];
  readonly #datagrams: Datagrams | undefined;
  readonly #drops: UdpDrops;

  constructor(options: DatagramSocketsOptions) {
    const { library } = options;
    this.#options = options;
    this.#drops = new UdpDrops(options.clock);
    this.#datagrams =
      library &&
      new Datagrams({
        ...options,
        library,
        batch: MAX_SYSLOG_DATAGRAMS,
        placeBytes: SYSLOG_DATAGRAM_BYTES,
        setReading: (isReading) => {
          for (const listener of this.#native) listener.setReading(isReading);
        },
      });
  }

  /** Datagrams that the system dropped. */
  get droppedDatagrams(): number {
    return this.#drops.total;
  }

  /** The listeners are about to be closed. */
  closing(): void {
    this.#drops.forgetAll();
  }

  async listen(address: ListenAddress): Promise<Listener> {
    const { library } = this.#options;
    const listener =
      library && this.#datagrams ? await this.#listenNative(library, this.#datagrams, address) : await this.#listenByNode(address);
    const granted = listener.receiveBufferBytes;
    if (granted < UDP_RECEIVE_BUFFER_BYTES) {
      this.#options.log.info(
        { source: this.#options.source, granted },
        `the receive buffer of ${formatListen(address)} is small: bursts may be lost; raise net.core.rmem_max to ${UDP_RECEIVE_BUFFER_BYTES}`,
      );
    }
    return listener;
  }

  async #listenNative(library: NativeLibrary, datagrams: Datagrams, address: ListenAddress): Promise<DatagramListener> {
    const cursorOf = this.#lazyCursor();
    const onReadable = (fd: number): void => {
      try {
        for (let n = 0; n < READS_A_TURN && datagrams.read(fd, cursorOf, undefined); n += 1);
      } catch (error) {
        this.#options.failed(error);
      }
    };
    const listener = await listenUdp(library, address, onReadable);
    this.#native.push(listener);
    this.#drops.watch({ inode: listener.inode });
    if (!datagrams.isWaiting) listener.setReading(true);
    return listener;
  }

  async #listenByNode(address: ListenAddress): Promise<Listener & { readonly receiveBufferBytes: number }> {
    const { source, log, form, intake, received, refused } = this.#options;
    const cursorOf = this.#lazyCursor();
    const onDatagram = (bytes: Buffer, peer: string): void => {
      received(bytes.length);
      if (intake.isFull) return refused(undefined, 1, bytes.length);
      try {
        intake.takeFrame(cursorOf(), suffixOf(form.endingOf({ peer })), { bytes }, true);
      } catch (error) {
        refused(error, 1, bytes.length);
      }
    };
    const onError = (error: Error): void =>
      log.error({ source, code: codeOf(error) }, `listening on ${formatListen(address)}: ${messageOf(error)}`);
    const listener = await listenUdpByNode(address, onDatagram, onError);
    this.#drops.watch({ port: listener.address.port });
    return listener;
  }

  /** The stream of a socket's datagrams, made when the first one comes. */
  #lazyCursor(): () => Cursor {
    let cursor: Cursor | undefined;
    return () => (cursor ??= this.#options.mint());
  }
}

/**
 * The datagram sockets of a source, read natively where possible, else through Node. Promises: logs a socket whose receive
 * buffer is small; counts each datagram that it cannot take.
 */
import type { InternetAddress, ListenAddress, UnixAddress } from '../../../config/fields/kinds-listen.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { SYSLOG_DATAGRAMS_BYTES, SYSLOG_DATAGRAM_BYTES, UDP_RECEIVE_BUFFER_BYTES } from '../limits.ts';
import type { StreamPosition } from '../intake/collector.ts';
import { Datagrams } from './datagrams.ts';
import { formatListen } from '../listen/addresses.ts';
import type { Listener } from '../listen/addresses.ts';
import { listenBound, listenUdp, listenUnixgram, noNativeWay } from '../listen/datagram.ts';
import type { DatagramListener } from '../listen/datagram.ts';
import { listenUdpByNode } from '../listen/udp-node.ts';
import type { NativeLibrary } from '../../native/library.ts';
import { adoptSocket } from '../../native/sockets.ts';
import type { Reception } from './reception.ts';
import { suffixOf } from '../message/sender.ts';
import { UdpDrops } from './udp-drops.ts';

/** Calls of one socket before others get their turn. */
const READS_A_TURN = 4;

export interface DatagramSocketsOptions {
  readonly reception: Reception;
  /** Undefined: through Node. */
  readonly library: NativeLibrary | undefined;
  /** Whether there are unix sockets among them: their datagrams may be longer. */
  readonly hasUnix: boolean;
  /** Asked for each socket. */
  readonly receiveBufferBytes: number;
  /** Permissions of unix sockets. */
  readonly socketMode: number;
  /** Gets errors that are bugs. */
  readonly failed: (error: unknown) => void;
}

export class DatagramSockets {
  readonly #options: DatagramSocketsOptions;
  readonly #native: DatagramListener[] = [];
  readonly #datagrams: Datagrams | undefined;
  readonly drops: UdpDrops;

  constructor(options: DatagramSocketsOptions) {
    const { library, reception, hasUnix } = options;
    const placeBytes = hasUnix ? 4 * SYSLOG_DATAGRAM_BYTES : SYSLOG_DATAGRAM_BYTES;
    this.#options = options;
    this.drops = new UdpDrops(reception.clock);
    this.#datagrams =
      library &&
      new Datagrams({
        reception,
        library,
        batch: SYSLOG_DATAGRAMS_BYTES / placeBytes,
        placeBytes,
        setReading: (isReading) => {
          for (const listener of this.#native) listener.setReading(isReading);
        },
      });
  }

  async listenUdp(address: InternetAddress): Promise<Listener> {
    const { library } = this.#options;
    const listener = library
      ? this.#begin(await listenUdp(library, address, this.#options.receiveBufferBytes, this.#readerOf(undefined)))
      : await this.#listenByNode(address);
    this.#noteReceiveBuffer(listener);
    return listener;
  }

  async listenUnix(address: UnixAddress): Promise<Listener> {
    const { library, socketMode, receiveBufferBytes } = this.#options;
    if (library === undefined) throw noNativeWay(address);
    return this.#begin(
      await listenUnixgram(library, address, socketMode, receiveBufferBytes, this.#readerOf(`unix:${address.path}`)),
    );
  }

  /** Listens on a socket that another process bound; `isUnix`: its senders have no addresses. */
  adopt(address: ListenAddress, fd: number, isUnix: boolean): Listener {
    const { library, receiveBufferBytes } = this.#options;
    if (library === undefined) throw noNativeWay(address);
    const bound = adoptSocket(library, fd, receiveBufferBytes);
    const listener = this.#begin(listenBound(library, address, bound, this.#readerOf(isUnix ? 'unix' : undefined)));
    if (!isUnix) this.#noteReceiveBuffer(listener);
    return listener;
  }

  #begin(listener: DatagramListener): DatagramListener {
    this.#native.push(listener);
    this.drops.watch({ inode: listener.inode });
    if (this.#datagrams?.isWaiting === false) listener.setReading(true);
    return listener;
  }

  /** `name`: what all senders are called. */
  #readerOf(name: string | undefined): (fd: number) => void {
    const cursorOf = this.#lazyCursor();
    const unnamed = name === undefined ? undefined : suffixOf(this.#options.reception.form.endingOf({ peer: name }));
    return (fd) => {
      try {
        for (let n = 0; n < READS_A_TURN && this.#datagrams?.read(fd, cursorOf, unnamed) === true; n += 1);
      } catch (error) {
        this.#options.failed(error);
      }
    };
  }

  #noteReceiveBuffer({
    address,
    receiveBufferBytes: granted,
  }: Listener & { readonly receiveBufferBytes: number }): void {
    if (granted >= Math.min(UDP_RECEIVE_BUFFER_BYTES, this.#options.receiveBufferBytes)) return;
    const { log, source } = this.#options.reception;
    log.info(
      { source, granted },
      `the receive buffer of ${formatListen(address)} is small: bursts may be lost; raise net.core.rmem_max to ${UDP_RECEIVE_BUFFER_BYTES}`,
    );
  }

  async #listenByNode(address: InternetAddress): Promise<Listener & { readonly receiveBufferBytes: number }> {
    const { source, log, form, intake, received, refused } = this.#options.reception;
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
    const listener = await listenUdpByNode(address, this.#options.receiveBufferBytes, onDatagram, onError);
    this.drops.watch({ port: listener.address.port });
    return listener;
  }

  /** The stream of a socket's datagrams, made when the first one comes. */
  #lazyCursor(): () => StreamPosition {
    let cursor: StreamPosition | undefined;
    return () => (cursor ??= this.#options.reception.mint());
  }
}

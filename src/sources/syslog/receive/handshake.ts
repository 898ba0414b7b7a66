/**
 * Takes an accepted connection past the limit of connections, a PROXY header and a TLS handshake. Promises: a connection that does
 * not complete them in time, or sends anything else, is closed and logged, and delays no other.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { SYSLOG_HANDSHAKE_MS, SYSLOG_NOTICE_MS } from '../limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import { LogLimit } from '../../../core/log.ts';
import type { SyslogConnections } from './connections.ts';
import { formatPeer } from '../listen/addresses.ts';
import { readProxyHeader } from '../listen/proxy-protocol.ts';
import { createSecure, nameOf, type Secure, type SecureOptions } from '../listen/secure.ts';
import type { Reception } from './reception.ts';
import type { SenderFields } from '../message/sender.ts';

export interface HandshakeOptions {
  readonly reception: Reception;
  readonly connections: SyslogConnections;
  readonly stats: Pick<Required<SourceStats>, 'connections'>;
  readonly maxConnections: number;
  readonly tls: SecureOptions['files'];
  readonly proxyProtocol: boolean;
}

export interface ListenerTraits {
  readonly isSecure: boolean;
  /** Whether a PROXY header may come first: not over unix sockets. */
  readonly isNetwork: boolean;
  /** The sender's name where it has no address. */
  readonly name?: string;
}

export class Handshakes {
  readonly #options: HandshakeOptions;
  /** Those that are not served yet, with the name of the sender: the TLS side of a connection is another object with the same addresses. */
  readonly #waiting = new Map<string, { readonly socket: Socket; peer: string }>();
  #secure: Secure | undefined;
  readonly #fullLimit = new LogLimit(1, SYSLOG_NOTICE_MS);
  readonly #refusedLimit = new LogLimit(1, SYSLOG_NOTICE_MS);

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Makes TLS ready; throws `TlsFileError`. */
  prepareTls(): void {
    const { tls, reception } = this.#options;
    const { clock, log, source } = reception;
    this.#secure ??= createSecure({
      files: tls,
      clock,
      onSecure: (socket) => this.#serveSecure(socket),
      onFailure: (error, socket) => this.#refuse(socket, `its TLS handshake failed: ${reasonOf(error)}`),
      onReload: (problem) => {
        if (problem === undefined) log.info({ source }, 'the certificates of TLS listeners were read again');
        else
          log.error(
            { source, reason: problem },
            'changed certificate files cannot be used; the ones loaded before stay in use',
          );
      },
    });
  }

  enter(socket: Socket, entry: ListenerTraits): void {
    const { connections, maxConnections, proxyProtocol, stats } = this.#options;
    if (connections.size + this.#waiting.size >= maxConnections && !connections.closeLongestIdle()) {
      stats.connections.closedNew += 1;
      socket.destroy();
      return this.#warn(
        this.#fullLimit,
        {},
        `${maxConnections} are open already, and none of them is idle long enough to be closed`,
      );
    }
    const peer = entry.name ?? formatPeer(socket.remoteAddress, socket.remotePort);
    if (proxyProtocol && entry.isNetwork) this.#readProxy(socket, entry, peer);
    else this.#proceed(socket, entry, { peer }, undefined);
  }

  /** Connections that are not served yet. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Closes those that are not served yet. */
  close(): void {
    for (const { socket } of this.#waiting.values()) socket.destroy();
  }

  /** `ahead`: bytes that were read after a PROXY header. */
  #proceed(socket: Socket, entry: ListenerTraits, origin: SenderFields, ahead: Buffer | undefined): void {
    if (!entry.isSecure || this.#secure === undefined)
      return this.#options.connections.accept({ socket, isPlain: true, origin, ...(ahead && { ahead }) });
    this.#wait(socket, origin.peer);
    if (ahead !== undefined && ahead.length > 0) socket.unshift(ahead);
    this.#secure.take(socket);
  }

  #readProxy(socket: Socket, entry: ListenerTraits, peer: string): void {
    let bytes = Buffer.alloc(0);
    const key = this.#wait(socket, peer);
    const timer = setTimeout(() => this.#refuse(socket, 'no PROXY protocol header came in time'), SYSLOG_HANDSHAKE_MS);
    const end = (): void => {
      clearTimeout(timer);
      socket.off('data', onData);
    };
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const header = readProxyHeader(bytes);
      if (header === 'more') return;
      end();
      if (header === 'invalid') return this.#refuse(socket, 'it does not begin with a PROXY protocol header');
      socket.pause();
      this.#waiting.delete(key);
      this.#proceed(socket, entry, { peer: header.peer ?? peer }, bytes.subarray(header.length));
    };
    socket.on('data', onData).once('close', end).resume();
  }

  #serveSecure(socket: TLSSocket): void {
    const key = keyOf(socket);
    const peer = this.#waiting.get(key)?.peer ?? formatPeer(socket.remoteAddress, socket.remotePort);
    const name = nameOf(socket);
    this.#waiting.delete(key);
    this.#options.connections.accept({
      socket,
      isPlain: false,
      origin: name === undefined ? { peer } : { peer, peer_name: name },
    });
  }

  #wait(socket: Socket, peer: string): string {
    const key = keyOf(socket);
    this.#waiting.set(key, { socket, peer });
    socket.once('close', () => {
      if (this.#waiting.get(key)?.socket === socket) this.#waiting.delete(key);
    });
    // Those who wait for it report the error.
    socket.on('error', () => {});
    return key;
  }

  #refuse(socket: Socket, reason: string): void {
    const key = keyOf(socket);
    const peer = this.#waiting.get(key)?.peer ?? formatPeer(socket.remoteAddress, socket.remotePort);
    this.#warn(this.#refusedLimit, { peer }, reason);
    this.#waiting.delete(key);
    socket.destroy();
  }

  #warn(limit: LogLimit, fields: object, reason: string): void {
    const { log, clock, source } = this.#options.reception;
    const heldBack = limit.admit(clock.monotonic());
    if (heldBack !== undefined) log.warn({ source, ...fields, heldBack }, `closed a new syslog connection: ${reason}`);
  }
}

/** Shared by a connection and its TLS side. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function reasonOf(error: Error): string {
  return codeOf(error) === '' ? messageOf(error) : `${messageOf(error)} (${codeOf(error)})`;
}

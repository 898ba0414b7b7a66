/**
 * How many datagrams the system dropped because a socket's receive buffer was full: it counts them for each socket in
 * /proc/net/udp and udp6. They were never received, so they are no events. Promises: a count never goes back, also when its
 * socket is closed; 0 where the system does not report it.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '../../../core/time/clock.ts';

const FILES = ['/proc/net/udp', '/proc/net/udp6'];
/** Columns of a line: the local address, the inode, the drops. */
const [ADDRESS, INODE, DROPS] = [1, 9, 12];
/** The files are not read more often. */
const FRESH_MS = 500;

/** A socket by its inode, or where that is not known by its port. */
export type WatchedSocket = { readonly inode: number } | { readonly port: number };

export class UdpDrops {
  readonly #clock: Clock;
  readonly #files: readonly string[];
  readonly #sockets: WatchedSocket[] = [];
  /** Of the sockets that are closed. */
  #closed = 0;
  #open = 0;
  #readAtMs = -Infinity;

  constructor(clock: Clock, files: readonly string[] = FILES) {
    this.#clock = clock;
    this.#files = files;
  }

  watch(socket: WatchedSocket): void {
    this.#sockets.push(socket);
  }

  /** Datagrams dropped so far. */
  get total(): number {
    const now = this.#clock.monotonic();
    if (this.#sockets.length > 0 && now - this.#readAtMs >= FRESH_MS) {
      this.#open = this.#read();
      this.#readAtMs = now;
    }
    return this.#closed + this.#open;
  }

  /** The sockets are about to be closed. */
  forgetAll(): void {
    if (this.#sockets.length > 0) this.#closed += this.#read();
    this.#sockets.length = 0;
    this.#open = 0;
  }

  #read(): number {
    let sum = 0;
    for (const file of this.#files) {
      for (const line of linesOf(file)) {
        const columns = line.trim().split(/\s+/);
        const port = Number.parseInt(columns[ADDRESS]?.split(':')[1] ?? '', 16);
        const inode = Number(columns[INODE]);
        if (this.#sockets.some((socket) => ('inode' in socket ? socket.inode === inode : socket.port === port)))
          sum += Number(columns[DROPS] ?? 0);
      }
    }
    return sum;
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'latin1').split('\n').slice(1, -1);
  } catch {
    return [];
  }
}

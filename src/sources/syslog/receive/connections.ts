/**
 * The connections of a source that are served: what each is served with, and which of their streams can be forgotten. Promises:
 * `close` takes what was received.
 */
import type { Socket } from 'node:net';
import type { Region } from '../../../core/block.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { MAX_CLOSED_STREAMS, MAX_SYSLOG_UNFINISHED_BYTES } from '../limits.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { serveConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { Framer } from './framing.ts';
import { IdleWatch } from './idle.ts';
import { MessageStream } from './message-stream.ts';
import type { Reception } from './reception.ts';
import { suffixOf } from '../message/sender.ts';
import type { Origin } from '../message/sender.ts';

/** Idle connections are asked for a sign of life after this long. */
const KEEP_ALIVE_MS = 60_000;
/** Closed streams looked at each time that a connection ends. */
const FORGET_AT_ONCE = 8;

export interface ConnectionsOptions extends Reception {
  readonly streams: StreamStore;
  /** Where bytes are read into. */
  readonly input: Region;
  readonly maxEventBytes: number;
  readonly splits: boolean;
  /** A connection that is idle this long is closed; Infinity: never. */
  readonly idleTimeoutMs: number;
  /** Called with the number of open connections when it changes. */
  readonly changed: (open: number) => void;
}

export interface Accepted {
  readonly socket: Socket;
  /** Whether the socket's own handle gives the bytes: not so under TLS. */
  readonly isPlain: boolean;
  readonly origin: Origin;
  /** Its first bytes, where they were read already. */
  readonly ahead?: Buffer;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Connection>();
  readonly #closedStreams: string[] = [];
  readonly #budget = { left: MAX_SYSLOG_UNFINISHED_BYTES };
  readonly #idle = new IdleWatch();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionsOptions) {
    const { idleTimeoutMs } = options;
    this.#options = options;
    if (idleTimeoutMs < Infinity) this.#timer = setInterval(() => this.closeIdle(), idleTimeoutMs).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Serves a connection. */
  accept({ socket, isPlain, origin, ahead }: Accepted): void {
    const { form, intake, flow, input, maxEventBytes, splits, mint, received, refused } = this.#options;
    received(0);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const framer = new Framer(maxEventBytes, this.#budget, splits);
    const messages = new MessageStream({ intake, framer, input, suffix: suffixOf(form.endingOf(origin)), mint });
    const connection = serveConnection({ socket, isPlain, messages, flow, input, received, ...(ahead && { ahead }) });
    this.#open.add(connection);
    this.#options.changed(this.#open.size);
    connection.done.then(
      (error) => this.#forget(connection, messages, origin, error),
      (error: unknown) => {
        this.#forget(connection, messages, origin, undefined);
        refused(error, 1, 0, origin.peer);
      },
    );
  }

  /** Closes those that have brought nothing since the last time. */
  closeIdle(): void {
    const { log, source } = this.#options;
    const closed = this.#idle.look(this.#open);
    if (closed > 0) log.debug({ source, closed }, 'closed idle syslog connections');
  }

  /** Closes all; resolves once everything that was received is taken. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const open = [...this.#open];
    for (const connection of open) connection.close();
    await Promise.allSettled(open.map(({ done }) => done));
  }

  #forget(connection: Connection, messages: MessageStream, { peer }: Origin, error: Error | undefined): void {
    const { log, source, changed, streams } = this.#options;
    if (error !== undefined) log.debug({ source, peer, code: codeOf(error) }, `a syslog connection broke: ${messageOf(error)}`);
    messages.release();
    this.#open.delete(connection);
    changed(this.#open.size);
    const { stream } = messages;
    if (stream !== undefined && this.#closedStreams.length < MAX_CLOSED_STREAMS) this.#closedStreams.push(stream);
    // Oldest first, a few at a time.
    for (let n = 0; n < FORGET_AT_ONCE && this.#closedStreams.length > 0; n += 1) {
      if (!streams.isSettled(this.#closedStreams[0]!)) break;
      streams.forget(this.#closedStreams.shift()!);
    }
  }
}

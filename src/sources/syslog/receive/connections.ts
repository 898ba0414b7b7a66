/**
 * The connections that a source serves: their parts, and which of their streams can be forgotten. Promises: `close` takes all that was
 * received, and what senders write before they see it.
 */
import type { Socket } from 'node:net';
import type { Region } from '../../../core/block.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { LogLimit } from '../../../core/log.ts';
import type { SourceStats } from '../../../core/source.ts';
import {
  MAX_CLOSED_STREAMS,
  MAX_SYSLOG_LARGE_READERS,
  SYSLOG_IDLE_MS,
  SYSLOG_LOOK_MS,
  SYSLOG_NOTICE_MS,
} from '../limits.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { serveConnection } from './connection.ts';
import type { SyslogConnection } from './connection.ts';
import { Framer } from './framing.ts';
import { IdleWatch } from './idle.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';
import { MessageStream } from './message-stream.ts';
import type { Reception } from './reception.ts';
import { suffixOf } from '../message/sender.ts';
import type { SenderFields } from '../message/sender.ts';

/** Idle connections are asked for a sign of life after this long. */
const KEEP_ALIVE_MS = 60_000;
/** Closed streams looked at each time that a connection ends. */
const FORGET_AT_ONCE = 8;

export interface SyslogConnectionsOptions {
  readonly reception: Reception;
  readonly streams: StreamStore;
  /** Where bytes are read into. */
  readonly input: Region;
  readonly maxEventBytes: number;
  readonly splits: boolean;
  /** A connection that is idle this long is closed; Infinity: never. */
  readonly idleTimeoutMs: number;
  readonly stats: Pick<Required<SourceStats>, 'connections'>;
  /** Called with the number of open connections when it changes. */
  readonly changed: (open: number) => void;
}

export interface Accepted {
  readonly socket: Socket;
  /** Whether the socket's own handle gives the bytes: not so under TLS. */
  readonly isPlain: boolean;
  readonly origin: SenderFields;
  /** Its first bytes, where they were read already. */
  readonly ahead?: Buffer;
}

export class SyslogConnections {
  readonly #options: SyslogConnectionsOptions;
  readonly #open = new Set<SyslogConnection>();
  readonly #closedStreams: string[] = [];
  /** Those of them that are being closed for new ones. */
  readonly #closing = new Set<SyslogConnection>();
  readonly #unfinished: UnfinishedMessages;
  readonly #largeReaders = { left: MAX_SYSLOG_LARGE_READERS };
  readonly #idle = new IdleWatch();
  readonly #idleTimer: NodeJS.Timeout | undefined;
  /** Only while connections are open. */
  #lookTimer: NodeJS.Timeout | undefined;
  readonly #noticeLimit = new LogLimit(1, SYSLOG_NOTICE_MS);

  constructor(options: SyslogConnectionsOptions) {
    const { idleTimeoutMs, reception } = options;
    this.#options = options;
    this.#unfinished = new UnfinishedMessages(reception.clock);
    if (idleTimeoutMs < Infinity) this.#idleTimer = setInterval(() => this.closeIdle(), idleTimeoutMs).unref();
  }

  get size(): number {
    return this.#open.size - this.#closing.size;
  }

  /** Closes one that is ending anyway, or the one that is idle longest, if it is idle long enough; whether it did. */
  closeLongestIdle(): boolean {
    const { reception, stats } = this.#options;
    let longest: SyslogConnection | undefined;
    for (const connection of this.#open)
      if (!this.#closing.has(connection) && idleSince(connection) < (longest ? idleSince(longest) : Infinity))
        longest = connection;
    if (longest === undefined || reception.clock.monotonic() - idleSince(longest) < SYSLOG_IDLE_MS) return false;
    this.#closing.add(longest);
    // Descriptors are bounded: this one is needed now.
    longest.abandon();
    stats.connections.closedIdle += 1;
    return true;
  }

  /** Gives the unfinished messages whose time is over. */
  look(): void {
    const { stats } = this.#options;
    stats.connections.lateMessages += this.#unfinished.look([...this.#open].map(({ holder }) => holder));
  }

  /** Serves a connection. */
  accept({ socket, isPlain, origin, ahead }: Accepted): void {
    const { input, maxEventBytes, splits, reception } = this.#options;
    const { form, intake, flow, clock, mint, received, refused } = reception;
    received(0);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const framer = new Framer(maxEventBytes, splits);
    const suffix = suffixOf(form.endingOf(origin));
    let isSaid = false;
    const outOfStep = (): void => void (isSaid ||= this.#sayOutOfStep(origin));
    const messages = new MessageStream({ intake, framer, input, suffix, clock, mint, outOfStep });
    const held = { unfinished: this.#unfinished, largeReaders: this.#largeReaders };
    const connection = serveConnection({
      socket,
      isPlain,
      messages,
      flow,
      clock,
      ...held,
      input,
      received,
      ...(ahead && { ahead }),
    });
    this.#open.add(connection);
    this.#lookTimer ??= setInterval(() => this.look(), SYSLOG_LOOK_MS).unref();
    this.#options.changed(this.#open.size);
    const forget = (error: Error | undefined): void => {
      framer.release();
      this.#forget(connection, messages, origin, error);
    };
    connection.done.then(forget, (error: unknown) => {
      forget(undefined);
      refused(error, 1, 0, origin.peer);
    });
  }

  /** Closes those that have brought nothing since the last time. */
  closeIdle(): void {
    const { log, source } = this.#options.reception;
    const closed = this.#idle.look(this.#open);
    if (closed > 0) log.debug({ source, closed }, 'closed idle syslog connections');
  }

  /** Whether a sender has connected and sent nothing yet. */
  get hasNew(): boolean {
    for (const { reads } of this.#open) if (reads === 0) return true;
    return false;
  }

  /** Closes all that are open now, with time until `untilMs` or `at once`; resolves once everything that was received is taken. */
  async close(until: number | 'at once'): Promise<void> {
    clearInterval(this.#idleTimer);
    const open = [...this.#open];
    for (const connection of open) {
      if (until === 'at once') connection.abandon();
      else connection.close(until);
    }
    await Promise.allSettled(open.map(({ done }) => done));
  }

  /** Whether it was logged: others may have been named just now. */
  #sayOutOfStep({ peer }: SenderFields): boolean {
    const { log, clock, source } = this.#options.reception;
    const heldBack = this.#noticeLimit.admit(clock.monotonic());
    if (heldBack === undefined) return false;
    log.warn(
      { source, peer, heldBack },
      'a syslog sender’s octet counts do not agree with its bytes: messages are found again at the next count; it may count characters',
    );
    return true;
  }

  #forget(
    connection: SyslogConnection,
    messages: MessageStream,
    { peer }: SenderFields,
    error: Error | undefined,
  ): void {
    const { changed, streams, reception } = this.#options;
    const { log, source } = reception;
    if (error !== undefined)
      log.debug({ source, peer, code: codeOf(error) }, `a syslog connection broke: ${messageOf(error)}`);
    this.#open.delete(connection);
    this.#closing.delete(connection);
    if (this.#open.size === 0) {
      clearInterval(this.#lookTimer);
      this.#lookTimer = undefined;
    }
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

function idleSince({ isEnding, idleSinceMs = Infinity }: SyslogConnection): number {
  return isEnding ? -Infinity : idleSinceMs;
}

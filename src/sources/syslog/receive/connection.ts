/**
 * One connection of a stream socket, plain or TLS. Promises: stops reading while bytes wait for the window, or its unfinished message for
 * room; reads little at once from a sender that brings little; takes every received byte, also when the connection breaks or is closed;
 * closes gently, as a sender may be writing just then.
 */
import type { Socket } from 'node:net';
import type { Region } from '../../../core/block.ts';
import type { Flow, PausableReader } from '../intake/flow.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { MessageStream } from './message-stream.ts';
import {
  SYSLOG_LINGER_MS,
  SYSLOG_SMALL_READ_BYTES,
  SYSLOG_SMALL_READS,
  SYSLOG_STOP_MS,
  SYSLOG_UNFINISHED_LOOKS,
} from '../limits.ts';
import { moveToSharedRead } from './shared-read.ts';
import type { UnfinishedHolder, UnfinishedMessages } from './unfinished-messages.ts';

export interface SyslogConnectionOptions {
  /** Nothing was read from it yet. */
  readonly socket: Socket;
  /** Whether the socket's own handle gives the bytes: not so under TLS. */
  readonly isPlain: boolean;
  /** Its first bytes, where they were read already. */
  readonly ahead?: Buffer;
  readonly messages: MessageStream;
  readonly flow: Flow;
  readonly clock: Clock;
  readonly unfinished: UnfinishedMessages;
  /** Connections that may still begin to read as much as the input holds. */
  readonly largeReaders: { left: number };
  /** Where bytes are read into. */
  readonly input: Region;
  /** Called after each read. */
  readonly received: (bytes: number) => void;
}

export interface SyslogConnection {
  /** Reads so far. */
  readonly reads: number;
  /** True while the sender waits for us: then it is not idle. */
  readonly isPaused: boolean;
  /** Since when nothing came, and nothing is unfinished; undefined while the sender waits for us or has begun a message. */
  readonly idleSinceMs: number | undefined;
  /** We ended our side, and nothing has come since. */
  readonly isEnding: boolean;
  readonly holder: UnfinishedHolder;
  /** Resolves, to the error that broke it if one did, once every message was taken; rejects when they could not be. */
  readonly done: Promise<Error | undefined>;
  /**
   * Ends our side, so that the sender goes elsewhere, and reads on until it ends its own or falls silent, or until `untilMs` (monotonic).
   */
  close(untilMs?: number): void;
  /** Closes at once; takes only bytes read so far. */
  abandon(): void;
}

export function serveConnection(options: SyslogConnectionOptions): SyslogConnection {
  const { messages, flow, clock, unfinished, largeReaders, input, received } = options;
  const done = Promise.withResolvers<Error | undefined>();
  const smallInput = input.bytes.subarray(0, SYSLOG_SMALL_READ_BYTES);
  let lastLength = 0;
  let isLarge = false;
  /** Reads in a row that a small one would have held. */
  let smallReads = 0;
  let isHeldBack = false;
  let isDone = false;
  const shared = options.isPlain ? moveToSharedRead(options.socket, nextInput, take) : undefined;
  const socket = shared ?? options.socket;
  let broken: Error | undefined;
  let reads = 0;
  let readAtMs = clock.monotonic();
  let isPaused = false;
  let isEnded = false;
  let lingering: NodeJS.Timeout | undefined;
  let closeByMs = Infinity;
  /** Since `linger` last looked, nothing came, and we were ready to read. */
  let isSilent = false;
  let readsAtEnd: number | undefined;

  const reader: PausableReader = {
    get isWaiting() {
      return messages.isWaiting || (isEnded && !isDone);
    },
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      attempt(() => messages.resume());
      if (messages.isWaiting) return;
      if (isEnded) return finish();
      isPaused = isSilent = false;
      messages.restartTime();
      unfinished.note(holder);
      if (!isHeldBack) socket.resume();
    },
  };

  const holder: UnfinishedHolder = {
    get heldBytes() {
      return isDone ? 0 : messages.heldBytes;
    },
    get messageBytes() {
      return messages.messageBytes;
    },
    get mostBytes() {
      return messages.mostBytes;
    },
    get sinceMs() {
      return messages.sinceMs;
    },
    get isOutOfStep() {
      return messages.isOutOfStep;
    },
    get isReading() {
      return !isPaused && !isDone && !isEnded && !flow.isFull;
    },
    setHeldBack(is) {
      isHeldBack = is;
      isSilent = false;
      if (is) return void socket.pause();
      messages.restartTime();
      if (!isPaused) socket.resume();
    },
    expire() {
      attempt(() => messages.end('late'));
      if (messages.isWaiting) flow.wait(reader);
    },
  };

  function take(length: number): void {
    reads += 1;
    isSilent = false;
    lastLength = length;
    readAtMs = clock.monotonic();
    received(length);
    attempt(() => messages.take(length));
    if (messages.isWaiting) flow.wait(reader);
    unfinished.note(holder);
  }

  /** Where the next read goes: a sender that fills a small one may bring more, while not too many do. */
  function nextInput(): Buffer {
    smallReads = lastLength < SYSLOG_SMALL_READ_BYTES ? smallReads + 1 : 0;
    if (isHeldBack || isDone || smallReads >= SYSLOG_SMALL_READS) {
      leaveLarge();
    } else if (smallReads === 0 && !isLarge && largeReaders.left > 0) {
      isLarge = true;
      largeReaders.left -= 1;
    }
    return isLarge ? input.bytes : smallInput;
  }

  function leaveLarge(): void {
    if (isLarge) largeReaders.left += 1;
    isLarge = false;
  }

  /** A stream that cannot be made costs the sender its connection. */
  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      settle(() => done.reject(error));
      socket.destroy();
    }
  }

  function finish(): void {
    if (isDone) return;
    if (flow.isFull || messages.isWaiting) return flow.wait(reader);
    attempt(() => messages.end());
    if (messages.isWaiting) return flow.wait(reader);
    settle(() => done.resolve(broken));
  }

  function settle(how: () => void): void {
    isDone = true;
    clearInterval(lingering);
    leaveLarge();
    unfinished.remove(holder);
    flow.remove(reader);
    how();
  }

  function takeChunk(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const length = chunk.copy(input.bytes, 0, at);
      take(length);
      at += length;
    }
  }

  function linger(): void {
    let silentLooks = 0;
    const look = (): void => {
      silentLooks = isSilent && !isPaused && !isHeldBack ? silentLooks + 1 : 0;
      isSilent = true;
      const isOver = silentLooks >= (messages.sinceMs === undefined ? 1 : SYSLOG_UNFINISHED_LOOKS);
      if (isOver || clock.monotonic() >= closeByMs) abandon();
    };
    isSilent = true;
    // Where the process stood still, timers come before reads: the look comes after both.
    lingering = setInterval(() => setImmediate(look), SYSLOG_LINGER_MS);
  }

  function abandon(): void {
    clearInterval(lingering);
    // Bytes that the stream has already buffered arrive as `data`.
    if (shared === undefined) socket.read();
    socket.destroy();
  }

  if (shared === undefined) socket.on('data', takeChunk);
  socket.on('error', (error) => {
    broken = error;
  });
  socket.on('close', () => {
    isEnded = true;
    clearInterval(lingering);
    finish();
  });
  flow.add(reader);
  if (options.ahead !== undefined) takeChunk(options.ahead);
  if (!isPaused && !isHeldBack) socket.resume();

  return {
    holder,
    get reads() {
      return reads;
    },
    get isPaused() {
      return isPaused || isHeldBack;
    },
    get idleSinceMs() {
      return isPaused || isHeldBack || isEnded || messages.sinceMs !== undefined ? undefined : readAtMs;
    },
    get isEnding() {
      return reads === readsAtEnd;
    },
    done: done.promise,
    abandon,
    close(untilMs = clock.monotonic() + SYSLOG_STOP_MS) {
      closeByMs = Math.min(closeByMs, untilMs);
      if (lingering !== undefined || isEnded) return;
      readsAtEnd = reads;
      socket.end();
      linger();
    },
  };
}

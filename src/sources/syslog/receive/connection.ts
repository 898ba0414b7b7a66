/**
 * One connection of a stream socket, plain or TLS. Promises: stops reading while bytes wait for the window; takes every
 * received byte, also when the connection breaks or is closed.
 */
import type { Socket } from 'node:net';
import type { Region } from '../../../core/block.ts';
import type { Flow, Reader } from '../intake/flow.ts';
import type { MessageStream } from './message-stream.ts';
import { moveToSharedRead } from './shared-read.ts';

export interface ConnectionOptions {
  /** Nothing was read from it yet. */
  readonly socket: Socket;
  /** Whether the socket's own handle gives the bytes: not so under TLS. */
  readonly isPlain: boolean;
  /** Its first bytes, where they were read already. */
  readonly ahead?: Buffer;
  readonly messages: MessageStream;
  readonly flow: Flow;
  /** Where bytes are read into. */
  readonly input: Region;
  /** Called after each read. */
  readonly received: (bytes: number) => void;
}

export interface Connection {
  /** Reads so far. */
  readonly reads: number;
  /** True while the sender waits for us: then it is not idle. */
  readonly isPaused: boolean;
  /** Resolves, to the error that broke it if one did, once every message was taken; rejects when they could not be. */
  readonly done: Promise<Error | undefined>;
  /** Stops reading from the sender; bytes received so far are still taken. */
  close(): void;
}

export function serveConnection(options: ConnectionOptions): Connection {
  const { messages, flow, input, received } = options;
  const done = Promise.withResolvers<Error | undefined>();
  const shared = options.isPlain ? moveToSharedRead(options.socket, input.bytes, take) : undefined;
  const socket = shared ?? options.socket;
  let broken: Error | undefined;
  let reads = 0;
  let isPaused = false;
  let isEnded = false;
  let isDone = false;

  const reader: Reader = {
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
      isPaused = false;
      socket.resume();
    },
  };

  function take(length: number): void {
    reads += 1;
    received(length);
    attempt(() => messages.take(length));
    if (messages.isWaiting) flow.wait(reader);
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
    settle(() => done.resolve(broken));
  }

  function settle(how: () => void): void {
    isDone = true;
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

  if (shared === undefined) socket.on('data', takeChunk);
  socket.on('error', (error) => {
    broken = error;
  });
  socket.on('close', () => {
    isEnded = true;
    finish();
  });
  flow.add(reader);
  if (options.ahead !== undefined) takeChunk(options.ahead);
  if (!isPaused) socket.resume();

  return {
    get reads() {
      return reads;
    },
    get isPaused() {
      return isPaused;
    },
    done: done.promise,
    close() {
      // Bytes that the stream has already buffered arrive as `data`.
      if (shared === undefined) socket.read();
      socket.destroy();
    },
  };
}

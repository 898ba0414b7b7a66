/**
 * One TCP connection: its bytes to frames, its frames to the taker, one at a time. Promises: nothing more is read from the
 * sender while a frame waits; what was received is taken to the last byte, also when the connection breaks or is closed.
 */
import type { Socket } from 'node:net';
import type { Framer } from './framing.ts';
import type { Frame } from './framing.ts';

export interface Connection {
  /** Resolves, to the error that broke it if one did, once every frame was taken; rejects with what `take` threw. */
  readonly done: Promise<unknown>;
  /** Takes no more from the sender; what was received so far is still taken. */
  close(): void;
}

/** `onBytes` hears of each chunk. */
export function serveConnection(
  socket: Socket,
  framer: Framer,
  take: (frame: Frame) => Promise<void>,
  onBytes: (count: number) => void,
): Connection {
  let rest: Buffer | null = null;

  async function takeChunk(chunk: Buffer): Promise<void> {
    onBytes(chunk.length);
    framer.push(chunk);
    for (let frame = framer.next(); frame !== undefined; frame = framer.next()) await take(frame);
  }

  async function serve(): Promise<unknown> {
    const chunks: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]();
    let broken: unknown;
    for (;;) {
      const read = await chunks.next().catch((error: unknown) => {
        broken = error;
        return undefined;
      });
      if (read === undefined || read.done === true) break;
      await takeChunk(read.value);
    }
    if (rest !== null) await takeChunk(rest);
    const last = framer.end();
    if (last !== undefined) await take(last);
    return broken;
  }

  return {
    done: serve().finally(() => {
      framer.end();
      socket.destroy();
    }),
    close() {
      rest = socket.read() as Buffer | null;
      socket.destroy();
    },
  };
}

/**
 * Where standard input's bytes come from: one `read` for every kind of descriptor 0. It promises to read nothing that
 * was not asked for beyond one buffer, and that a pending read ends when the input is closed.
 *
 * Three ways, because each is the cheapest that can be interrupted (measured, CPU-seconds a GiB): a pipe into one fixed
 * buffer 0.2 to 0.4, as a stream of chunks 0.6, on the thread pool 0.8 and not to be interrupted; a file on the thread pool 0.4.
 */
import { fstatSync, read as readDescriptor } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Bytes read from a pipe at a time: what Linux keeps in one. */
const PIPE_READ_BYTES = 64 * 1024;

export interface ByteInput {
  /** Bytes read into `into`, at least 1; 0 at the end or once closed. Rejects with the system's error. One at a time. */
  read(into: Buffer): Promise<number>;
  /** Ends a pending read. Bytes that were received already still come. */
  close(): void;
}

export function openStdin(): ByteInput {
  const stat = fstatSync(0);
  if (stat.isFile() || stat.isDirectory()) return fromDescriptor(0);
  if (stat.isFIFO() || stat.isSocket()) return fromPipe(0);
  return fromReadable(process.stdin);
}

/** A pipe, or a socket: several processes may read it, one after the other. */
export interface Pipe {
  readonly device: string;
  readonly inode: string;
}

/** Standard input's pipe; undefined for other input. Never throws. */
export function pipeOfStdin(): Pipe | undefined {
  try {
    const stat = fstatSync(0, { bigint: true });
    return stat.isFIFO() || stat.isSocket() ? { device: String(stat.dev), inode: String(stat.ino) } : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a descriptor that never blocks for long. */
export function fromDescriptor(descriptor: number): ByteInput {
  let isClosed = false;
  return {
    read: (into) =>
      new Promise((resolve, reject) => {
        if (isClosed) return resolve(0);
        readDescriptor(descriptor, into, 0, into.length, null, (error, count) =>
          error === null ? resolve(count) : reject(error),
        );
      }),
    close() {
      isClosed = true;
    },
  };
}

/** Reads a pipe or a socket into one buffer; the reading is stopped until its bytes are taken. */
export function fromPipe(descriptor: number): ByteInput {
  const buffer = Buffer.allocUnsafe(PIPE_READ_BYTES);
  let unread = buffer.subarray(0, 0);
  let isEnded = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(count) {
        unread = buffer.subarray(0, count);
        wake?.();
        return false;
      },
    },
  });
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => {
    isEnded = true;
    wake?.();
  });
  socket.on('end', () => socket.destroy());
  return {
    async read(into) {
      while (unread.length === 0) {
        if (failure !== undefined) throw failure;
        if (isEnded) return 0;
        const more = new Promise<void>((resolve) => (wake = resolve));
        socket.resume();
        await more;
      }
      const count = unread.copy(into);
      unread = unread.subarray(count);
      return count;
    },
    close: () => void socket.destroy(),
  };
}

export function fromReadable(stream: Readable): ByteInput {
  const chunks: AsyncIterator<Buffer | string> = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  return {
    async read(into) {
      while (rest.length === 0) {
        if (isClosed) return 0;
        try {
          const { done, value } = await chunks.next();
          if (done === true) return 0;
          rest =
            typeof value === 'string'
              ? Buffer.from(value)
              : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
        } catch (error) {
          // Closing a stream that is being read shows as an error.
          if (isClosed) return 0;
          throw error;
        }
      }
      const count = rest.copy(into);
      rest = rest.subarray(count);
      return count;
    },
    close() {
      isClosed = true;
      stream.destroy();
    },
  };
}

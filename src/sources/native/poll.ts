/**
 * Tells when a descriptor can be read, through libuv's own poll handle on Node's loop. Promises: `onReadable` runs on the loop
 * and never after `close`; it may not throw; the handle's memory outlives the handle.
 */
import type { NativeLibrary } from './library.ts';

export type Poll = ReturnType<typeof createPoll>;

interface PollHandle {
  /** The `uv_poll_t`; referred to from here, so that it is not collected while libuv has it. */
  readonly handle: Buffer;
  readonly onReadable: () => void;
  closed: () => void;
}

interface Callbacks {
  readonly readable: bigint;
  readonly closed: bigint;
}

const UV_POLL = 8;
const UV_READABLE = 1;

/** By the handle's address. */
const entries = new Map<bigint, PollHandle>();
let callbacks: Callbacks | undefined;

/** Not started yet. Throws libuv's error for a descriptor that cannot be polled. */
export function createPoll(library: NativeLibrary, fd: number, onReadable: () => void) {
  const { ffi, functions } = library;
  callbacks ??= register(library);
  const { readable, closed } = callbacks;
  // An ArrayBuffer's bytes never move.
  const handle = Buffer.from(new ArrayBuffer(Number(functions.uv_handle_size(UV_POLL))));
  const status = functions.uv_poll_init(ffi.getCurrentEventLoop(), handle, fd);
  if (status !== 0) throw library.errorOf(status, 'uv_poll_init');
  const address = ffi.getRawPointer(handle);
  const entry: PollHandle = { handle, onReadable, closed: () => {} };
  entries.set(address, entry);
  let closing: Promise<void> | undefined;
  return {
    /** Like `stop`, does nothing once it is closed: libuv would end the process. */
    start(): void {
      if (closing === undefined) functions.uv_poll_start(handle, UV_READABLE, readable);
    },
    stop(): void {
      if (closing === undefined) functions.uv_poll_stop(handle);
    },
    /** Resolves once libuv has let go of the descriptor. Idempotent. */
    close(): Promise<void> {
      closing ??= new Promise((resolve) => {
        entry.closed = resolve;
        functions.uv_close(handle, closed);
      });
      return closing;
    },
  };
}

/** Two callbacks for all handles, for the life of the process: native code may hold their addresses until its end. */
function register({ lib }: NativeLibrary): Callbacks {
  return {
    readable: lib.registerCallback({ arguments: ['u64', 'i32', 'i32'], return: 'void' }, (address) => {
      entries.get(address)?.onReadable();
    }),
    closed: lib.registerCallback({ arguments: ['u64'], return: 'void' }, (address) => {
      const entry = entries.get(address);
      entries.delete(address);
      // Outside of libuv's call.
      if (entry !== undefined) setImmediate(entry.closed);
    }),
  };
}

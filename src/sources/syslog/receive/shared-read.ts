/**
 * Lets an accepted connection read into a buffer that all connections share: no allocation a read, less than half the CPU of
 * `data` events, and no memory for idle peers (docs/adr/0005-syslog-reading.md). Node can do that only for sockets that are made
 * with `onread`, which a server's are not, so the connection's handle moves to one that is. Where a later Node has no such
 * handle, the caller keeps the accepted socket.
 */
import { Socket } from 'node:net';

interface Handled {
  _handle: object | null;
}

/**
 * The socket that replaces the accepted one, paused; undefined when that cannot be done. `nextBuffer` gives where the next read goes;
 * `onRead` is called for each read, and its bytes are at the start of that buffer until it returns.
 */
export function moveToSharedRead(
  accepted: Socket,
  nextBuffer: () => Buffer,
  onRead: (length: number) => void,
): Socket | undefined {
  const holder = accepted as unknown as Handled;
  const handle = holder._handle;
  if (handle === null || typeof handle !== 'object') return undefined;
  holder._handle = null;
  const onread = {
    buffer: nextBuffer,
    callback: (length: number) => {
      onRead(length);
      return true;
    },
  };
  const socket = new Socket({ handle, onread, manualStart: true } as ConstructorParameters<typeof Socket>[0]);
  // The server counts the empty one as gone.
  accepted.destroy();
  return socket;
}

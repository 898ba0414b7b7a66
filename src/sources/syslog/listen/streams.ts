/** Stream sockets that listen, through `net`. Promises: an address that cannot be listened on is `E_LISTEN`. */
import { once } from 'node:events';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { InternetAddress, ListenAddress, UnixAddress } from '../../../config/fields/kinds-listen.ts';
import { listenError, type Listener } from './addresses.ts';
import { freePath, ownPath } from './unix-path.ts';

export interface StreamHandlers {
  /** Connections are handed over paused, and are the caller's to close. */
  readonly onConnection: (socket: Socket) => void;
  /** Gets errors after the start. */
  readonly onError: (error: Error) => void;
}

export async function listenInternet(address: InternetAddress, handlers: StreamHandlers): Promise<Listener> {
  const server = await start(address, { port: address.port, host: address.host, exclusive: true }, handlers);
  const bound = server.address();
  return {
    address: { ...address, port: typeof bound === 'object' && bound !== null ? bound.port : address.port },
    close: () => close(server),
  };
}

export async function listenUnix(address: UnixAddress, mode: number, handlers: StreamHandlers): Promise<Listener> {
  await freePath(address, () => isAnswered(address.path));
  const server = await start(address, { path: address.path, exclusive: true }, handlers);
  const remove = ownPath(address, mode);
  return {
    address,
    async close() {
      // libuv removes the path, too.
      remove();
      await close(server);
    },
  };
}

/** A socket that someone else has bound, such as systemd. */
export async function listenDescriptor(
  address: ListenAddress,
  fd: number,
  handlers: StreamHandlers,
): Promise<Listener> {
  const server = await start(address, { fd }, handlers);
  return { address, close: () => close(server) };
}

async function start(
  address: ListenAddress,
  options: ListenOptions & { fd?: number },
  handlers: StreamHandlers,
): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, handlers.onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(address, error)));
    server.listen(options, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  server.on('error', handlers.onError);
  return server;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Whether someone accepts connections at the path. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

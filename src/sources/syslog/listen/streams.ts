/** Stream sockets that listen, through `net`. Promises: an address that cannot be listened on is `E_LISTEN`. */
import { createServer, type Socket } from 'node:net';
import type { ListenAddress } from '../../../config/model.ts';
import { listenError, type Listener } from './addresses.ts';

/** Connections are handed over paused, and are the caller's to close. `onError` hears of errors after the start. */
export async function listenTcp(
  address: ListenAddress,
  onConnection: (socket: Socket) => void,
  onError: (error: Error) => void,
): Promise<Listener> {
  const server = createServer({ pauseOnConnect: true }, onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(address, error)));
    server.listen({ port: address.port, host: address.host, exclusive: true }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  server.on('error', onError);
  const bound = server.address();
  return {
    address: { ...address, port: typeof bound === 'object' && bound !== null ? bound.port : address.port },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** UDP through `dgram`, where native reads are unavailable: each datagram costs a call, and reading cannot be paused. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { InternetAddress } from '../../../config/fields/kinds-listen.ts';
import { formatPeer, listenError, type Listener } from './addresses.ts';

/** `receiveBufferBytes` is what the system granted. `onError` gets errors after the start. */
export async function listenUdpByNode(
  address: InternetAddress,
  receiveBufferBytes: number,
  onDatagram: (bytes: Buffer, peer: string) => void,
  onError: (error: Error) => void,
): Promise<Listener & { readonly address: InternetAddress; readonly receiveBufferBytes: number }> {
  const socket = createSocket({ type: isIPv6(address.host) ? 'udp6' : 'udp4', recvBufferSize: receiveBufferBytes });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(listenError(address, error));
    });
    socket.bind({ port: address.port, address: address.host, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve();
    });
  });
  socket.on('error', onError);
  socket.on('message', (bytes, from) => onDatagram(bytes, formatPeer(from.address, from.port)));
  return {
    address: { ...address, port: socket.address().port },
    // The system reserves, and reports, twice the size that is asked for.
    receiveBufferBytes: socket.getRecvBufferSize() / 2,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

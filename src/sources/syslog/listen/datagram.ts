/** Native datagram sockets: polled descriptors, read by `Datagrams`. */
import { fstatSync } from 'node:fs';
import type { InternetAddress, ListenAddress, UnixAddress } from '../../../config/fields/kinds-listen.ts';
import { TailraceError } from '../../../core/errors.ts';
import type { NativeLibrary } from '../../native/library.ts';
import { createPoll } from '../../native/poll.ts';
import { bindUdp, bindUnix, closeSocket, isUnixTaken } from '../../native/sockets.ts';
import type { BoundSocket } from '../../native/sockets.ts';
import { formatListen, listenError, type Listener } from './addresses.ts';
import { freePath, ownPath } from './unix-path.ts';

export interface DatagramListener extends Listener {
  readonly receiveBufferBytes: number;
  readonly inode: number;
  setReading(isReading: boolean): void;
}

/** Not reading yet. `onReadable` reads from the descriptor, and may not throw. */
export async function listenUdp(
  library: NativeLibrary,
  address: InternetAddress,
  receiveBufferBytes: number,
  onReadable: (fd: number) => void,
): Promise<DatagramListener> {
  try {
    const bound = await bindUdp(library, address.host, address.port, receiveBufferBytes);
    return listenBound(library, { ...address, port: bound.port }, bound, onReadable);
  } catch (error) {
    throw listenError(address, error);
  }
}

export async function listenUnixgram(
  library: NativeLibrary,
  address: UnixAddress,
  mode: number,
  receiveBufferBytes: number,
  onReadable: (fd: number) => void,
): Promise<DatagramListener> {
  try {
    await freePath(address, () => Promise.resolve(isUnixTaken(library, address.path)));
    const listener = listenBound(library, address, bindUnix(library, address.path, receiveBufferBytes), onReadable);
    const remove = ownPath(address, mode);
    return {
      ...listener,
      async close() {
        remove();
        await listener.close();
      },
    };
  } catch (error) {
    throw listenError(address, error);
  }
}

export function listenBound(
  library: NativeLibrary,
  address: ListenAddress,
  { fd, receiveBufferBytes }: BoundSocket,
  onReadable: (fd: number) => void,
): DatagramListener {
  const poll = createPoll(library, fd, () => onReadable(fd));
  return {
    address,
    receiveBufferBytes,
    inode: fstatSync(fd).ino,
    setReading: (isReading) => (isReading ? poll.start() : poll.stop()),
    async close() {
      await poll.close();
      closeSocket(library, fd);
    },
  };
}

/** The error of a socket that needs native reads where they are unavailable. */
export function noNativeWay(address: ListenAddress): TailraceError {
  return new TailraceError(
    'E_LISTEN',
    `cannot listen on ${formatListen(address)}: this Node has no node:ffi for datagram sockets of this kind`,
    {
      fix: 'run it on 64-bit Linux with Node 26.6 or later and without --no-experimental-ffi, or use unix:// or udp://',
    },
  );
}

/** UDP through the native way: a descriptor that is polled, and read by the datagrams of the source. */
import { fstatSync } from 'node:fs';
import type { ListenAddress } from '../../../config/model.ts';
import { UDP_RECEIVE_BUFFER_BYTES } from '../../../core/limits.ts';
import type { NativeLibrary } from '../native/library.ts';
import { createPoll } from '../native/poll.ts';
import { bindUdp, closeSocket } from '../native/sockets.ts';
import { listenError, type Listener } from './addresses.ts';

export interface DatagramListener extends Listener {
  readonly receiveBufferBytes: number;
  readonly inode: number;
  setReading(isReading: boolean): void;
}

/** Not reading yet. `onReadable` reads from the descriptor, and may not throw. */
export async function listenUdp(
  library: NativeLibrary,
  address: ListenAddress,
  onReadable: (fd: number) => void,
): Promise<DatagramListener> {
  try {
    const { fd, port, receiveBufferBytes } = await bindUdp(library, address.host, address.port, {
      sharesPort: false,
      receiveBufferBytes: UDP_RECEIVE_BUFFER_BYTES,
    });
    const poll = createPoll(library, fd, () => onReadable(fd));
    return {
      address: { ...address, port },
      receiveBufferBytes,
      inode: fstatSync(fd).ino,
      setReading: (isReading) => (isReading ? poll.start() : poll.stop()),
      async close() {
        await poll.close();
        closeSocket(library, fd);
      },
    };
  } catch (error) {
    throw listenError(address, error);
  }
}

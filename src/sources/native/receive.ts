/**
 * Many datagrams a call: `recvmmsg` straight into the kernel's memory. Owns the structures that the system fills, laid out once.
 * Promises: a datagram longer than its place is cut, and its real length returned.
 */
import type { Region } from '../../core/block.ts';
import type { NativeLibrary } from './library.ts';

/** `mmsghdr`, `iovec` and `sockaddr_storage` of 64-bit Linux, the last as far as it is looked at. */
const HEADER_BYTES = 64;
const VECTOR_BYTES = 16;
const NAME_BYTES = 32;
const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;
/** Places begin at different lines of the processor's caches. */
const SKEW_BYTES = 320;

export interface ReceiverOptions {
  readonly library: NativeLibrary;
  /** Has `receiverBytes`. */
  readonly region: Region;
  readonly datagrams: number;
  /** Bytes of a datagram's place. */
  readonly placeBytes: number;
}

export type Receiver = ReturnType<typeof createReceiver>;

export function receiverBytes(datagrams: number, placeBytes: number): number {
  return datagrams * (HEADER_BYTES + VECTOR_BYTES + NAME_BYTES + placeBytes + SKEW_BYTES);
}

export function createReceiver({ library, region, datagrams, placeBytes }: ReceiverOptions) {
  const { bytes } = region;
  const { recvmmsg } = library.functions;
  const vectorsAt = datagrams * HEADER_BYTES;
  const namesAt = vectorsAt + datagrams * VECTOR_BYTES;
  const placesAt = namesAt + datagrams * NAME_BYTES;
  const placeAt = (n: number): number => placesAt + n * (placeBytes + SKEW_BYTES);
  const base = library.ffi.getRawPointer(bytes);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, placesAt / 4);
  const headerWords = HEADER_BYTES / 4;
  const lengthWord = 14;
  const nameLengthWord = 2;

  for (let n = 0; n < datagrams; n += 1) {
    const header = n * HEADER_BYTES;
    const vector = vectorsAt + n * VECTOR_BYTES;
    bytes.writeBigUInt64LE(base + BigInt(namesAt + n * NAME_BYTES), header);
    bytes.writeBigUInt64LE(base + BigInt(vector), header + 16);
    bytes.writeBigUInt64LE(1n, header + 24);
    bytes.writeBigUInt64LE(base + BigInt(placeAt(n)), vector);
    bytes.writeBigUInt64LE(BigInt(placeBytes), vector + 8);
  }

  /** How many names the last call may have changed. */
  let used = datagrams;

  return {
    /** Received datagrams, at most as many as there are places; 0 when the socket has none. Throws the system's error. */
    receive(fd: number): number {
      for (let n = 0; n < used; n += 1) {
        words[n * headerWords + nameLengthWord] = NAME_BYTES;
        // A sender without a name leaves it as it is.
        words[(namesAt + n * NAME_BYTES) / 4] = 0;
      }
      used = 0;
      const count = recvmmsg(fd, base, datagrams, MSG_DONTWAIT | MSG_TRUNC, null);
      if (count >= 0) {
        used = count;
        return count;
      }
      const error = library.lastError('recvmmsg');
      if (['EAGAIN', 'EINTR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
      throw error;
    },
    /** Of datagram `n` of the last call: the kernel's address, bytes that are there, bytes that it had. */
    addressOf: (n: number): number => region.at + placeAt(n),
    lengthOf: (n: number): number => Math.min(words[n * headerWords + lengthWord]!, placeBytes),
    sentBytesOf: (n: number): number => words[n * headerWords + lengthWord]!,
    bytesOf: (n: number): Buffer =>
      bytes.subarray(placeAt(n), placeAt(n) + Math.min(words[n * headerWords + lengthWord]!, placeBytes)),
    isSameSender(n: number, m: number): boolean {
      const a = (namesAt + n * NAME_BYTES) / 4;
      const b = (namesAt + m * NAME_BYTES) / 4;
      for (let word = 0; word < 7; word += 1) if (words[a + word] !== words[b + word]) return false;
      return true;
    },
    /** The sender's `sockaddr`, valid until the next call. */
    nameOf: (n: number): Buffer => bytes.subarray(namesAt + n * NAME_BYTES, namesAt + (n + 1) * NAME_BYTES),
  };
}

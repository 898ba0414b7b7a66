/** The last bytes before a position, by which a file is recognised; made alike wherever they are taken, as they are compared. */
import { crc32 } from 'node:zlib';
import type { Tail } from './block.ts';
import { TAIL_BYTES } from './limits.ts';

export const NO_TAIL: Tail = { length: 0, crc: 0 };

/** Length and checksum of the last of these bytes, which end at the position. */
export function tailOf(bytes: Buffer): Tail {
  const last = bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
  return last.length === 0 ? NO_TAIL : { length: last.length, crc: crc32(last) };
}

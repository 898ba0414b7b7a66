/** The body of a block with codes of its own: literals, lengths and distances. */
import { literalsEnd, sequencesEnd } from '../compress/matches';
import { LITERALS, SEQUENCES } from '../compress/memory';
import { output, put, waiting, waitingBits, writeFrom } from './bits';
import { CODE_BITS, DISTANCE_CODES, LENGTH_CODES, LITERAL_CODES } from './codes';
import { END_OF_BLOCK, distanceBits, distanceSymbol, partOf } from './symbols';

/** The bits of a code. */
const MASK: u32 = (1 << CODE_BITS) - 1;

/** Writes the block whose matches were found last. What waits for its byte is kept in locals, which is most of the speed. */
export function putBlock(): void {
  let bits = waiting;
  let n = waitingBits;
  let to = output;
  let literal = LITERALS;
  const end = sequencesEnd;
  for (let p = SEQUENCES; p < end; p += 8) {
    const sequence = load<u64>(p);
    const stop = literal + <usize>(sequence & 0xfffff);
    while (literal < stop) {
      const code = load<u32>(LITERAL_CODES + ((<usize>load<u8>(literal++)) << 2));
      bits |= (<u64>(code & MASK)) << n;
      n += code >> CODE_BITS;
      store<u64>(to, bits);
      to += <usize>(n >> 3);
      bits >>= n & 56;
      n &= 7;
    }
    let length = <u32>(sequence >> 20) & 0xfffff;
    const distance = <u32>(sequence >> 40) - 1;
    const behind = distanceBits(distance);
    const code = load<u32>(DISTANCE_CODES + (distanceSymbol(distance, behind) << 2));
    const distanceCode = <u64>((code & MASK) | ((distance & ((1 << behind) - 1)) << (code >> CODE_BITS)));
    const distanceCount = <u64>((code >> CODE_BITS) + behind);
    while (length > 0) {
      const part = partOf(length);
      const code = load<u32>(LENGTH_CODES + (part << 2));
      bits |= (<u64>(code & MASK)) << n;
      n += code >> CODE_BITS;
      bits |= distanceCode << n;
      n += distanceCount;
      store<u64>(to, bits);
      to += <usize>(n >> 3);
      bits >>= n & 56;
      n &= 7;
      length -= part;
    }
  }
  writeFrom(to, bits, n);
  for (; literal < literalsEnd; literal++) putCode(LITERAL_CODES + ((<usize>load<u8>(literal)) << 2));
  putCode(LITERAL_CODES + (END_OF_BLOCK << 2));
}

function putCode(at: usize): void {
  const code = load<u32>(at);
  put(code & MASK, code >> CODE_BITS);
}

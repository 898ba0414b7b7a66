/** The bits that deflate writes, from the lowest bit of each byte on. Fewer than eight bits wait for the next ones. */

export let waiting: u64 = 0;
export let waitingBits: u64 = 0;
/** Where the next byte goes. */
export let output: usize = 0;

export function writeFrom(at: usize, bits: u64, count: u64): void {
  output = at;
  waiting = bits;
  waitingBits = count;
}

/** Writes the lowest `count` bits of `bits`, of which no others are set; at most 56. */
export function put(bits: u64, count: u64): void {
  waiting |= bits << waitingBits;
  waitingBits += count;
  store<u64>(output, waiting);
  output += <usize>(waitingBits >> 3);
  waiting >>= waitingBits & 56;
  waitingBits &= 7;
}

/** Zeros until the byte is full. */
export function fillByte(): void {
  if (waitingBits) put(0, 8 - waitingBits);
}

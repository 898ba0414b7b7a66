/** xxHash64 of a text's UTF-8, with seed 0, as its specification has it. */
const MASK = (1n << 64n) - 1n;
const [P1, P2, P3, P4, P5] = [
  0x9e37_79b1_85eb_ca87n,
  0xc2b2_ae3d_27d4_eb4fn,
  0x1656_67b1_9e37_79f9n,
  0x85eb_ca77_c2b2_ae63n,
  0x27d4_eb2f_1656_67c5n,
];

const times = (a: bigint, b: bigint): bigint => (a * b) & MASK;
const plus = (a: bigint, b: bigint): bigint => (a + b) & MASK;
const rotate = (a: bigint, by: bigint): bigint => ((a << by) | (a >> (64n - by))) & MASK;
const round = (lane: bigint, input: bigint): bigint => times(rotate(plus(lane, times(input, P2)), 31n), P1);
const merge = (hash: bigint, lane: bigint): bigint => plus(times(hash ^ round(0n, lane), P1), P4);

export function xxHash64(text: string): bigint {
  const bytes = Buffer.from(text);
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    const lanes = [plus(P1, P2), P2, 0n, MASK + 1n - P1];
    for (; at + 32 <= bytes.length; at += 32)
      for (let n = 0; n < 4; n++) lanes[n] = round(lanes[n]!, bytes.readBigUInt64LE(at + n * 8));
    hash = [1n, 7n, 12n, 18n].reduce((sum, by, n) => plus(sum, rotate(lanes[n]!, by)), 0n);
    for (const lane of lanes) hash = merge(hash, lane);
  }
  hash = plus(hash, BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8)
    hash = plus(times(rotate(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n), P1), P4);
  if (at + 4 <= bytes.length) {
    hash = plus(times(rotate(hash ^ times(BigInt(bytes.readUInt32LE(at)), P1), 23n), P2), P3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = times(rotate(hash ^ times(BigInt(bytes[at]!), P5), 11n), P1);
  hash = times(hash ^ (hash >> 33n), P2);
  hash = times(hash ^ (hash >> 29n), P3);
  return hash ^ (hash >> 32n);
}

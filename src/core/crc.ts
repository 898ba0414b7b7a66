/**
 * CRC-32 of a whole from the CRC-32s of its parts, without its bytes: so that a checksum over everything read of a file
 * costs nothing beside those of its spans. The algorithm is that of zlib's `crc32_combine`.
 */

/** The reflected polynomial of zlib's CRC-32. */
const POLYNOMIAL = 0xedb88320;
/** x^0 in the reflected form, where the highest bit is the lowest power. */
const ONE = 0x80000000;

/** x^(2^n) modulo the polynomial; the table repeats from n = 32 on. */
const POWERS = powersOfX();

/** The CRC-32 of `a` followed by `b`, from that of each; `lengthOfB` in bytes. */
export function combineCrc32(crcOfA: number, crcOfB: number, lengthOfB: number): number {
  return (multiply(shiftBy(lengthOfB), crcOfA) ^ crcOfB) >>> 0;
}

/** The CRC-32 of `b` alone, from those of `a` and of `a` followed by `b`; `lengthOfB` in bytes. */
export function restOfCrc32(crcOfA: number, crcOfBoth: number, lengthOfB: number): number {
  return combineCrc32(crcOfA, crcOfBoth, lengthOfB);
}

/** x^(8 · bytes) modulo the polynomial. */
function shiftBy(bytes: number): number {
  let power = ONE;
  for (let rest = bytes, n = 3; rest > 0; rest = Math.floor(rest / 2), n += 1) if (rest % 2 === 1) power = multiply(POWERS[n & 31]!, power);
  return power;
}

/** The product of two polynomials over GF(2), modulo the polynomial. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= b;
    b = (b & 1) === 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return product >>> 0;
}

function powersOfX(): readonly number[] {
  const powers = [ONE >>> 1];
  while (powers.length < 32) powers.push(multiply(powers.at(-1)!, powers.at(-1)!));
  return powers;
}

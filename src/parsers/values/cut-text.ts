/** Cuts text to a number of bytes as UTF-8. */
import type { TextEncoding } from '../text/encoding.ts';

/** Bytes that are measured at a time, towards the end in ever smaller steps. */
const MEASURED_BYTES = 64 * 1024;

/**
 * Where to cut `bytes[start, limit)` so that the part before takes at most `maxTextBytes` as UTF-8 and no character is torn; always after
 * `start`. Not after a CR either, which would be taken for a part of a line's ending. Depends on nothing but those bytes.
 */
export function cutToText(
  encoding: TextEncoding,
  bytes: Buffer,
  start: number,
  limit: number,
  maxTextBytes: number,
): number {
  const { unitBytes } = encoding;
  let cut = longestCut(encoding, bytes.subarray(0, limit), start, maxTextBytes);
  if (cut < limit) while (cut > start + unitBytes && encoding.endsInCr(bytes, cut)) cut -= unitBytes;
  return cut > start ? cut : start + unitBytes;
}

function longestCut(encoding: TextEncoding, bytes: Buffer, start: number, maxTextBytes: number): number {
  const whole = encoding.cut(bytes, start, bytes.length);
  if (encoding.textBytes(bytes.subarray(start, whole)) <= maxTextBytes) return whole;
  let at = start;
  let left = maxTextBytes;
  for (let step = MEASURED_BYTES; step >= encoding.unitBytes && at < whole;) {
    const to = at + step < whole ? encoding.cut(bytes, at, at + step) : whole;
    const size = encoding.textBytes(bytes.subarray(at, to));
    if (size > left) step /= 2;
    else {
      at = to;
      left -= size;
    }
  }
  return at;
}

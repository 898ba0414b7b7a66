/**
 * What cutting a byte stream into lines must know of its encoding: where lines end, where characters do, and how long text
 * is once it is UTF-8. Here for UTF-8; the others are in parsers/charset.
 */
import { isUtf8 } from 'node:buffer';

export interface Encoding {
  /** Bytes of a code unit. Positions given to the functions below stand at one. */
  readonly unitBytes: 1 | 2;
  readonly newline: Buffer;
  /** At the beginning of a stream, not part of its text. */
  readonly mark: Buffer | undefined;
  /** Behind the first newline in `[from, to)`, or -1. */
  readonly firstLineEnd: (bytes: Buffer, from: number, to: number) => number;
  /** Behind the last newline in `[from, to)`, or -1. */
  readonly lastLineEnd: (bytes: Buffer, from: number, to: number) => number;
  /** Bytes of the line ending just before `end`: of the newline and a CR before it, or 0. */
  readonly endingBytes: (bytes: Buffer, end: number) => number;
  /** True when the code unit just before `end` is a CR. */
  readonly endsInCr: (bytes: Buffer, end: number) => boolean;
  /** Bytes that the text takes as UTF-8, U+FFFD for what is invalid; may be said too large by a few where it is invalid. */
  readonly textBytes: (bytes: Buffer) => number;
  /** Where to cut `bytes[start, end)`, at most at `limit`, so that no character is torn; invalid bytes are cut anywhere. */
  readonly cut: (bytes: Buffer, start: number, limit: number) => number;
}

const LF = 10;
const CR = 13;

export const utf8: Encoding = {
  unitBytes: 1,
  newline: Buffer.of(LF),
  mark: Buffer.of(0xef, 0xbb, 0xbf),
  firstLineEnd: (bytes, from, to) => behind(bytes.subarray(from, to).indexOf(LF), from),
  lastLineEnd: (bytes, from, to) => behind(bytes.subarray(from, to).lastIndexOf(LF), from),
  endingBytes(bytes, end) {
    if (bytes[end - 1] !== LF) return 0;
    return bytes[end - 2] === CR ? 2 : 1;
  },
  endsInCr: (bytes, end) => bytes[end - 1] === CR,
  textBytes: (bytes) => (isUtf8(bytes) ? bytes.length : repairedBytes(bytes)),
  cut: utf8Cut,
};

function behind(index: number, from: number): number {
  return index === -1 ? -1 : from + index + 1;
}

function repairedBytes(bytes: Buffer): number {
  return Buffer.byteLength(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}

/** Where to cut `bytes[start, limit)` so that no UTF-8 character is torn; invalid bytes are cut anywhere. */
export function utf8Cut(bytes: Buffer, start: number, limit: number): number {
  let at = limit - 1;
  while (at > start && limit - at < 4 && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  const lead = bytes[at] ?? 0;
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return at > start && at + length > limit ? at : limit;
}

/** Bytes that are measured at a time, towards the end in ever smaller steps. */
const MEASURED_BYTES = 64 * 1024;

/**
 * Where to cut `bytes[start, limit)` so that what is before it takes at most `maxTextBytes` as UTF-8 and no character is
 * torn; always behind `start`. Not behind a CR either, which would be taken for a part of a line's ending. Depends on nothing
 * but those bytes.
 */
export function cutToText(encoding: Encoding, bytes: Buffer, start: number, limit: number, maxTextBytes: number): number {
  const { unitBytes } = encoding;
  let cut = longestCut(encoding, bytes.subarray(0, limit), start, maxTextBytes);
  if (cut < limit) while (cut > start + unitBytes && encoding.endsInCr(bytes, cut)) cut -= unitBytes;
  return cut > start ? cut : start + unitBytes;
}

function longestCut(encoding: Encoding, bytes: Buffer, start: number, maxTextBytes: number): number {
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

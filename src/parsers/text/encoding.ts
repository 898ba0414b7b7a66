/**
 * The properties of an encoding by which a byte stream is cut into lines: where lines end, where characters do, and how long text is in
 * UTF-8. UTF-8 and UTF-16 are here; the others are in parsers/text/charset.
 */
import { isUtf8 } from 'node:buffer';

export interface TextEncoding {
  readonly name: string;
  /** Bytes of a code unit. Positions given to the functions below are at the start of one. */
  readonly unitBytes: 1 | 2;
  readonly newline: Buffer;
  /** Behind the first newline in `[from, to)`, or -1. */
  readonly firstLineEnd: (bytes: Buffer, from: number, to: number) => number;
  /** Behind the last newline in `[from, to)`, or -1. */
  readonly lastLineEnd: (bytes: Buffer, from: number, to: number) => number;
  /** Bytes of the line ending just before `end`: of the newline and a CR before it, or 0. */
  readonly endingBytes: (bytes: Buffer, end: number) => number;
  /** True when the code unit just before `end` is a CR. */
  readonly endsInCr: (bytes: Buffer, end: number) => boolean;
  /** Bytes of the text as UTF-8, with U+FFFD for invalid ones. */
  readonly textBytes: (bytes: Buffer) => number;
  /** Where to cut `bytes[start, limit)` so that no character is torn; invalid bytes are cut anywhere. */
  readonly cut: (bytes: Buffer, start: number, limit: number) => number;
  /** Bytes at the end of `[from, to)` that are a character as far as it is here. */
  readonly unfinishedBytes: (bytes: Buffer, from: number, to: number) => number;
  /** The text, with U+FFFD for invalid bytes. */
  readonly decode: (bytes: Buffer) => string;
}

const LF = 10;
const CR = 13;

/** Shared by encodings in which a byte below 80 is ASCII. */
export const asciiLines = {
  unitBytes: 1,
  newline: Buffer.of(LF),
  firstLineEnd: (bytes: Buffer, from: number, to: number) => behind(bytes.subarray(from, to).indexOf(LF), from),
  lastLineEnd: (bytes: Buffer, from: number, to: number) => behind(bytes.subarray(from, to).lastIndexOf(LF), from),
  endingBytes(bytes: Buffer, end: number) {
    if (bytes[end - 1] !== LF) return 0;
    return bytes[end - 2] === CR ? 2 : 1;
  },
  endsInCr: (bytes: Buffer, end: number) => bytes[end - 1] === CR,
} as const;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const utf8: TextEncoding = {
  ...asciiLines,
  name: 'utf-8',
  textBytes: (bytes) => (isUtf8(bytes) ? bytes.length : Buffer.byteLength(decoder.decode(bytes))),
  cut: utf8Cut,
  unfinishedBytes: utf8UnfinishedBytes,
  decode: (bytes) => decoder.decode(bytes),
};

export const utf16le: TextEncoding = utf16('utf-16le', Buffer.of(LF, 0), 1, (bytes) => bytes.toString('utf16le'));
export const utf16be: TextEncoding = utf16('utf-16be', Buffer.of(0, LF), 0, (bytes) =>
  Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    .swap16()
    .toString('utf16le'),
);

/** Bytes at the beginning of a stream that name its encoding. */
export const BYTE_ORDER_MARKS: readonly { readonly bytes: Buffer; readonly encoding: TextEncoding }[] = [
  { bytes: Buffer.of(0xef, 0xbb, 0xbf), encoding: utf8 },
  { bytes: Buffer.of(0xff, 0xfe), encoding: utf16le },
  { bytes: Buffer.of(0xfe, 0xff), encoding: utf16be },
];

/** `high`: which byte of a unit is the high one. */
function utf16(name: string, newline: Buffer, high: 0 | 1, decodeUnits: (bytes: Buffer) => string): TextEncoding {
  const isUnit = (bytes: Buffer, end: number, unit: number): boolean =>
    bytes[end - 2 + high] === 0 && bytes[end - 1 - high] === unit;
  /** The low byte `at` is one of a unit that begins at an even place, and whose high byte is there and 0. */
  const isNewline = (part: Buffer, at: number): boolean => at % 2 === 1 - high && part[at - 1 + 2 * high] === 0;
  // Half a unit, at the very end, is no character; nor is half a pair.
  const decode = (bytes: Buffer): string => {
    const text = decodeUnits(bytes);
    return (bytes.length % 2 === 0 ? text : `${text}\ufffd`).toWellFormed();
  };
  return {
    name,
    unitBytes: 2,
    newline,
    // Looked for by its one byte that is not 0: ASCII text has as many of those that are.
    firstLineEnd(bytes, from, to) {
      const part = bytes.subarray(from, to);
      for (let at = part.indexOf(LF); at !== -1; at = part.indexOf(LF, at + 1))
        if (isNewline(part, at)) return from + at + 1 + high;
      return -1;
    },
    lastLineEnd(bytes, from, to) {
      const part = bytes.subarray(from, to);
      for (let at = part.lastIndexOf(LF); at >= 0; at = at === 0 ? -1 : part.lastIndexOf(LF, at - 1)) {
        if (isNewline(part, at)) return from + at + 1 + high;
      }
      return -1;
    },
    endingBytes(bytes, end) {
      if (end < 2 || !isUnit(bytes, end, LF)) return 0;
      return end >= 4 && isUnit(bytes, end - 2, CR) ? 4 : 2;
    },
    endsInCr: (bytes, end) => end >= 2 && isUnit(bytes, end, CR),
    textBytes: (bytes) => Buffer.byteLength(decode(bytes)),
    cut(bytes, start, limit) {
      const end = limit - ((limit - start) % 2);
      // Not between the two units of a pair.
      return end - 2 > start && (bytes[end - 2 + high]! & 0xfc) === 0xd8 ? end - 2 : end;
    },
    unfinishedBytes(bytes, from, to) {
      const half = (to - from) % 2;
      const end = to - half;
      // The first unit of a pair.
      return end - 2 >= from && (bytes[end - 2 + high]! & 0xfc) === 0xd8 ? half + 2 : half;
    },
    decode,
  };
}

function behind(index: number, from: number): number {
  return index === -1 ? -1 : from + index + 1;
}

/** Where to cut `bytes[start, limit)` so that no UTF-8 character is torn; invalid bytes are cut anywhere. */
export function utf8Cut(bytes: Buffer, start: number, limit: number): number {
  let at = limit - 1;
  while (at > start && limit - at < 4 && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  const lead = bytes[at] ?? 0;
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return at > start && at + length > limit ? at : limit;
}

function utf8UnfinishedBytes(bytes: Buffer, from: number, to: number): number {
  for (let at = to - 1; at >= from && to - at < 4; at -= 1) {
    const lead = bytes[at]!;
    if ((lead & 0xc0) === 0x80) continue;
    const length = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return at + length > to ? to - at : 0;
  }
  return 0;
}

/** UTF-16 that text without a byte order mark is likely in: of its first characters nearly all have a NUL for their other byte. */
export function guessUtf16(head: Buffer): TextEncoding | undefined {
  const pairs = Math.floor(Math.min(head.length, 64) / 2);
  if (pairs < 4) return undefined;
  let low = 0;
  let high = 0;
  for (let at = 0; at < 2 * pairs; at += 2) {
    if (head[at] !== 0 && head[at + 1] === 0) low += 1;
    if (head[at] === 0 && head[at + 1] !== 0) high += 1;
  }
  return low > pairs * 0.9 ? utf16le : high > pairs * 0.9 ? utf16be : undefined;
}

/**
 * The format of a spool file, which holds one batch: a first line of fixed length with the lengths and checksums of the rest, so that
 * a torn or corrupt file is detected; then a JSON header, then the body as it will be sent.
 */
import { crc32 } from 'node:zlib';
import type { Withheld } from '../../core/shaping.ts';
import type { BodyForm, Encoding } from '../../core/sink.ts';
import type { StoredPart, StoredSpan } from '../database/stored-batch.ts';

export interface SpoolHeader {
  readonly key: string;
  readonly sink: string;
  readonly dataset: string;
  readonly events: number;
  /** Bytes of NDJSON before compression. */
  readonly bytes: number;
  readonly encoding: Encoding;
  /** The form in which it is sent; absent in files of earlier versions. */
  readonly form?: BodyForm;
  readonly spans: readonly StoredSpan[];
  /** When its first event was read, wall clock in milliseconds. */
  readonly readAtMs?: number;
  /** Set when its one event is not to be sent: why it goes to the dead letters. */
  readonly refusal?: string;
  /** The parts still to be sent of a batch that was split. */
  readonly parts?: readonly StoredPart[];
  /** Fates of its events after shaping (batcher/shaping-outcomes), and those that it withholds. */
  readonly fates?: readonly number[];
  readonly withheld?: readonly Withheld[];
}

export type SpoolContent =
  | { readonly ok: true; readonly header: SpoolHeader; readonly body: Buffer }
  | { readonly ok: false; readonly reason: string };

const MAGIC = 'TRSPOOL1';
/** Magic, header length, header CRC, body length, body CRC: four hexadecimal words of eight digits, spaces, a newline. */
export const FIRST_LINE_BYTES = MAGIC.length + 4 * 9 + 1;

/** Encodes the part before the body, whose checksum the caller may know. */
export function encodeHead(header: SpoolHeader, body: Uint8Array, bodyCrc = crc32(body)): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const words = [json.length, crc32(json), body.length, bodyCrc].map((word) => word.toString(16).padStart(8, '0'));
  return Buffer.concat([Buffer.from(`${MAGIC} ${words.join(' ')}\n`), json]);
}

interface SpoolHead {
  readonly ok: true;
  readonly header: SpoolHeader;
  /** Where the body begins, and its checksum. */
  readonly bodyAt: number;
  readonly bodyCrc: number;
}

/** Reads the part before the body of a file of `size` bytes; `readJson` gives so many bytes after the first line. */
export function decodeHead(
  firstLine: Buffer,
  size: number,
  readJson: (bytes: number) => Buffer,
): SpoolHead | { readonly ok: false; readonly reason: string } {
  const match = /^TRSPOOL1 ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(
    firstLine.toString('latin1'),
  );
  if (!match) return { ok: false, reason: 'its first line is not that of a spool file' };
  const [headerLength, headerCrc, bodyLength, bodyCrc] = match.slice(1).map((word) => Number.parseInt(word, 16)) as [
    number,
    number,
    number,
    number,
  ];
  const expected = FIRST_LINE_BYTES + headerLength + bodyLength;
  if (size !== expected) return { ok: false, reason: `it has ${size} bytes instead of ${expected}` };
  const json = readJson(headerLength);
  if (crc32(json) !== headerCrc) return { ok: false, reason: 'the checksum of its header is wrong' };
  try {
    return {
      ok: true,
      header: JSON.parse(json.toString('utf8')) as SpoolHeader,
      bodyAt: FIRST_LINE_BYTES + headerLength,
      bodyCrc,
    };
  } catch {
    return { ok: false, reason: 'its header is no JSON' };
  }
}

/** Reads a whole file's bytes; gives the reason where they cannot be trusted. Never throws. */
export function decodeSpoolFile(bytes: Buffer): SpoolContent {
  const head = decodeHead(bytes.subarray(0, FIRST_LINE_BYTES), bytes.length, (length) =>
    bytes.subarray(FIRST_LINE_BYTES, FIRST_LINE_BYTES + length),
  );
  if (!head.ok) return head;
  const body = bytes.subarray(head.bodyAt);
  if (crc32(body) !== head.bodyCrc) return { ok: false, reason: 'the checksum of its body is wrong' };
  return { ok: true, header: head.header, body };
}

/** `Content-Encoding`, bounded: room is asked for before a body is unpacked, and unpacking stops there, so a bomb costs no more than that. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { codeOf, messageOf } from '../../core/errors.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';

interface Decoder {
  readonly decode: (body: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>;
  /** The size that the body says it has unpacked; undefined where it does not. It may lie. */
  readonly claimedSize: (body: Buffer) => number | undefined;
}

const unsaid = (): undefined => undefined;
const gzip: Decoder = { decode: promisify(zlib.gunzip), claimedSize: gzipSize };
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip,
  'x-gzip': gzip,
  zstd: { decode: promisify(zlib.zstdDecompress), claimedSize: zstdSize },
  deflate: { decode: promisify(zlib.inflate), claimedSize: unsaid },
  br: { decode: promisify(zlib.brotliDecompress), claimedSize: unsaid },
};

/** `reserve` waits for room. Throws an `ApiError`: 413 over `limit` bytes, 400 for a body that is not of its encoding, 415 for an unknown one. */
export async function decompress(
  body: Buffer,
  encoding: string | undefined,
  limit: number,
  reserve: (bytes: number) => Promise<void>,
): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity' || name === '1') {
    if (body.length > limit) throw tooLarge(limit);
    return body;
  }
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!decoder) throw new ApiError(415, `Content-Encoding ${quote(name)}: wanted gzip, zstd, deflate, br or identity`);
  if (body.length === 0) throw badRequest(`the body is empty, which is no ${name}`);
  const unpack = async (most: number): Promise<Buffer | undefined> => {
    await reserve(most);
    try {
      return await decoder.decode(body, { maxOutputLength: most, chunkSize: Math.min(256 * 1024, Math.max(64, most)) });
    } catch (error) {
      if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
      throw badRequest(`the body is not whole ${name}: ${messageOf(error)}`);
    }
  };
  const claimed = Math.max(1, decoder.claimedSize(body) ?? limit);
  // Bodies of several members say the size of one.
  const unpacked = (claimed < limit ? await unpack(claimed) : undefined) ?? (await unpack(limit));
  if (unpacked === undefined) throw tooLarge(limit);
  return unpacked;
}

export function tooLarge(limit: number): ApiError {
  return new ApiError(413, `the body is larger than ${limit} bytes (after decompression): send less in one request`);
}

/** RFC 1952, 2.3.1: the last four bytes. */
function gzipSize(body: Buffer): number | undefined {
  return body.length < 18 ? undefined : body.readUInt32LE(body.length - 4);
}

/** RFC 8878, 3.1.1.1: the frame's header may say it. */
function zstdSize(body: Buffer): number | undefined {
  if (body.length < 18) return undefined;
  const descriptor = body[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  switch (descriptor >> 6) {
    case 0:
      return isSingleSegment ? body[at] : undefined;
    case 1:
      return body.readUInt16LE(at) + 256;
    case 2:
      return body.readUInt32LE(at);
    default:
      return Number(body.readBigUInt64LE(at));
  }
}

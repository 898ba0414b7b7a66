/** Unpacks an answer that a proxy compressed although none was asked for: bounded, because a few bytes may unpack to gigabytes. Pure. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { messageOf } from '../core/errors.ts';

type Unpack = (bytes: Uint8Array, bounds: { maxOutputLength: number }) => Buffer;

const UNPACKERS: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflate],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);
/** RFC 9110 sets no limit, and no honest answer is packed more often. */
const MAX_CODINGS = 3;
const QUOTED_CHARACTERS = 40;

/** The answer's bytes as they were before `contentEncoding`, or their fault. At most `maxBytes` come out. */
export function unpack(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): { readonly bytes: Buffer } | { readonly problem: string } {
  const codings = (contentEncoding ?? '')
    .split(',', MAX_CODINGS + 1)
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  const named = `content-encoding: ${codings.join(', ').slice(0, QUOTED_CHARACTERS)}`;
  if (codings.length > MAX_CODINGS) return { problem: `the answer is compressed too often (${named})` };
  let plain = bytes;
  for (const coding of codings.toReversed()) {
    const unpacker = UNPACKERS.get(coding);
    if (!unpacker) return { problem: `the answer is compressed in a way that nobody asked for (${named})` };
    try {
      // Some send an empty body as it is.
      if (plain.length > 0) plain = unpacker(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      return { problem: `the answer is compressed unasked (${named}) and cannot be unpacked: ${messageOf(error)}` };
    }
  }
  return { bytes: plain };
}

/** `deflate` means zlib's format; some services send the bare stream. */
function inflate(bytes: Uint8Array, bounds: { maxOutputLength: number }): Buffer {
  try {
    return inflateSync(bytes, bounds);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw error;
    return inflateRawSync(bytes, bounds);
  }
}

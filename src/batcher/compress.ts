/** Compression of a batch's body, off the main thread (zlib's thread pool). */
import { constants, gzip, zstdCompress } from 'node:zlib';

/** Output is gathered in pieces of this size; the default of 16 KiB costs a hop each. */
const CHUNK_BYTES = 1024 * 1024;

/** Resolves with the compressed bytes; rejects only on a fault of zlib itself. */
export function compress(body: Uint8Array, encoding: 'gzip' | 'zstd'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: Buffer) => (error ? reject(error) : resolve(result));
    if (encoding === 'gzip') gzip(body, { level: 1, chunkSize: CHUNK_BYTES }, done);
    else zstdCompress(body, { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_compressionLevel]: 1 } }, done);
  });
}

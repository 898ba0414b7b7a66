/**
 * Compression of a batch's body, off the main thread (zlib's thread pool). Compressors are kept and reset between bodies:
 * a new one each time makes so much garbage outside of the heap that a full collection followed every tenth batch.
 */
import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { MAX_CONCURRENCY } from '../core/limits.ts';

/** Output is gathered in pieces of this size; the default of 16 KiB costs a hop each. */
const CHUNK_BYTES = 128 * 1024;

interface Compressor {
  readonly stream: (Gzip | ZstdCompress) & { reset(): void };
  readonly finish: number;
}

const idle: Record<'gzip' | 'zstd', Compressor[]> = { gzip: [], zstd: [] };

/** Resolves with the compressed bytes; rejects only on a fault of zlib itself. */
export async function compress(body: Uint8Array, encoding: 'gzip' | 'zstd'): Promise<Buffer> {
  return Buffer.concat(await compressToChunks(body, encoding));
}

/**
 * Overwrites `body` with what it compresses to and resolves with that part of it; undefined, and `body` unchanged, where it
 * takes more room. Compressed bodies outside of their slots would come on top of the slots' own memory.
 */
export async function compressInPlace(body: Uint8Array, encoding: 'gzip' | 'zstd'): Promise<Uint8Array | undefined> {
  const chunks = await compressToChunks(body, encoding);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > body.length) return undefined;
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body.subarray(0, length);
}

async function compressToChunks(body: Uint8Array, encoding: 'gzip' | 'zstd'): Promise<Buffer[]> {
  const compressor = idle[encoding].pop() ?? createCompressor(encoding);
  const chunks = await run(compressor, body);
  // One that failed is not kept.
  compressor.stream.reset();
  if (idle[encoding].length < MAX_CONCURRENCY) idle[encoding].push(compressor);
  return chunks;
}

function createCompressor(encoding: 'gzip' | 'zstd'): Compressor {
  if (encoding === 'gzip')
    return { stream: createGzip({ level: 1, chunkSize: CHUNK_BYTES }) as Compressor['stream'], finish: constants.Z_FINISH };
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  return { stream: createZstdCompress({ chunkSize: CHUNK_BYTES, params }) as Compressor['stream'], finish: constants.ZSTD_e_end };
}

function run({ stream, finish }: Compressor, body: Uint8Array): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => chunks.push(chunk);
    stream.on('data', onData);
    stream.once('error', reject);
    stream.write(body);
    stream.flush(finish, () => {
      stream.off('data', onData);
      stream.off('error', reject);
      resolve(chunks);
    });
  });
}

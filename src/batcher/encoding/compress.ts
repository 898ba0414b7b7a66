/**
 * Compression of a batch's body by Node's zlib, off the main thread. Compressors are kept and reset between bodies: a new one each time
 * makes so much garbage outside of the heap that a full collection followed every tenth batch. The settings: docs/adr/0013-compression.md.
 */
import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { MAX_CONCURRENCY } from '../../core/limits.ts';
import type { Encoding } from '../../core/sink.ts';

type Compressed = Exclude<Encoding, 'identity'>;
type Compressor = (Gzip | ZstdCompress) & { reset(): void };

/** Output is gathered in pieces of this size; the default of 16 KiB costs a hop each. */
const CHUNK_BYTES = 128 * 1024;
/** Looking back further than 256 KiB takes 7 % more time and leaves 0.7 % less. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 };

const KINDS: Readonly<Record<Compressed, { readonly create: () => Compressor; readonly end: number }>> = {
  gzip: { create: () => createGzip({ chunkSize: CHUNK_BYTES, level: 1, memLevel: 9 }) as Compressor, end: constants.Z_FINISH },
  zstd: {
    create: () => createZstdCompress({ chunkSize: CHUNK_BYTES, params: ZSTD_PARAMS }) as Compressor,
    end: constants.ZSTD_e_end,
  },
};

const idle: Readonly<Record<Compressed, Compressor[]>> = { gzip: [], zstd: [] };

/** Resolves with the compressed bytes; rejects only on a fault of the compressor itself. */
export async function compress(body: Uint8Array, encoding: Compressed): Promise<Buffer> {
  return Buffer.concat(await compressToChunks(body, encoding));
}

/**
 * Overwrites `body` with what it compresses to and resolves with that part of it; undefined, and `body` unchanged, where it
 * takes more memory. Compressed bodies outside of their slots would come on top of the slots' own memory.
 */
export async function compressInPlace(body: Uint8Array, encoding: Compressed): Promise<Uint8Array | undefined> {
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

async function compressToChunks(body: Uint8Array, encoding: Compressed): Promise<Buffer[]> {
  const { create, end } = KINDS[encoding];
  const compressor = idle[encoding].pop() ?? create();
  const chunks = await run(compressor, body, end);
  // One that failed is not kept.
  compressor.reset();
  if (idle[encoding].length < MAX_CONCURRENCY) idle[encoding].push(compressor);
  return chunks;
}

function run(compressor: Compressor, body: Uint8Array, end: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => chunks.push(chunk);
    compressor.on('data', onData);
    compressor.once('error', reject);
    compressor.write(body);
    compressor.flush(end, () => {
      compressor.off('data', onData);
      compressor.off('error', reject);
      resolve(chunks);
    });
  });
}

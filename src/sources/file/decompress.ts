/** The content of a compressed file, piece by piece: memory is the decompressor's window, whatever the content's size. */
import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { READ_CHUNK_BYTES } from '../../core/limits.ts';
import type { FileSystem } from './file-system.ts';

export type Compression = 'gzip' | 'zstd';

/** Bytes that tell the compression. */
const MAGIC_BYTES = 4;
const PIECE_BYTES = 64 * 1024;

/** By the file's first bytes; undefined for anything else. */
export function compressionOf(head: Buffer): Compression | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length < MAGIC_BYTES) return undefined;
  const magic = head.readUInt32LE(0);
  // A frame, or one that is to be skipped.
  return magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50 ? 'zstd' : undefined;
}

/** All members or frames, one after the other. Throws the decompressor's errors (`Z_BUF_ERROR`: the file ends too soon) and the system's. */
export async function* decompress(fileSystem: FileSystem, fd: number, compression: Compression): AsyncGenerator<Buffer> {
  const decompressor = compression === 'gzip' ? createGunzip({ chunkSize: PIECE_BYTES }) : createZstdDecompress({ chunkSize: PIECE_BYTES });
  const input = Readable.from(readAll(fileSystem, fd));
  input.on('error', (error) => decompressor.destroy(error));
  try {
    for await (const piece of input.pipe(decompressor)) yield piece as Buffer;
  } finally {
    input.destroy();
    decompressor.destroy();
  }
}

async function* readAll(fileSystem: FileSystem, fd: number): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const into = Buffer.allocUnsafe(READ_CHUNK_BYTES);
    const count = await fileSystem.read(fd, into, position);
    if (count === 0) return;
    position += count;
    yield into.subarray(0, count);
  }
}

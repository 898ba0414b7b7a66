/** The content of a compressed file, piece by piece: memory is the decompressor's window, whatever the content's size. */
import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import type { FileSystem } from '../scan/file-system.ts';

export type CompressionFormat = 'gzip' | 'zstd';

/** Bytes that tell the compression. */
const MAGIC_BYTES = 4;
const PIECE_BYTES = 64 * 1024;

/** By the file's first bytes; undefined for anything else. */
export function compressionOf(head: Buffer): CompressionFormat | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length < MAGIC_BYTES) return undefined;
  const magic = head.readUInt32LE(0);
  // A frame, or one that is to be skipped.
  return magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50 ? 'zstd' : undefined;
}

/** Where a decompression reads, in bytes of the compressed file. */
export class CompressedRange {
  readonly from: number;
  readonly to: number;
  /** Everything before it was read. */
  readTo: number;
  /** Everything before it was decompressed. */
  consumedTo: number;

  constructor(from = 0, to = Infinity) {
    this.from = this.readTo = this.consumedTo = from;
    this.to = to;
  }
}

/**
 * All members or frames, one after the other, of a range that begins with one. Throws the decompressor's errors (`Z_BUF_ERROR`: the
 * range ends too soon) and the system's.
 */
export async function* decompress(
  fileSystem: FileSystem,
  fd: number,
  compression: CompressionFormat,
  range = new CompressedRange(),
): AsyncGenerator<Buffer> {
  const decompressor =
    compression === 'gzip'
      ? createGunzip({ chunkSize: PIECE_BYTES })
      : createZstdDecompress({ chunkSize: PIECE_BYTES });
  const input = Readable.from(readAll(fileSystem, fd, range));
  input.on('error', (error) => decompressor.destroy(error));
  try {
    for await (const piece of input.pipe(decompressor)) yield piece as Buffer;
    // zstd skips data that begins no frame; gzip skips nothing but NULs, which pad a file.
    if (compression === 'zstd' && range.from + decompressor.bytesWritten < range.readTo)
      throw Object.assign(new Error('what follows is no zstd frame'), { code: 'ZSTD_error_prefix_unknown' });
  } finally {
    range.consumedTo = range.from + decompressor.bytesWritten;
    input.destroy();
    decompressor.destroy();
  }
}

async function* readAll(fileSystem: FileSystem, fd: number, range: CompressedRange): AsyncGenerator<Buffer> {
  while (range.readTo < range.to) {
    const into = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, range.to - range.readTo));
    const count = await fileSystem.read(fd, into, range.readTo);
    if (count === 0) return;
    range.readTo += count;
    yield into.subarray(0, count);
  }
}

export async function countBytes(pieces: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const { length } of pieces) bytes += length;
  return bytes;
}

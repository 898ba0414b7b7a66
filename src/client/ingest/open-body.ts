/** What a file or a pipe really holds: gzip and zstd are recognised by their first bytes and unpacked, a byte-order mark is left out. */
import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The bytes of the text. A broken compressed file rejects with zlib's error. */
export async function* openBody(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const { head, all } = await peek(source, ZSTD.length);
  if (begins(head, GZIP)) yield* withoutMark(unpack(all, createGunzip()));
  else if (begins(head, ZSTD)) yield* withoutMark(unpack(all, createZstdDecompress()));
  else yield* withoutMark(all);
}

const begins = (bytes: Buffer, wanted: Buffer): boolean => bytes.subarray(0, wanted.length).equals(wanted);

async function* unpack(
  source: AsyncIterable<Buffer>,
  unpacker: ReturnType<typeof createGunzip | typeof createZstdDecompress>,
) {
  const input = Readable.from(source, { objectMode: false });
  input.on('error', (error) => unpacker.destroy(error));
  for await (const chunk of input.pipe(unpacker)) yield chunk as Buffer;
}

async function* withoutMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, all } = await peek(source, BYTE_ORDER_MARK.length);
  let skip = begins(head, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  for await (const chunk of all) {
    if (chunk.length > skip) yield skip === 0 ? chunk : chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
}

/** The first bytes, at least `length` of them where there are as many, and the whole stream with them. */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  length: number,
): Promise<{ head: Buffer; all: AsyncIterable<Buffer> }> {
  const rest = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let isDone = false;
  while (!isDone && head.length < length) {
    const next = await rest.next();
    if (next.done === true) isDone = true;
    else head = Buffer.concat([head, next.value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      for (let next = isDone ? undefined : await rest.next(); next && next.done !== true; next = await rest.next())
        yield Buffer.isBuffer(next.value)
          ? next.value
          : Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    } finally {
      await rest.return?.();
    }
  }
  return { head, all: all() };
}

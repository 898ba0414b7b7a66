import { randomBytes } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compress, compressInPlace } from '../../../src/batcher/payload.ts';
import { lineMaker } from '../../../bench/inputs.ts';

const DECOMPRESS = { gzip: gunzipSync, zstd: zstdDecompressSync };
const ENCODINGS = ['gzip', 'zstd'] as const;

function lines(bytes: number): Buffer {
  const next = lineMaker('text', 3);
  const body = Buffer.alloc(bytes);
  for (let at = 0; at < bytes;) at += body.write(`${next()}\n`, at);
  return body;
}

test.each(ENCODINGS)(
  'compressInPlace overwrites a body with what it is as %s, also one of several segments',
  async (encoding) => {
    for (const bytes of [500, 2 ** 20, 2_700_000]) {
      const plain = lines(bytes);
      const body = Buffer.from(plain);
      const left = (await compressInPlace(body, encoding))!;
      expect(left.buffer).toBe(body.buffer);
      expect(left.byteOffset).toBe(body.byteOffset);
      expect(left.length).toBeLessThan(bytes);
      expect(DECOMPRESS[encoding](left).equals(plain)).toBe(true);
    }
  },
);

test.each(ENCODINGS)(
  'compressInPlace leaves a body alone that is no smaller as %s, however large',
  async (encoding) => {
    for (const bytes of [0, 1, 100, 2 ** 20, 2_700_000]) {
      const plain = randomBytes(bytes);
      const body = Buffer.from(plain);
      expect(await compressInPlace(body, encoding)).toBeUndefined();
      expect(body.equals(plain)).toBe(true);
    }
  },
);

test.each(ENCODINGS)('compress to %s keeps bodies that are compressed at once apart', async (encoding) => {
  const plains = Array.from({ length: 12 }, (_, n) => lines(1000 + n * 400_000));
  const compressed = await Promise.all(plains.map((plain) => compress(plain, encoding)));
  compressed.forEach((each, n) => expect(DECOMPRESS[encoding](each).equals(plains[n]!)).toBe(true));
});

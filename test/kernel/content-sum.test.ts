import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSums, CONTENT_SUM_MODULUS, subtractSums } from '../../src/core/sums.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';
import { createKernel } from '../../src/kernel/kernel.ts';

const MASK = 2n ** 64n - 1n;

/** The finalizer of splitmix64. */
function mix(z: bigint): bigint {
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}

const WEIGHTS = Array.from({ length: 1024 }, (_, n) => (mix((BigInt(n + 1) * 0x9e3779b97f4a7c15n) & MASK) >> 32n) | 1n);

/** The definition, byte by byte. */
function oracle(bytes: Uint8Array, offset: number): number {
  let sum = 0n;
  bytes.forEach((byte, n) => {
    const at = offset + n;
    const page = mix(BigInt(Math.floor(at / 4096) + 1)) | 1n;
    sum += (BigInt(byte) << BigInt(8 * (at % 4))) * WEIGHTS[(at % 4096) >> 2]! * page;
  });
  return Number(sum % BigInt(CONTENT_SUM_MODULUS));
}

const offsets = fc.oneof(fc.nat(5000), fc.integer({ min: 2 ** 32 - 5000, max: 2 ** 32 + 5000 }), fc.nat(2 ** 50));
const contents = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 4000, maxLength: 9000 }));

test('content sum is that of its definition, at any offset and length', () => {
  fc.assert(
    fc.property(contents, offsets, (bytes, offset) => {
      expect(contentSum(bytes, offset)).toBe(oracle(bytes, offset));
    }),
  );
  const long = Buffer.alloc(100_000, 'a line of a log\n');
  expect(contentSum(long, 4093)).toBe(oracle(long, 4093));
});

test('content sum of bytes in a kernel, which are not copied, is the same', () => {
  const kernels = [createKernel(64 * 1024), createKernel(64 * 1024)].map((kernel) => kernel.reserve(10_000).bytes);
  fc.assert(
    fc.property(contents, offsets, fc.nat(999), fc.constantFrom(...kernels), (bytes, offset, at, memory) => {
      memory.set(bytes, at);
      expect(contentSum(memory.subarray(at, at + bytes.length), offset)).toBe(oracle(bytes, offset));
    }),
  );
});

test('content sum of a stretch is that of its parts, and the rest comes back out', () => {
  fc.assert(
    fc.property(contents, contents, offsets, (a, b, offset) => {
      const [first, second] = [contentSum(a, offset), contentSum(b, offset + a.length)];
      const whole = contentSum(Buffer.concat([a, b]), offset);
      expect(addSums(first, second)).toBe(whole);
      expect(subtractSums(whole, first)).toBe(second);
    }),
  );
});

test('content sum of the same bytes elsewhere is another, and any change of one byte changes it', () => {
  const bytes = Buffer.from('2026-11-21T10:00:00Z INFO [worker-1] request completed id=5f3a seq=17\n'.repeat(80));
  const sum = contentSum(bytes, 0);
  for (const offset of [1, 2, 4, 64, 4096, 8192, 2 ** 40]) expect(contentSum(bytes, offset)).not.toBe(sum);
  const seen = new Set([sum]);
  for (let at = 0; at < bytes.length; at += 37) {
    for (let bit = 1; bit < 256; bit *= 2) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= bit;
      seen.add(contentSum(changed, 0));
    }
  }
  expect(seen.size).toBe(1 + Math.ceil(bytes.length / 37) * 8);
});

test('content sum tells apart what numbers and order of lines make of the same letters', () => {
  const lines = Array.from({ length: 60 }, (_, n) => `seq=${String(n).padStart(6, '0')} ok\n`);
  const seen = new Set<number>();
  // Every two lines swapped: the same bytes, 15 or more apart.
  for (let a = 0; a < lines.length; a++) {
    for (let b = a + 1; b < lines.length; b++) {
      const swapped = lines.with(a, lines[b]!).with(b, lines[a]!);
      seen.add(contentSum(Buffer.from(swapped.join('')), 0));
    }
  }
  expect(seen.size).toBe((60 * 59) / 2);
});

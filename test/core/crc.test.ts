import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { combineCrc32, restOfCrc32 } from '../../src/core/crc.ts';

test('checksum of a whole is that of its parts combined, and the rest comes back out', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const whole = crc32(Buffer.concat([a, b]));
      expect(combineCrc32(crc32(a), crc32(b), b.length)).toBe(whole);
      expect(restOfCrc32(crc32(a), whole, b.length)).toBe(crc32(b));
    }),
  );
});

test('checksum of parts beyond 4 GiB is that of zlib', () => {
  // zlib's own crc32_combine(0x12345678, 0x9abcdef0, 5368709123), of zlib 1.2.13.
  expect(combineCrc32(0x12345678, 0x9abcdef0, 5 * 2 ** 30 + 3)).toBe(0x548e0be3);
  // Shifting in two steps is shifting at once.
  expect(combineCrc32(combineCrc32(0x12345678, 0, 3 * 2 ** 30 + 1), 0, 2 * 2 ** 30 + 2)).toBe(combineCrc32(0x12345678, 0, 5 * 2 ** 30 + 3));
});

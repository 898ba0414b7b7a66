import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { tailOf } from '../../../src/core/tail.ts';
import { compareFile, type FileSample, hashHead, type KnownFile } from '../../../src/sources/file/known/identity.ts';

const content = Buffer.from(Array.from({ length: 300 }, (_, n) => `line ${n}`).join('\n'));

function known(offset: number, headLength = 1024): KnownFile {
  const head = content.subarray(0, headLength);
  return {
    identity: { device: '1', inode: '2', ...hashHead(head) },
    startAt: 0,
    offset,
    tail: tailOf(content.subarray(0, offset)),
  };
}

function sample(of: KnownFile, bytes = content, place = { device: '1', inode: '2' }): FileSample {
  return {
    ...place,
    size: bytes.length,
    head: bytes.subarray(0, 1024),
    beforeOffset: bytes.subarray(Math.max(0, of.offset - of.tail.length), Math.min(bytes.length, of.offset)),
    first: undefined,
  };
}

test('identity of a grown file is the same', () => {
  const file = known(100, 100);
  expect(compareFile(file, sample(file, content.subarray(0, 100)))).toBe('same');
  expect(compareFile(file, sample(file))).toBe('same');
});

test('identity differs when the file is shorter than the position or the head', () => {
  const file = known(500, 1024);
  expect(compareFile(file, sample(file, content.subarray(0, 499)))).toBe('different');
  expect(compareFile(file, sample(file, content.subarray(0, 800)))).toBe('different');
});

test('identity differs by one byte of the head, and by one byte before the position', () => {
  const file = known(2000);
  const head = Buffer.from(content);
  head[1023]! ^= 1;
  expect(compareFile(file, sample(file, head))).toBe('different');
  const tail = Buffer.from(content);
  tail[1999]! ^= 1;
  expect(compareFile(file, sample(file, tail))).toBe('different');
  const after = Buffer.from(content);
  after[2000]! ^= 1;
  expect(compareFile(file, sample(file, after))).toBe('same');
});

test('identity is undecided for the same content elsewhere, and different where nothing is known', () => {
  const file = known(2000);
  expect(compareFile(file, sample(file, content, { device: '1', inode: '3' }))).toBe('undecided');
  expect(compareFile(file, sample(file, content, { device: '9', inode: '2' }))).toBe('undecided');
  const empty = known(0, 0);
  expect(compareFile(empty, sample(empty))).toBe('same');
  expect(compareFile(empty, sample(empty, content, { device: '1', inode: '3' }))).toBe('different');
});

test('identity hashes heads with SHA-256 and tails with CRC-32 of at most 64 bytes', () => {
  expect(hashHead(Buffer.from('abc'))).toEqual({ headLength: 3, headHash: createHash('sha256').update('abc').digest('hex') });
  expect(hashHead(Buffer.alloc(0))).toEqual({ headLength: 0, headHash: '' });
  expect(tailOf(content)).toEqual({ length: 64, crc: crc32(content.subarray(-64)) });
  expect(tailOf(Buffer.from('ab'))).toEqual({ length: 2, crc: crc32('ab') });
});

import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tailOf } from '../../../src/core/sums.ts';
import {
  compare,
  CopyComparison,
  fingerprintOf,
  type ReadContent,
  type ContentVerdict,
  ContentSum,
  sumParts,
} from '../../../src/sources/file/known/content.ts';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';

const content = Buffer.from(Array.from({ length: 300 }, (_, n) => `line ${n}`).join('\n'));

function readTo(offset: number, headLength = 1024): ReadContent {
  const identity = { device: '1', inode: '2', ...fingerprintOf(content.subarray(0, headLength)) };
  return { identity, startAt: 0, offset, tail: tailOf(content.subarray(0, offset)) };
}

function open(bytes: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'content-'));
  writeFileSync(join(folder, 'a.log'), bytes);
  const fd = openSync(join(folder, 'a.log'), 'r');
  onTestFinished(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return fd;
}

function compareWith(read: ReadContent, bytes: Buffer): ContentVerdict {
  return compare(nodeFileSystem, open(bytes), bytes.length, read);
}

function changedAt(at: number): Buffer {
  const changed = Buffer.from(content);
  changed[at]! ^= 1;
  return changed;
}

test('content of a grown file is the same', () => {
  const read = readTo(100, 100);
  expect(compareWith(read, content.subarray(0, 100))).toBe('same');
  expect(compareWith(read, content)).toBe('same');
});

test('content differs when the file is shorter than the position or the fingerprint', () => {
  const read = readTo(500, 1024);
  expect(compareWith(read, content.subarray(0, 499))).toBe('different');
  expect(compareWith(read, content.subarray(0, 800))).toBe('different');
});

test('content differs by one byte of the fingerprint, and by one byte before the position, not by one behind it', () => {
  const read = readTo(2000);
  expect(compareWith(read, changedAt(1023))).toBe('different');
  expect(compareWith(read, changedAt(1999))).toBe('different');
  expect(compareWith(read, changedAt(2000))).toBe('same');
});

test('copy is compared by all that was read, a bounded number of bytes at a time', () => {
  const sum = new ContentSum(0, 0);
  for (const part of sumParts(content.subarray(0, 2000), 0, 500)) sum.add(part.length, part.sum);
  const verdicts = (bytes: Buffer): ContentVerdict[] => {
    const fd = open(bytes);
    const comparison = new CopyComparison(nodeFileSystem, { ...readTo(2000), sum }, undefined);
    const found = [comparison.step(fd, bytes.length, 1500)];
    while (found.at(-1) === 'more') found.push(comparison.step(fd, bytes.length, 1500));
    return found;
  };
  expect(verdicts(content)).toEqual(['more', 'same']);
  expect(verdicts(changedAt(1500))).toEqual(['more', 'different']);
  // Made before the last of it was read.
  expect(verdicts(content.subarray(0, 1600))).toEqual(['same']);
  expect(verdicts(changedAt(10))).toEqual(['different']);
});

test('fingerprint is a SHA-256, and the tail a CRC-32 of at most 64 bytes', () => {
  expect(fingerprintOf(Buffer.from('abc'))).toEqual({
    headLength: 3,
    headHash: createHash('sha256').update('abc').digest('hex'),
  });
  expect(fingerprintOf(Buffer.alloc(0))).toEqual({ headLength: 0, headHash: '' });
  expect(tailOf(content).length).toBe(64);
  expect(tailOf(Buffer.from('ab')).length).toBe(2);
});

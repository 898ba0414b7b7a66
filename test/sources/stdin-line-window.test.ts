import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineWindow, utf8Cut, windowBytes } from '../../src/sources/line-window.ts';
import type { WindowBlock } from '../../src/sources/line-window.ts';
import { plainRegion, splitLines } from './lane-double.ts';

interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly truncated: boolean;
}

/** What must come out, told line by line. */
function expected(input: Buffer, maxEventBytes: number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < input.length;) {
    const newline = input.indexOf(10, at);
    const end = newline === -1 ? input.length : newline;
    const truncated = end - at > maxEventBytes;
    const cut = truncated ? utf8Cut(input, at, at + maxEventBytes) : end;
    const to = newline === -1 ? end : end + 1;
    pieces.push({ text: input.toString('latin1', at, cut), from: at, to, truncated });
    at = to;
  }
  return pieces;
}

function take(window: LineWindow, chunks: readonly Buffer[], input: Buffer): Piece[] {
  const pieces: Piece[] = [];
  const record = (block: WindowBlock | undefined): boolean => {
    if (block === undefined) return false;
    const lines = splitLines(Buffer.from(block.window.bytes.subarray(block.start, block.end)));
    let from = block.offset;
    if (block.single === undefined) {
      expect(block.window.bytes.subarray(block.start, block.end)).toEqual(input.subarray(from, from + block.end - block.start));
      for (const line of lines) {
        pieces.push({ text: line.toString('latin1'), from, to: from + line.length + 1, truncated: false });
        from += line.length + 1;
      }
      return true;
    }
    const to = from + block.single.length;
    expect(block.single.crc).toBe(crc32(input.subarray(from, to)));
    const tail = input.subarray(Math.max(0, to - 64), to);
    expect(block.single.tail).toEqual({ length: tail.length, crc: crc32(tail) });
    expect(lines).toHaveLength(1);
    const ended = input.toString('latin1', from, to);
    expect(block.single.originalBytes).toBe(block.single.truncated ? ended.replace(/\r?\n$/, '').length : undefined);
    pieces.push({ text: lines[0]!.toString('latin1'), from, to, truncated: block.single.truncated });
    return true;
  };
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const count = chunk.copy(window.free(), 0, at);
      expect(count).toBeGreaterThan(0);
      window.commit(count);
      at += count;
      while (record(window.next()));
    }
  }
  record(window.flush());
  expect(window.flush()).toBeUndefined();
  expect(window.offset).toBe(input.length);
  expect(window.pendingBytes).toBe(0);
  return pieces;
}

const line = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 60, maxLength: 900 }) },
);
const input = fc.tuple(fc.array(line, { maxLength: 40 }), fc.boolean()).map(([lines, ended]) => {
  const bytes = Buffer.concat(lines.flatMap((each) => [each, Buffer.from(each.length % 2 === 0 ? '\n' : '\r\n')]));
  return ended ? bytes : bytes.subarray(0, -2);
});

test('line window gives the same lines, offsets and checksums for any chunks and any limit', () => {
  fc.assert(
    fc.property(
      input,
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }),
      (bytes, max, sizes) => {
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n += 1) chunks.push(bytes.subarray(at, (at += sizes[n % sizes.length]!)));
        expect(take(new LineWindow(plainRegion(windowBytes(max)), max), chunks, bytes)).toEqual(expected(bytes, max));
      },
    ),
    { numRuns: 1500 },
  );
});

test('line window cuts a line of many windows, keeps memory, and gives the lines around it', () => {
  const max = 1000;
  const bytes = Buffer.concat([
    Buffer.from('before\n'),
    Buffer.alloc(3_000_000, 'é'),
    Buffer.from('\nafter\n'),
    Buffer.alloc(700_000, 'z'),
  ]);
  const pieces = take(new LineWindow(plainRegion(windowBytes(max)), max), [bytes], bytes);
  expect(pieces.map((piece) => [piece.text.length, piece.to - piece.from, piece.truncated])).toEqual([
    [6, 7, false],
    [1000, 3_000_001, true],
    [5, 6, false],
    [1000, 700_000, true],
  ]);
});

test('line window keeps a line of exactly the limit whole, with a newline and without', () => {
  const bytes = Buffer.from(`${'a'.repeat(50)}\n${'b'.repeat(51)}\n${'c'.repeat(50)}`);
  const pieces = take(new LineWindow(plainRegion(windowBytes(50)), 50), [bytes], bytes);
  expect(pieces.map((piece) => [piece.text.length, piece.truncated])).toEqual([
    [50, false],
    [50, true],
    [50, false],
  ]);
});

test('line window goes on from another offset with the tail it is told', () => {
  const window = new LineWindow(plainRegion(windowBytes(100)), 100);
  Buffer.from('forgotten').copy(window.free());
  window.commit(9);
  expect(window.next()).toBeUndefined();
  window.reset(5000, Buffer.from('0123456789'));
  Buffer.from('ab').copy(window.free());
  window.commit(2);
  expect(window.next()).toBeUndefined();
  const block = window.flush();
  expect(block).toMatchObject({ offset: 5000, single: { length: 2, tail: { length: 12, crc: crc32(Buffer.from('0123456789ab')) } } });
});

test('utf8Cut never tears a character and never goes back over invalid bytes', () => {
  const text = Buffer.from('aé€😀');
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((limit) => utf8Cut(text, 0, limit))).toEqual([1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
  const invalid = Buffer.alloc(20, 0x80);
  expect(utf8Cut(invalid, 0, 10)).toBe(10);
});

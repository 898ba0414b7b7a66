import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Marks } from '../../src/core/block.ts';
import { cutToText } from '../../src/parsers/values/cut-text.ts';
import { utf8, utf8Cut } from '../../src/parsers/text/encoding.ts';
import { type WindowBlock, windowBytes } from '../../src/sources/framing/byte-window.ts';
import { type LineRules, LineWindow } from '../../src/sources/framing/line-window.ts';
import { plainRegion, splitLines } from './lane-double.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly marks?: Marks;
  readonly refused?: boolean;
}

const MARK = Buffer.from('\ufeff');

/** The expected result, computed line by line. */
function expected(input: Buffer, { maxEventBytes: max, onOversize }: LineRules): Piece[] {
  const pieces: Piece[] = [];
  let textAt = input.subarray(0, 3).equals(MARK) ? 3 : 0;
  if (textAt === input.length && textAt > 0) return [{ text: '', from: 0, to: 3 }];
  for (let at = 0; at < input.length; textAt = at) {
    const newline = input.indexOf(10, textAt);
    const to = newline === -1 ? input.length : newline + 1;
    const text = input.subarray(textAt, to - utf8.endingBytes(input, to));
    const line = newline === -1 ? text : input.subarray(textAt, newline);
    if (text.length <= max && sizeOf(text) <= max) pieces.push({ text: line.toString('latin1'), from: at, to });
    else if (onOversize === 'split') pieces.push(...partsOf(input, at, textAt, textAt + text.length, to, max));
    else {
      const kept = text.subarray(0, cutToText(utf8, text, 0, Math.min(text.length, max), max));
      const marks = { truncated: true, original_bytes: text.length };
      pieces.push({
        text: kept.toString('latin1'),
        from: at,
        to,
        marks,
        ...(onOversize === 'dead_letter' ? { refused: true } : {}),
      });
    }
    at = to;
  }
  return pieces;
}

function partsOf(input: Buffer, from: number, textAt: number, textEnd: number, to: number, max: number): Piece[] {
  const parts: Piece[] = [];
  for (let start = textAt, at = from; ;) {
    const rest = input.subarray(start, textEnd);
    const isLast = rest.length <= max && sizeOf(rest) <= max;
    const end = isLast
      ? textEnd
      : cutToText(utf8, input.subarray(0, textEnd), start, Math.min(textEnd, start + max), max);
    const marks = { part: parts.length + 1, ...(isLast ? { part_last: true } : {}) };
    parts.push({ text: input.toString('latin1', start, end), from: at, to: isLast ? to : end, marks });
    if (isLast) return parts;
    at = start = end;
  }
}

function sizeOf(text: Buffer): number {
  return Buffer.byteLength(new TextDecoder('utf-8', { ignoreBOM: true }).decode(text));
}

function take(window: LineWindow, chunks: readonly Buffer[], input: Buffer): Piece[] {
  const pieces: Piece[] = [];
  const record = (block: WindowBlock | undefined): boolean => {
    if (block === undefined) return false;
    const bytes = Buffer.from(block.window.bytes.subarray(block.start, block.end));
    const lines = splitLines(bytes);
    let from = block.offset;
    if (block.single === undefined) {
      expect(bytes).toEqual(input.subarray(from, from + block.end - block.start));
      for (const line of lines) {
        pieces.push({ text: line.toString('latin1'), from, to: from + line.length + 1 });
        from += line.length + 1;
      }
      return true;
    }
    const { length, marks, refusal } = block.single;
    const to = from + length;
    expect(block.single.sum).toBe(contentSum(input.subarray(from, to), from));
    const tail = input.subarray(Math.max(0, to - 64), to);
    expect(block.single.tail).toEqual({ length: tail.length, crc: crc32(tail) });
    expect(lines).toHaveLength(1);
    // The beginning of a line comes without its ending, the last part with it.
    const isEnded = marks?.['part_last'] === true && input[to - 1] === 10 && input[to - 2] === 13;
    pieces.push({
      text: lines[0]!.toString('latin1', 0, lines[0]!.length - (isEnded ? 1 : 0)),
      from,
      to,
      ...(marks ? { marks } : {}),
      ...(refusal === undefined ? {} : { refused: true }),
    });
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
  while (record(window.flush()));
  expect(window.offset).toBe(input.length);
  expect(window.pendingBytes).toBe(0);
  return pieces;
}

function windowOf(maxEventBytes: number, onOversize: LineRules['onOversize'] = 'truncate'): LineWindow {
  return new LineWindow(plainRegion(windowBytes(maxEventBytes)), { maxEventBytes, onOversize });
}

const line = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 60, maxLength: 900 }) },
);
const input = fc.tuple(fc.boolean(), fc.array(line, { maxLength: 40 }), fc.boolean()).map(([marked, lines, ended]) => {
  const bytes = Buffer.concat(lines.flatMap((each) => [each, Buffer.from(each.length % 2 === 0 ? '\n' : '\r\n')]));
  const all = Buffer.concat([marked ? MARK : Buffer.alloc(0), ended ? bytes : bytes.subarray(0, -2)]);
  // No mark of UTF-16.
  if ((all[0] ?? 0) >= 0xfe) all[0] = 0xfd;
  return all;
});
const rules: fc.Arbitrary<LineRules> = fc.record({
  maxEventBytes: fc.integer({ min: 4, max: 100 }),
  onOversize: fc.constantFrom('truncate', 'split', 'dead_letter'),
});

test('line window gives the same events, offsets and checksums for any chunks, any limit and any policy', () => {
  fc.assert(
    fc.property(
      input,
      rules,
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }),
      (bytes, how, sizes) => {
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n += 1)
          chunks.push(bytes.subarray(at, (at += sizes[n % sizes.length]!)));
        expect(take(windowOf(how.maxEventBytes, how.onOversize), chunks, bytes)).toEqual(expected(bytes, how));
      },
    ),
    { numRuns: 2000 },
  );
});

test('line window cuts a line of many windows, keeps memory, and gives the lines around it', () => {
  const bytes = Buffer.concat([
    Buffer.from('before\n'),
    Buffer.alloc(3_000_000, 'é'),
    Buffer.from('\nafter\n'),
    Buffer.alloc(700_000, 'z'),
  ]);
  const pieces = take(windowOf(1000), [bytes], bytes);
  expect(pieces.map((piece) => [piece.text.length, piece.to - piece.from, piece.marks?.['original_bytes']])).toEqual([
    [6, 7, undefined],
    [1000, 3_000_001, 3_000_000],
    [5, 6, undefined],
    [1000, 700_000, 700_000],
  ]);
});

test('line window gives a line of many windows in parts that are whole text and together the line', () => {
  const bytes = Buffer.concat([Buffer.from('before\n'), Buffer.alloc(3_000_000, '€'), Buffer.from('\r\nafter\n')]);
  const pieces = take(windowOf(1000, 'split'), [bytes], bytes);
  const parts = pieces.slice(1, -1);
  expect(parts.map(({ marks }) => marks?.['part'])).toEqual(parts.map((_, n) => n + 1));
  expect(parts.map(({ marks }) => marks?.['part_last'])).toEqual(
    parts.map((_, n) => (n === parts.length - 1 ? true : undefined)),
  );
  expect(parts.slice(0, -1).every(({ text }) => text.length === 999)).toBe(true);
  expect(parts.map(({ text }) => text).join('')).toBe(bytes.subarray(7, -8).toString('latin1'));
  expect(pieces.at(-1)?.text).toBe('after');
});

test('line window keeps a line of exactly the limit whole, with a newline, a CR and a newline, and without', () => {
  const bytes = Buffer.from(
    `${'a'.repeat(50)}\n${'b'.repeat(51)}\n${'c'.repeat(50)}\r\n${'d'.repeat(51)}\r\n${'e'.repeat(50)}`,
  );
  for (const onOversize of ['truncate', 'split'] as const) {
    const pieces = take(windowOf(50, onOversize), [bytes], bytes);
    const whole = pieces.filter(({ marks }) => marks === undefined).map(({ text }) => text);
    expect(whole).toEqual(['a'.repeat(50), `${'c'.repeat(50)}\r`, 'e'.repeat(50)]);
  }
});

// Symptom: a line of 1 MiB with invalid UTF-8 was cut to 1 MiB, then grew by its repair, and the service refused it.
// Cause: bytes were counted before U+FFFD took the place of the invalid ones.
test('line window cuts by what a line takes once it is repaired, also one that is short enough before', () => {
  const bytes = Buffer.concat([
    Buffer.alloc(400, 0xff),
    Buffer.from('\n'),
    Buffer.alloc(5000, 0xff),
    Buffer.from('\nok\n'),
  ]);
  const pieces = take(windowOf(1000), [bytes], bytes);
  expect(pieces.map(({ text, marks }) => [text.length, marks?.['original_bytes']])).toEqual([
    [333, 400],
    [333, 5000],
    [2, undefined],
  ]);
});

test('line window says why a line over the limit is refused', () => {
  const window = windowOf(50, 'dead_letter');
  window.commit(Buffer.from(`${'x'.repeat(70)}\n${'\xff'.repeat(40)}\n`, 'latin1').copy(window.free()));
  expect(window.next()?.single?.refusal).toBe(
    'the line has 70 bytes, more than max_event_bytes (50); its beginning is kept',
  );
  expect(window.next()?.single?.refusal).toBe(
    'the line has 40 bytes, which take more than max_event_bytes (50) as UTF-8; its beginning is kept',
  );
});

test('line window goes on from another offset with the given tail', () => {
  const window = windowOf(100);
  Buffer.from('forgotten').copy(window.free());
  window.commit(9);
  expect(window.next()).toBeUndefined();
  window.reset(5000, Buffer.from('0123456789'), Buffer.alloc(0));
  Buffer.from('ab').copy(window.free());
  window.commit(2);
  expect(window.next()).toBeUndefined();
  const block = window.flush();
  expect(block).toMatchObject({
    offset: 5000,
    single: { length: 2, tail: { length: 12, crc: crc32(Buffer.from('0123456789ab')) } },
  });
});

test('line window takes a byte order mark for text where the stream does not begin', () => {
  const window = windowOf(100);
  window.reset(5000, Buffer.alloc(0), Buffer.alloc(0));
  window.commit(Buffer.from('\ufeffa\n').copy(window.free()));
  const block = window.next();
  expect(block?.single).toBeUndefined();
  expect(block && block.end - block.start).toBe(5);
});

test('utf8Cut never tears a character and never goes back over invalid bytes', () => {
  const text = Buffer.from('aé€😀');
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((limit) => utf8Cut(text, 0, limit))).toEqual([
    1, 1, 3, 3, 3, 6, 6, 6, 6, 10,
  ]);
  const invalid = Buffer.alloc(20, 0x80);
  expect(utf8Cut(invalid, 0, 10)).toBe(10);
});

test('cutToText keeps as much as fits once it is repaired', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.integer({ min: 4, max: 400 }), (array, max) => {
      const text = Buffer.from(array.map((byte) => (byte === 13 ? 14 : byte)));
      const cut = cutToText(utf8, text, 0, text.length, max);
      expect(cut).toBeGreaterThan(0);
      expect(sizeOf(text.subarray(0, cut))).toBeLessThanOrEqual(max);
      // One more character, of up to four bytes or one U+FFFD, would not have fitted.
      if (cut + 8 < text.length) expect(sizeOf(text.subarray(0, cut + 4))).toBeGreaterThan(max - 12);
    }),
    { numRuns: 1000 },
  );
});

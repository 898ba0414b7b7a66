/** Lines, whatever their charset, joining and format: the same events for any chunks, and every byte accounted for. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LineConfig } from '../../src/sources/common/line-fields.ts';
import { newStats, type SourceStats } from '../../src/core/source.ts';
import { loadEncoding } from '../../src/parsers/text/charset.ts';
import type { WindowBlock } from '../../src/sources/framing/byte-window.ts';
import { type LineShaping, loadShaping } from '../../src/sources/framing/line-shaping.ts';
import { Lines, streamBytesOf } from '../../src/sources/framing/lines.ts';
import { plainLineConfig } from '../support/source-config.ts';
import { plainRegion } from './lane-double.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

interface Piece {
  /** The window's bytes of one event, without the last newline. */
  readonly text: string;
  /** The stream offset behind what it used up. */
  readonly to: number;
  readonly marks?: object;
}

const configOf = (changes: Partial<LineConfig> = {}): LineConfig => ({ ...plainLineConfig, id: 'app', ...changes });
const multilineOf = (changes: Partial<NonNullable<LineConfig['multiline']>> = {}) =>
  ({ kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity, ...changes }) as const;

function openLines(config: LineConfig, shaping: LineShaping, stats: SourceStats = newStats()): Lines {
  return new Lines({ rules: config, shaping, stats, reserve: plainRegion, clock: { now: () => 0 } });
}

/** Every event of the input, read in chunks of these sizes. Checks what holds for any block. */
function readAll(lines: Lines, input: Buffer, sizes: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  let reached = 0;
  const take = (block: WindowBlock | undefined): boolean => {
    if (!block) return false;
    expect(block.offset).toBe(reached);
    const bytes = block.window.bytes;
    const length = block.single?.length ?? streamBytesOf(block).length;
    const range = input.subarray(reached, reached + length);
    if (block.single) expect(block.single.sum).toBe(contentSum(range, reached));
    if (!block.single || block.made) expect(streamBytesOf(block).equals(range)).toBe(true);
    reached += length;
    expect(lines.offset).toBe(reached);
    expect(lines.recent().equals(input.subarray(Math.max(0, reached - 64), reached))).toBe(true);
    const ends = block.ends ?? lineEnds(bytes, block.start, block.end);
    expect(ends.at(-1)).toBe(block.end);
    let from = block.start;
    ends.forEach((end, n) => {
      const to = block.offset + (block.single && !block.made ? length : (block.made?.used[n] ?? end - block.start));
      const text = bytes.toString('utf8', from, end - 1);
      // Skipped lines are no events.
      if (text.trim() !== '') pieces.push({ text, to, ...(block.single?.marks ? { marks: block.single.marks } : {}) });
      from = end;
    });
    if (block.made) expect(block.made.used.at(-1)).toBe(streamBytesOf(block).length);
    return true;
  };
  for (let at = 0, n = 0; at < input.length; n += 1) {
    const count = Math.min(sizes[n % sizes.length]!, input.length - at, lines.free().length);
    lines.commit(input.copy(lines.free(), 0, at, at + count));
    at += count;
    while (take(lines.next()));
  }
  while (take(lines.flush()));
  expect(reached).toBe(input.length);
  expect(lines.pendingBytes).toBe(0);
  return pieces;
}

function lineEnds(bytes: Buffer, start: number, end: number): Uint32Array {
  const ends: number[] = [];
  for (let at = start; at < end;) ends.push((at = bytes.indexOf(10, at) + 1));
  return Uint32Array.from(ends);
}

const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 });
const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'A', 'B', 'é', '\t'), maxLength: 9 });
const text = fc
  .tuple(fc.array(word, { maxLength: 25 }), fc.boolean(), fc.constantFrom('\n', '\r\n'))
  .map(([words, ended, newline]) => words.join(newline) + (ended ? newline : ''));

/** Lines joined by the rule, decided one by one. */
function joinByRule(input: Buffer, begins: (line: string) => boolean, maxLines: number, maxBytes: number): Piece[] {
  const groups: { lines: number; from: number; to: number }[] = [];
  for (let at = 0; at < input.length;) {
    const newline = input.indexOf(10, at);
    const to = newline === -1 ? input.length : newline + 1;
    const line = input.toString('utf8', at, newline === -1 ? to : newline).replace(/\r$/, '');
    const last = groups.at(-1);
    // The newline that the last line lacks counts, too.
    const size = (newline === -1 ? to + 1 : to) - (last?.from ?? 0);
    if (!last || begins(line) || last.lines === maxLines || size > maxBytes) groups.push({ lines: 1, from: at, to });
    else Object.assign(last, { lines: last.lines + 1, to });
    at = to;
  }
  return groups
    .map(({ from, to }) => ({ text: input.toString('utf8', from, input[to - 1] === 10 ? to - 1 : to), to }))
    .filter((piece) => piece.text.trim() !== '');
}

describe('joined lines', () => {
  test.each([
    ['start', '^[A-Z]', (line: string) => /^[A-Z]/.test(line)],
    ['continue', '^\\s', (line: string) => !/^\s/.test(line)],
    ['start', 'é', (line: string) => line.includes('é')],
  ] as const)('by %s: %s are the same for any chunks, within their limits', async (kind, pattern, begins) => {
    const shapings = new Map<string, LineShaping>();
    const limits = fc.constantFrom([1000, 10_000], [3, 10_000], [2, 24], [1000, 16]);
    await fc.assert(
      fc.asyncProperty(text, sizes, limits, async (lines, chunks, [maxLines = 0, maxBytes = 0]) => {
        const config = configOf({ multiline: multilineOf({ kind, pattern, maxLines, maxBytes }), maxEventBytes: 2000 });
        const shaping = shapings.get(`${maxLines} ${maxBytes}`) ?? (await loadShaping(config));
        shapings.set(`${maxLines} ${maxBytes}`, shaping);
        const input = Buffer.from(lines);
        expect(readAll(openLines(config, shaping), input, chunks)).toEqual(
          joinByRule(input, begins, maxLines, maxBytes),
        );
      }),
      { numRuns: 700 },
    );
  });

  test('end before a line over the limit, which is an event of its own', async () => {
    const config = configOf({ multiline: multilineOf(), maxEventBytes: 100 });
    const input = Buffer.from(`A\n b\n${' x'.repeat(200)}\n c\nD\n`);
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [7]);
    expect(pieces.map((piece) => piece.text.slice(0, 6))).toEqual(['A\n b', ' x x x', ' c', 'D']);
    expect(pieces[1]!.marks).toEqual({ truncated: true, original_bytes: 400 });
  });

  test('that take too much once they are repaired are cut', async () => {
    const config = configOf({ multiline: multilineOf(), maxEventBytes: 120 });
    const bad = Buffer.alloc(30, 0xff);
    const input = Buffer.concat([Buffer.from('A\n '), bad, Buffer.from('\n '), bad, Buffer.from('\nB\n')]);
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [1000]);
    expect(pieces.map(({ marks }) => marks)).toEqual([{ truncated: true, original_bytes: 65 }, undefined]);
    expect(Buffer.byteLength(pieces[0]!.text)).toBeLessThanOrEqual(120);
    expect(pieces[1]!.text).toBe('B');
  });

  test('wait for more until they are flushed, and what comes then is an event of its own', async () => {
    const config = configOf({ multiline: multilineOf() });
    const lines = openLines(config, await loadShaping(config));
    lines.commit(Buffer.from('A\n b\n unfin').copy(lines.free()));
    expect(lines.next()).toBeUndefined();
    expect([lines.hasOpenEvent, lines.pendingBytes]).toEqual([true, 11]);
    const block = lines.flushOpenEvent();
    expect(block && block.window.bytes.toString('utf8', block.start, block.end)).toBe('A\n b\n');
    expect(lines.flushOpenEvent()).toBeUndefined();
    expect([lines.hasOpenEvent, lines.pendingBytes]).toEqual([false, 6]);
    lines.commit(Buffer.from('ished\nB\n').copy(lines.free()));
    const rest = lines.next();
    expect(rest && rest.window.bytes.toString('utf8', rest.start, rest.end)).toBe(' unfinished\n');
  });
});

const ENCODED: Readonly<Record<string, (text: string) => Buffer>> = {
  'utf-16le': (each) => Buffer.from(each, 'utf16le'),
  'utf-16be': (each) => Buffer.from(each, 'utf16le').swap16(),
  latin1: (each) => Buffer.from(each, 'latin1'),
};
const MARKS: Readonly<Record<string, string>> = { 'utf-16le': 'fffe', 'utf-16be': 'feff' };

describe('charsets', () => {
  const units = ['a', ' ', 'é', 'ÿ', '\u0085'];
  const wide = [...units, 'Ċ', '\u0a0a', '\u0a00', '\u000a'.repeat(0), '€', '😀', '\u0d0a'];

  test.each(Object.keys(ENCODED))(
    '%s gives the same lines for any chunks, with a mark and without',
    async (charset) => {
      const shaping = await loadShaping(configOf({ charset }));
      const plain = await loadShaping(configOf());
      const lines = fc.array(
        fc.string({ unit: fc.constantFrom(...(charset === 'latin1' ? units : wide)), maxLength: 10 }),
        {
          maxLength: 15,
        },
      );
      fc.assert(
        fc.property(
          lines,
          fc.constantFrom('\n', '\r\n'),
          fc.boolean(),
          fc.boolean(),
          sizes,
          (words, newline, ended, marked, chunks) => {
            const mark = marked ? MARKS[charset] : undefined;
            const content = words.join(newline) + (ended ? newline : '');
            const input = Buffer.concat([Buffer.from(mark ?? '', 'hex'), ENCODED[charset]!(content)]);
            // A mark decides, so that it is read the same without the charset being named.
            const config = configOf(mark ? {} : { charset });
            const stats = newStats();
            const pieces = readAll(openLines(config, mark ? plain : shaping, stats), input, chunks);
            const strip = (each: string): string => each.replace(/\r$/, '');
            expect(pieces.map((piece) => strip(piece.text))).toEqual(
              words.map(strip).filter((each) => each.trim() !== ''),
            );
            expect(stats.invalidCharacters ?? 0).toBe(0);
          },
        ),
        { numRuns: 600 },
      );
    },
  );

  test.each([
    ['windows-1252', '80e9', '€é'],
    ['iso-8859-7', 'c1e2e3', 'Αβγ'],
    ['koi8-r', 'f0d2c9', 'При'],
    ['cp437', '8ee1', 'Äß'],
    ['shift_jis', '93fa967b', '日本'],
    ['euc-jp', 'c6fccbdc', '日本'],
    ['gb18030', 'd6d0b9fa8130823d', '中国\u02ca'.slice(0, 2)],
    ['big5', 'a4a4a4e5', '中文'],
    ['euc-kr', 'c7d1b1db', '한글'],
  ])('%s is read through iconv-lite', async (charset, hex, expected) => {
    const config = configOf({ charset });
    const input = Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from('\nsecond\n')]);
    const [first, second] = readAll(openLines(config, await loadShaping(config)), input, [3]);
    expect(first!.text.startsWith(expected)).toBe(true);
    expect(second).toMatchObject({ text: 'second', to: input.length });
  });

  test('a lead byte before a newline takes none of it along', async () => {
    for (const charset of ['shift_jis', 'euc-jp', 'gb18030', 'gbk', 'big5', 'euc-kr']) {
      const config = configOf({ charset });
      for (let lead = 0x80; lead < 0x100; lead += 1) {
        const stats = newStats();
        const input = Buffer.concat([Buffer.of(0x61, lead), Buffer.from('\nsecond\n')]);
        const pieces = readAll(openLines(config, await loadShaping(config), stats), input, [100]);
        expect(pieces.at(-1)!.text).toBe('second');
      }
    }
  });

  test('invalid bytes become U+FFFD, and are counted', async () => {
    const stats = newStats();
    const config = configOf({ charset: 'utf-16le' });
    const lone = Buffer.from([0x61, 0, 0, 0xd8, 0x62, 0, 0x0a, 0, 0x63]);
    const pieces = readAll(openLines(config, await loadShaping(config), stats), lone, [2]);
    expect(pieces.map((piece) => piece.text)).toEqual(['a\ufffdb', '\ufffd']);
    expect(stats.invalidCharacters).toBe(2);
  });

  test.each(['utf-16le', 'big5', 'latin1'])(
    'a line of %s over the limit is cut between characters, and split into parts that are the line',
    async (charset) => {
      const encoding = await loadEncoding(charset);
      const bytes =
        charset === 'utf-16le'
          ? Buffer.from('😀é '.repeat(400), 'utf16le')
          : Buffer.from(charset === 'big5' ? 'a4a4a4e520'.repeat(300) : 'e9e920'.repeat(500), 'hex');
      const whole = encoding.decode(bytes);
      const input = Buffer.concat([
        bytes,
        encoding.newline,
        charset === 'utf-16le' ? Buffer.from('next\n', 'utf16le') : Buffer.from('next\n'),
      ]);
      for (const onOversize of ['truncate', 'split'] as const) {
        const config = configOf({ charset, onOversize, maxEventBytes: 1024 });
        const pieces = readAll(openLines(config, await loadShaping(config)), input, [333]);
        expect(pieces.at(-1)!.text).toBe('next');
        const parts = pieces.slice(0, -1).map((piece) => piece.text);
        expect(parts.every((part) => Buffer.byteLength(part) <= 1024 && !part.includes('\ufffd'))).toBe(true);
        if (onOversize === 'split') expect(parts.join('')).toBe(whole);
        else expect(pieces[0]).toMatchObject({ marks: { truncated: true, original_bytes: bytes.length } });
        expect(whole.startsWith(parts[0]!)).toBe(true);
        expect(parts[0]!.length).toBeGreaterThan(200);
      }
    },
  );

  test('lines of UTF-16 are joined by a pattern', async () => {
    const config = configOf({ charset: 'utf-16be', multiline: multilineOf() });
    const input = Buffer.from('Ärger\nA\r\n b\r\nC\n', 'utf16le').swap16();
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [5]);
    expect(pieces.map((piece) => piece.text)).toEqual(['Ärger', 'A\r\n b', 'C']);
  });
});

describe('formats with a parser', () => {
  const eventsOf = (pieces: readonly Piece[]): unknown[] => pieces.map((piece) => JSON.parse(piece.text) as unknown);

  test.each([
    ['logfmt', {}, ['a=1 b="x y"', 'rubbish', '', 'c=2']],
    ['combined', {}, ['1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5', 'rubbish']],
    ['csv', {}, ['a,b', '1,"two', 'lines"', '3,4', '5', '"open,']],
    ['csv', { csv: { delimiter: ';', columns: ['x', 'y'] } }, ['1;2', '"3;\r', '4";5']],
    ['regex', { regex: '^(?<level>\\w+) (?<message>.*)$' }, ['INFO hello', 'x', 'WARN é €']],
    [
      'cri',
      {},
      [
        '2026-11-21T10:15:00Z stdout P a',
        '2026-11-21T10:15:00Z stderr F err',
        '2026-11-21T10:15:01Z stdout F b',
        'rubbish',
        '2026-11-21T10:15:01Z stdout P open',
      ],
    ],
    ['docker', {}, ['{"log":"a","stream":"stdout","time":"t"}', '{"log":"b\\n","stream":"stdout","time":"u"}', 'x']],
  ] as const)('%s gives the same events for any chunks', async (format, changes, lines) => {
    const config = configOf({ format, ...changes });
    const input = Buffer.from(`${lines.join('\n')}\n`);
    const shaping = await loadShaping(config);
    const whole = readAll(openLines(config, shaping), input, [10_000]);
    expect(whole.length).toBeGreaterThan(0);
    for (const piece of whole) expect(JSON.parse(piece.text)).toBeTypeOf('object');
    fc.assert(
      fc.property(sizes, (chunks) => {
        expect(readAll(openLines(config, shaping), input, chunks)).toEqual(whole);
      }),
      { numRuns: 100 },
    );
  });

  test('any bytes give events that are objects, for any chunks', async () => {
    for (const format of ['logfmt', 'combined', 'csv', 'cri', 'docker'] as const) {
      const config = configOf({ format, maxEventBytes: 64 });
      const shaping = await loadShaping(config);
      const byte = fc.constantFrom(...Buffer.from('a1=,"{}:\\[] \n\r\xff\xe9').values());
      fc.assert(
        fc.property(fc.array(byte, { maxLength: 200 }), sizes, (bytes, chunks) => {
          fc.pre((bytes[0] ?? 0) < 0xfe);
          const input = Buffer.from(bytes);
          const pieces = readAll(openLines(config, shaping), input, chunks);
          expect(readAll(openLines(config, shaping), input, [1000])).toEqual(pieces);
          for (const piece of pieces) if (!piece.marks) expect(JSON.parse(piece.text)).toBeTypeOf('object');
        }),
        { numRuns: 300 },
      );
    }
  });

  test('events that come of the same lines use up nothing until the last of them', async () => {
    const config = configOf({ format: 'cri' });
    const T = '2026-11-21T10:15:00Z';
    const input = Buffer.from(
      `${T} stdout F one\n${T} stdout P a\n${T} stderr F err\n${T} stdout F b\n${T} stdout F two\n`,
    );
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [1000]);
    expect(eventsOf(pieces)).toMatchObject([
      { message: 'one' },
      { message: 'ab' },
      { message: 'err' },
      { message: 'two' },
    ]);
    const first = input.indexOf(10) + 1;
    expect(pieces.map(({ to }) => to)).toEqual([first, first, input.lastIndexOf(10, -2) + 1, input.length]);
  });

  test('more events than there is room for come in several blocks', async () => {
    const config = configOf({ format: 'logfmt', maxEventBytes: 1024 });
    const line = `${Array.from({ length: 100 }, (_, n) => `k${n}=`).join(' ')}\n`;
    const input = Buffer.from(line.repeat(900));
    const stats = newStats();
    const pieces = readAll(openLines(config, await loadShaping(config), stats), input, [300_000]);
    expect(pieces).toHaveLength(900);
    expect(stats.slowPathEvents).toBeGreaterThanOrEqual(900);
  });

  test('a line over the limit is not parsed but cut', async () => {
    const config = configOf({ format: 'logfmt', maxEventBytes: 50 });
    const pieces = readAll(
      openLines(config, await loadShaping(config)),
      Buffer.from(`a=${'x'.repeat(100)}\nb=2\n`),
      [1000],
    );
    expect(pieces[0]).toMatchObject({ text: `a=${'x'.repeat(48)}`, marks: { truncated: true, original_bytes: 102 } });
    expect(eventsOf(pieces.slice(1))).toEqual([{ b: '2' }]);
  });

  test('messages of containers are joined by what they say', async () => {
    const T = '2026-11-21T10:15:00Z';
    const config = configOf({ format: 'cri', multiline: multilineOf({ kind: 'continue', pattern: '^\\s' }) });
    const input = Buffer.from(
      ['stderr F Error: x', 'stderr P   at ', 'stderr F a', 'stdout F out', 'stderr F   at b']
        .map((each) => `${T} ${each}\n`)
        .join(''),
    );
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [9]);
    expect(eventsOf(pieces)).toMatchObject([
      { message: 'Error: x\n  at a', stream: 'stderr' },
      { message: 'out', stream: 'stdout' },
      { message: '  at b', stream: 'stderr' },
    ]);
  });

  test('an event that is too large once it is written as JSON is kept in part', async () => {
    const config = configOf({ format: 'logfmt', maxEventBytes: 200_000 });
    const input = Buffer.concat([Buffer.from('a="'), Buffer.alloc(190_000, 1), Buffer.from('"\nb=1\n')]);
    const pieces = readAll(openLines(config, await loadShaping(config)), input, [250_000]);
    const [large, next] = eventsOf(pieces) as { parse_error?: string; message?: string; truncated?: boolean }[];
    expect(large).toMatchObject({
      parse_error: 'too large once it is written as JSON',
      truncated: true,
      original_bytes: 190_004,
    });
    expect(large!.message!.length).toBeGreaterThan(50_000);
    expect(next).toEqual({ b: '1' });
  });
});

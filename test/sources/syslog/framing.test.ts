import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutFrame } from '../../../src/sources/syslog/message/frame.ts';
import { Framer } from '../../../src/sources/syslog/receive/framing.ts';
import type { MessageFrame } from '../../../src/sources/syslog/message/frame.ts';

interface Seen {
  readonly text: string;
  readonly originalBytes?: number | undefined;
}

function seen(frame: MessageFrame): Seen {
  const text = frame.bytes.toString('latin1');
  return frame.originalBytes === undefined ? { text } : { text, originalBytes: frame.originalBytes };
}

function frames(chunks: readonly (Buffer | string)[], maxEventBytes = 100): Seen[] {
  const framer = new Framer(maxEventBytes);
  const result: Seen[] = [];
  const take = (): void => {
    for (let frame = framer.next(); frame !== undefined; frame = framer.next()) result.push(seen(frame));
  };
  for (const chunk of chunks) {
    framer.held.push(Buffer.from(chunk as string, 'latin1'));
    take();
  }
  framer.end();
  take();
  expect([framer.isInside, framer.held.length]).toEqual([false, 0]);
  return result;
}

const texts = (chunks: readonly string[]): string[] => frames(chunks).map(({ text }) => text);

test('framing tells octet counting and newlines apart for each message', () => {
  expect(texts(['7 <13>one<13>two\n8 <13>f\nur<13>five\r\n9 <13>six\r\n'])).toEqual([
    '<13>one',
    '<13>two',
    '<13>f\nur',
    '<13>five',
    '<13>six',
  ]);
});

test('framing takes a line that begins with a number for a line', () => {
  expect(texts(['2024 was a year\n2024-01-01 date\n12\n0 <13>zero\n99999999999 <13>too many digits\n<13>x\n'])).toEqual(
    ['2024 was a year', '2024-01-01 date', '12', '0 <13>zero', '99999999999 <13>too many digits', '<13>x'],
  );
});

test('framing takes a count without a PRI behind it once the sender counts', () => {
  expect(texts(['7 <13>one5 hello7 <13>two'])).toEqual(['<13>one', 'hello', '<13>two']);
});

test('framing drops CR, LF and NUL at the end, and skips empty messages', () => {
  expect(texts(['<13>a\r\n\r\n\n<13>b\0\n\0<13>c\n\0\0<13>d\r\n7 <13>f\r\n2 \r\n6 <13>g\0'])).toEqual([
    '<13>a',
    '<13>b',
    '<13>c',
    '<13>d',
    '<13>f',
    '<13>g',
  ]);
});

test('framing takes a NUL for a delimiter like a newline, and for text in a counted message', () => {
  expect(texts(['<13>a\0<13>b\0<13>c\n7 <13>d\0e<13>f\0'])).toEqual(['<13>a', '<13>b', '<13>c', '<13>d\0e', '<13>f']);
});

test('framing keeps the last message without a delimiter, and marks it when counted bytes are missing', () => {
  expect(frames(['<13>a\n<13>last'])).toEqual([{ text: '<13>a' }, { text: '<13>last' }]);
  expect(frames(['20 <13>la', 'st'])).toEqual([{ text: '<13>last', originalBytes: 20 }]);
  expect(frames(['123'])).toEqual([{ text: '123' }]);
  expect(frames(['20 <'])).toEqual([{ text: '<', originalBytes: 20 }]);
});

test('framing gives a counted message as soon as its last byte is there', () => {
  const framer = new Framer(100);
  framer.held.push(Buffer.from('8 <13>'));
  expect(framer.next()).toBeUndefined();
  framer.held.push(Buffer.from('last'));
  expect(framer.next()?.bytes.toString()).toBe('<13>last');
});

test('framing cuts an oversize message and the next arrives', () => {
  const long = `<13>${'x'.repeat(5000)}`;
  const kept = long.slice(0, 100);
  expect(frames([`${long}\n<13>next\n5004 ${long}9 <13>after`])).toEqual([
    { text: kept, originalBytes: 5004 },
    { text: '<13>next' },
    { text: kept, originalBytes: 5004 },
    { text: '<13>after' },
  ]);
});

test('framing does not tear a character when it cuts', () => {
  for (const before of ['<13>', '<13>x', '<13>xy']) {
    const [frame] = frames([Buffer.from(`${before}${'€'.repeat(100)}\n`)]);
    const fitting = Math.floor((100 - before.length) / 3);
    expect(Buffer.from(frame!.text, 'latin1').toString()).toBe(`${before}${'€'.repeat(fitting)}`);
  }
});

test('framing holds no memory for an absurd count', () => {
  const framer = new Framer(1 << 20);
  framer.held.push(Buffer.from('9999999999 <13>'));
  expect(framer.next()).toBeUndefined();
  for (let n = 0; n < 1000; n += 1) {
    framer.held.push(Buffer.alloc(65_536, 'x'));
    expect(framer.next()).toBeUndefined();
    expect(framer.held.length).toBeLessThan((1 << 20) + 2048);
  }
  framer.end();
  const last = framer.next()!;
  expect([last.bytes.length, last.originalBytes]).toEqual([1 << 20, 9_999_999_999]);
  expect([framer.next(), framer.held.length]).toEqual([undefined, 0]);
});

const content = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ minLength: 90, maxLength: 130 }),
  fc.constantFrom('1', '12 ', '70 <13>a', '9999999 <', '\0', 'a\0b', 'x\r', '2024-01-01', '<13>1 - - - - - -'),
);
const message = fc.tuple(fc.boolean(), content, fc.constantFrom('', '\n', '\r\n', '\0', '\n\0'));

test('framing gives the messages that were sent, for any split', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
      (sent, sizes) => {
        const expected: Seen[] = [];
        let wire = '';
        const counts = sent.some(([isCounted]) => isCounted);
        for (const [isCounted, text, trailer] of sent) {
          // A number at a counted text's end, right before a line, would be that line's count. In a line behind a counted message, a count
          // that agrees with the bytes behind it is a message.
          // eslint-disable-next-line no-control-regex
          const line = (counts ? text.replaceAll(' <', ' -') : text).replace(/[\n\0]/g, ' ');
          const clean = `<13>${isCounted ? text.replace(/\d $/, 'x') : line}`;
          wire += isCounted
            ? `${clean.length + trailer.length} ${clean}${trailer}`
            : `${clean}${trailer.replaceAll('\n', '')}\n`;
          // eslint-disable-next-line no-control-regex
          const whole = clean.replace(/[\0\r\n]+$/, '');
          expected.push(
            whole.length > 100 ? { text: whole.slice(0, 100), originalBytes: whole.length } : { text: whole },
          );
        }
        const chunks: string[] = [];
        for (let at = 0, n = 0; at < wire.length; n += 1) chunks.push(wire.slice(at, (at += sizes[n % sizes.length]!)));
        expect(frames(chunks)).toEqual(expected);
        expect(frames([wire])).toEqual(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

test('framing gives the same lines for any bytes, whatever the split', () => {
  const bytes = fc.array(
    fc.oneof(fc.constantFrom('<13>', '\n', '\0', '\r', '1', '12', '150', ' ', '9'), fc.string({ maxLength: 60 })),
    {
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 20 }), (parts, size) => {
      const wire = parts.join('').replaceAll(' <', ' -');
      const chunks = wire.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(frames(chunks)).toEqual(frames([wire]));
    }),
    { numRuns: 2000 },
  );
});

test('a whole message over the limit is cut', () => {
  expect(seen(cutFrame(Buffer.from('<13>a'), 100))).toEqual({ text: '<13>a' });
  expect(seen(cutFrame(Buffer.alloc(200, 'x'), 100))).toEqual({ text: 'x'.repeat(100), originalBytes: 200 });
});

describe('framing in parts', () => {
  const parts = (chunks: readonly (Buffer | string)[]): MessageFrame[] => {
    const framer = new Framer(100, true);
    const result: MessageFrame[] = [];
    const take = (): void => {
      for (let frame = framer.next(); frame !== undefined; frame = framer.next()) result.push(frame);
    };
    for (const chunk of chunks) {
      framer.held.push(Buffer.from(chunk as string, 'latin1'));
      take();
    }
    framer.end();
    take();
    expect([framer.isInside, framer.held.length]).toEqual([false, 0]);
    return result;
  };
  const shown = (frames: readonly MessageFrame[]): unknown[] =>
    frames.map(({ bytes, part }) => [bytes.toString('latin1'), ...(part ? [part.number, part.isLast] : [])]);

  test('gives a message over the limit as it fills, and others whole', () => {
    const long = `<13>${'a'.repeat(246)}`;
    expect(shown(parts([`<13>x\n${long}\n${'y'.repeat(100)}\r\n250 ${long}<13>z`]))).toEqual([
      ['<13>x'],
      [long.slice(0, 100), 1, false],
      [long.slice(100, 200), 2, false],
      [long.slice(200), 3, true],
      ['y'.repeat(100)],
      [long.slice(0, 100), 1, false],
      [long.slice(100, 200), 2, false],
      [long.slice(200), 3, true],
      ['<13>z'],
    ]);
  });

  test('tears no character, and marks the last part when the connection ends before the message', () => {
    const frames = parts([Buffer.from(`600 <13>${'€'.repeat(100)}`)]);
    expect(Buffer.concat(frames.map(({ bytes }) => bytes)).toString()).toBe(`<13>${'€'.repeat(100)}`);
    expect(frames.every(({ bytes }) => !bytes.toString().includes('\uFFFD'))).toBe(true);
    expect(frames.at(-1)).toMatchObject({ isCutOff: true, part: { isLast: true } });
  });

  test('takes a message that only its trailers make too long for one that is not', () => {
    const text = 'y'.repeat(100);
    expect(shown(parts([text, '\r', '\r', '\n<13>z\n']))).toEqual([[text], ['<13>z']]);
    expect(shown(parts([`${text}\r`, '\r', 'x\n']))).toEqual([
      [text, 1, false],
      ['\r\rx', 2, true],
    ]);
  });

  test('holds a bounded run of trailers, and drops those that end the message', () => {
    const run = '\r'.repeat(1030);
    expect(shown(parts([`${'y'.repeat(90)}${run}`, '\r'.repeat(100), '\r\n<13>z\n']))).toEqual([
      [`${'y'.repeat(90)}${'\r'.repeat(10)}`, 1, false],
      ['', 2, true],
      ['<13>z'],
    ]);
  });

  test('gives the same parts for any bytes, whatever the split, and all of the message', () => {
    const full = fc.integer({ min: 97, max: 102 }).map((length) => 'f'.repeat(length));
    const piece = fc.oneof(
      full,
      fc.constantFrom('<13>', '\n', '\0', '\r', '\r\r', 'é', '€€€'),
      fc.string({ maxLength: 90 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 150 }), (pieces, size) => {
        const wire = Buffer.from(pieces.join(''));
        const chunks = Array.from({ length: Math.ceil(wire.length / size) }, (_, n) =>
          wire.subarray(n * size, (n + 1) * size),
        );
        const given = parts(chunks);
        expect(shown(given)).toEqual(shown(parts([wire])));
        const whole: Buffer[] = [];
        let open: Buffer[] = [];
        for (const { bytes, part } of given) {
          expect(bytes.length).toBeLessThanOrEqual(100);
          expect(part === undefined || part.number === open.length + 1).toBe(true);
          open.push(bytes);
          if (part?.isLast === false) continue;
          whole.push(Buffer.concat(open));
          open = [];
        }
        expect(open).toEqual([]);
        expect(whole.map(String)).toEqual(
          frames([wire], 1 << 20).map(({ text }) => Buffer.from(text, 'latin1').toString()),
        );
      }),
      { numRuns: 3000 },
    );
  });
});

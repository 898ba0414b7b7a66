/** Lines as text: escaping, repair, line ends, the event's keys. */
import { describe, expect, test } from 'vitest';
import { eventText } from './drive.ts';

const TIME = '2026-11-21T10:15:00.000Z';
const readAtMs = Date.parse(TIME);
const text = (line: string | Uint8Array) => eventText(line, { format: 'text' }, { readAtMs });
const event = (message: string, rest = '') => `{"_time":"${TIME}","message":"${message}"${rest}}\n`;
const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('a text line', () => {
  test('becomes the message, with its time to the millisecond', () => {
    expect(text('plain words')).toBe(event('plain words'));
    expect(eventText('x', { format: 'text' }, { readAtMs: readAtMs + 7 })).toContain('"2026-11-21T10:15:00.007Z"');
  });

  test('keeps a time within the four-digit years, whatever the clock says', () => {
    expect(eventText('x', { format: 'text' }, { readAtMs: -1 })).toContain('"1970-01-01T00:00:00.000Z"');
    expect(eventText('x', { format: 'text' }, { readAtMs: 8e15 })).toContain('"9999-12-31T23:59:59.999Z"');
  });

  test('loses one trailing CR and no other', () => {
    expect(text('a\r')).toBe(event('a'));
    expect(text('a\r\r')).toBe(event('a\\r'));
    expect(text('a\rb')).toBe(event('a\\rb'));
    expect(text('\r\r')).toBe(event('\\r'));
  });

  test('is skipped when nothing is left of it', () => {
    expect(text('')).toBe('');
    expect(text('\r')).toBe('');
    expect(text(' ')).toBe(event(' '));
  });

  test('is escaped by the rules of JSON, and only where they ask for it', () => {
    expect(text('"\\/')).toBe(event('\\"\\\\/'));
    expect(text('\b\t\f\v\0\x1b\x1f\x7f')).toBe(event('\\b\\t\\f\\u000b\\u0000\\u001b\\u001f\x7f'));
    for (let code = 0; code < 0x20; code++) {
      if (code === 0x0a) continue;
      const char = String.fromCharCode(code);
      expect(text(`a${char}b`)).toBe(event(`a${JSON.stringify(char).slice(1, -1)}b`));
    }
  });

  test('keeps valid UTF-8 as it is, the byte order mark and the last code point too', () => {
    for (const valid of [
      'é',
      '\u07ff',
      '\u0800',
      '\ud7ff',
      '\ue000',
      '\ufeff',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
      'αβγδε ζηθικ',
      '日本語のログ行です',
      '👩‍💻😀',
    ]) {
      expect(text(`0123456789abc${valid}`)).toBe(event(`0123456789abc${valid}`));
      expect(text(valid.repeat(9))).toBe(event(valid.repeat(9)));
    }
  });

  // As TextDecoder does it: one U+FFFD for each maximal part of a sequence.
  test.each([
    ['a lone continuation byte', '80', 1],
    ['two of them', '80 bf', 2],
    ['a byte that never occurs', 'ff', 1],
    ['an overlong of two bytes', 'c0 af', 2],
    ['an overlong of three bytes', 'e0 80 af', 3],
    ['the longest overlong of three bytes', 'e0 9f bf', 3],
    ['an overlong of four bytes', 'f0 8f bf bf', 4],
    ['a high surrogate', 'ed a0 80', 3],
    ['a pair of surrogates', 'ed a0 bd ed b8 80', 6],
    ['a code point past the last', 'f4 90 80 80', 4],
    ['a lead of five bytes', 'f8 88 80 80 80', 5],
    ['a sequence of two cut short', 'c3', 1],
    ['a sequence of three cut after two', 'e2 82', 1],
    ['a sequence of four cut after three', 'f0 9f 98', 1],
    ['a sequence of four cut after two', 'f0 9f', 1],
    ['a cut sequence before a lead', 'e2 82 e2 82', 2],
  ])('%s becomes U+FFFD', (_, hex, count) => {
    for (const before of ['', 'x', '0123456789abcd', 'ααααααα', '日本語日']) {
      const line = Buffer.concat([Buffer.from(before), bytes(hex), Buffer.from('z')]);
      expect(text(line)).toBe(event(`${before}${'\ufffd'.repeat(count)}z`));
      expect(text(line.subarray(0, -1))).toBe(event(before + '\ufffd'.repeat(count)));
    }
  });
});

describe('the keys of a wrapped line', () => {
  const keys = (shape: Parameters<typeof eventText>[1], plan: Parameters<typeof eventText>[2] = {}) =>
    eventText('x', { format: 'text', ...shape }, { readAtMs, ...plan });

  test('are the wrap fields, then the fields', () => {
    expect(keys({ wrapFields: { host: 'h', file: '/a "b"' }, fields: { env: 'prod', n: [1, { a: null }] } })).toBe(
      event('x', ',"host":"h","file":"/a \\"b\\"","env":"prod","n":[1,{"a":null}]'),
    );
  });

  test('appear once: a field wins over a wrap field of its name', () => {
    expect(keys({ wrapFields: { host: 'h', file: 'f' }, fields: { host: 'mine' } })).toBe(
      event('x', ',"host":"mine","file":"f"'),
    );
  });

  test('cannot be taken by fields named as the event names its own', () => {
    const fields = { _time: 1, message: 2, parse_error: 3, truncated: 4, original_bytes: 5 };
    expect(keys({ fields })).toBe(event('x', ',"parse_error":3,"truncated":4,"original_bytes":5'));
    expect(keys({ format: 'json', fields })).toBe(
      event('x', ',"parse_error":"not a JSON object","truncated":4,"original_bytes":5'),
    );
    expect(keys({ fields }, { marks: { truncated: true, original_bytes: 9 } })).toBe(
      event('x', ',"truncated":true,"original_bytes":9,"parse_error":3'),
    );
  });

  test('say that the line was cut, also for a line that is a JSON object', () => {
    const plan = { readAtMs, marks: { truncated: true, original_bytes: 5_000_000 } };
    expect(eventText('{"a":1}', { format: 'auto' }, plan)).toBe(
      event('{\\"a\\":1}', ',"truncated":true,"original_bytes":5000000'),
    );
    expect(eventText('{"a":1}', { format: 'auto' }, { readAtMs, marks: { part: 3, part_last: true } })).toBe(
      event('{\\"a\\":1}', ',"part":3,"part_last":true'),
    );
  });
});

describe('lines joined to one event', () => {
  const joined = (lines: string, format: 'text' | 'auto' = 'text') =>
    eventText(lines, { format }, { readAtMs, isJoined: true });

  test('have their newlines in the message, without CRs before them', () => {
    expect(joined('a\n\tat b\r\n\n"c"\r')).toBe(event('a\\n\\tat b\\n\\n\\"c\\"'));
    expect(joined('a\r\r\nb\rc')).toBe(event('a\\r\\nb\\rc'));
  });

  test('lose the empty ones at both ends, and are skipped when all are empty', () => {
    expect(joined('\n\r\na\n\n\r\n\r')).toBe(event('a'));
    expect(joined('\n\r\n')).toBe('');
  });

  test('pass through as JSON only where one line is left', () => {
    expect(joined('\n{"_time":1}\r\n', 'auto')).toBe('{"_time":1}\n');
    expect(joined('{"_time":1}\nx', 'auto')).toBe(event('{\\"_time\\":1}\\nx'));
    expect(joined('{\n"_time":1}', 'auto')).toBe(event('{\\n\\"_time\\":1}'));
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytePrefixOf, hasPrefix } from '../../src/parsers/text/byte-prefix.ts';
import { compileGroupPattern, compilePattern } from '../../src/parsers/text/pattern.ts';
import { words } from '../support/words.ts';

/** Patterns as people use them, and how each is decided: by bytes alone, by bytes first, or not by bytes. */
const PATTERNS: readonly (readonly [pattern: string, told: 'whole' | 'first' | 'no'])[] = [
  ['^\\d{4}-\\d{2}-\\d{2}', 'whole'],
  ['^\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}', 'whole'],
  ['^\\[', 'whole'],
  ['^\\s', 'whole'],
  ['^\\S', 'whole'],
  ['^[^\\s]', 'whole'],
  ['^[ \\t]+', 'whole'],
  ['^[A-Z][a-z]{2} +\\d', 'first'],
  ['^(INFO|WARN|ERROR)', 'no'],
  ['^\\d+ (INFO|WARN)', 'first'],
  ['^\\d{4}-\\d{2}-\\d{2} (INFO|WARN)', 'first'],
  ['^\\s+at |^Caused by', 'no'],
  ['^(?:\\s+at |Caused by)', 'no'],
  ['ERROR', 'no'],
  ['^a$', 'first'],
  ['^a?b', 'no'],
  ['^é', 'no'],
  ['^.x', 'no'],
  ['^[]x]', 'whole'],
  ['^[a\\]-]', 'whole'],
  ['^\\S{3}', 'first'],
  ['^\\S+', 'whole'],
  ['^\\w{2,5}', 'whole'],
  ['^x{0}y', 'whole'],
  ['^\\D1', 'first'],
  ['(?i)^error', 'no'],
  ['^', 'whole'],
];

test.each(PATTERNS)('pattern %s is decided by its first bytes: %s', (pattern, told) => {
  const prefix = bytePrefixOf(pattern);
  expect(prefix === undefined ? 'no' : prefix.isWhole ? 'whole' : 'first').toBe(told);
});

const line = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', 'x', 'y', 'A', 'E', ' ', '\t', '1', '2', '-', '[', ']', ':', 'é', '€'),
    maxLength: 12,
  }),
  fc.constantFrom(
    '2026-11-21 INFO x',
    '2026-11-21T10:15',
    'ERROR a',
    'Caused by: x',
    '  at y',
    'Nov  1 10:00',
    '12 WARN',
    '',
  ),
);

test.each(PATTERNS)('pattern %s says of any line what a regular expression says', async (source) => {
  const pattern = await compilePattern(source);
  const flags = source.startsWith('(?i)') ? 'i' : '';
  const oracle = new RegExp(source.replace('(?i)', '').replace('[]x]', '[\\]x]'), flags);
  fc.assert(
    fc.property(line, (text) => {
      const bytes = Buffer.from(`>>${text}<<`);
      expect(pattern.test(bytes, 2, bytes.length - 2)).toBe(oracle.test(text));
    }),
    { numRuns: 400 },
  );
});

describe('bytePrefixOf', () => {
  test('never demands what a match has not', () => {
    const part = fc.constantFrom(...words`a \d \s [ab] [^ab] . (a|b) a+ b* a? \d{2} [a-c]{1,2} $ | \S é`);
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(line, { minLength: 5, maxLength: 5 }),
        (parts, lines) => {
          const source = `^${parts.join('')}`;
          const prefix = bytePrefixOf(source);
          if (!prefix) return;
          const oracle = new RegExp(source, 'u');
          for (const text of lines) {
            const bytes = Buffer.from(text);
            const found = hasPrefix(prefix, bytes, 0, bytes.length);
            if (prefix.isWhole) expect(found).toBe(oracle.test(text));
            else if (oracle.test(text)) expect(found).toBe(true);
          }
        },
      ),
      { numRuns: 5000 },
    );
  });
});

test.each(['(a+)+$', '(.*a){20}b', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y'])(
  'pattern %s costs as much as a hostile line is long',
  async (source) => {
    const pattern = await compilePattern(source);
    const bytes = Buffer.from(`${'a'.repeat(200_000)}${'x'.repeat(200_000)}!`);
    expect(pattern.test(bytes, 0, bytes.length)).toBe(false);
  },
  20_000,
);

test('pattern that cannot be used is refused by name', async () => {
  await expect(compilePattern('(?=a)b')).rejects.toMatchObject({
    code: 'E_PATTERN',
    message: expect.stringContaining('`(?=a)b`'),
  });
  await expect(compileGroupPattern('(a')).rejects.toMatchObject({ code: 'E_PATTERN' });
});

test('groups of a pattern are the named ones that took part', async () => {
  const pattern = await compileGroupPattern('^(?<level>\\w+)(?: \\[(?<thread>[^\\]]+)\\])? (?P<message>.*)$');
  expect(pattern.names).toEqual(['level', 'thread', 'message']);
  expect(pattern.groups('INFO [main] héllo')).toEqual({ level: 'INFO', thread: 'main', message: 'héllo' });
  expect(pattern.groups('INFO hello')).toEqual({ level: 'INFO', message: 'hello' });
  expect(pattern.groups('')).toBeUndefined();
});

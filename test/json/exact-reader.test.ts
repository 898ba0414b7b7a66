/** The JSON reader that loses nothing, against JSON.parse. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonText, parseExact, writeExact } from '../../src/json/exact-reader.ts';
import { words } from '../support/words.ts';

test('reads and writes whatever JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(writeExact(parseExact(text)))).toEqual(JSON.parse(text));
      expect(parseExact(JSON.stringify(value, null, 2))).toEqual(parseExact(text));
    }),
  );
});

test('accepts exactly the texts that JSON.parse accepts', () => {
  const pieces = fc.constantFrom(
    ...words`{ } [ ] : , "a" "\" "\u00e9" 1 -0 01 1. .5 1e5 true nul "`,
    ' ',
    '\n',
    '\\',
    '\u0000',
    '\u{1f600}',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const accepts = (parse: (text: string) => unknown): boolean => {
        try {
          parse(text);
          return true;
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
          return false;
        }
      };
      expect(accepts(parseExact)).toBe(accepts(JSON.parse));
    }),
    { numRuns: 5000 },
  );
});

test('integers of 64 bits are exact, larger ones and overflowing floats keep their text', () => {
  expect(parseExact('[9007199254740993,-9223372036854775808,1.0,1e2]')).toEqual([
    9007199254740993n,
    -9223372036854775808n,
    1,
    100,
  ]);
  expect(parseExact('[9223372036854775808,1e999]')).toEqual([
    new JsonText('9223372036854775808'),
    new JsonText('1e999'),
  ]);
  expect(parseExact('[1e-400,0e-400,-0.0]')).toEqual([new JsonText('1e-400'), 0, -0]);
});

test('a string of 5 MB and nesting of 100,000 are bounded work', () => {
  const long = 'x\\"'.repeat(1_700_000);
  expect((parseExact(`"${long}"`) as string).length).toBe(3_400_000);
  expect(() => parseExact('['.repeat(100_000))).toThrow(/nested deeper/);
});

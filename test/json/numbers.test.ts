import { expect, test } from 'vitest';
import { isRawNumber, parseLongIntegers, rawNumber } from '../../src/json/numbers.ts';

const parse = (text: string): unknown => parseLongIntegers(text, rawNumber);

test.each([
  ['{"a":9007199254740993,"b":[-9223372036854775808,1.5,1e300]}'],
  ['{"n":12345678901234567890123}'],
  ['{"text":"9007199254740993","n":1}'],
])('exact JSON gives %s back as it was', (text) => {
  expect(JSON.stringify(parse(text))).toBe(text.replace('1e300', '1e+300'));
});

test('exact JSON keeps a number wherever a number is exact', () => {
  const { a, b, c } = parse('{"a":9007199254740991,"b":9007199254740993,"c":0.1234567890123456}') as Record<
    string,
    unknown
  >;
  expect([a, c]).toEqual([9007199254740991, 0.1234567890123456]);
  expect(isRawNumber(b) && b.rawJSON).toBe('9007199254740993');
});

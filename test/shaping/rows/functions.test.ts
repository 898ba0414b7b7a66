/** Values beyond the cases of the functions. */
import { expect, test } from 'vitest';
import { MAX_FIELD_PATTERN_CHARS } from '../../../src/shaping/limits.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { context, rowOf } from './support.ts';

/** The value of an expression as JSON; `null` where the key stays absent. */
function valueOf(expression: string, event = '{}'): string {
  const [row] = compileRows(`project v = ${expression}`, { from: 'test' }).run(rowOf(event), context);
  return writeJson(row!.get('v') ?? null);
}

const EVENT = '{"t":"text","a":[1,"x",null],"o":{"k":1},"big":9223372036854775807}';

test.each([
  ['big', '9223372036854775807'],
  ['-0.0', '0'],
  ['-1.5ms', '"-1.5ms"'],
  // The read's time is the query's.
  ['now()', '"2026-11-22T16:08:49Z"'],
  ['ago(90s)', '"2026-11-22T16:07:19Z"'],
  ['_time', '"2026-11-22T16:08:49Z"'],
  // Inside arrays and objects.
  ['a[0]', '1'],
  ['a[-1]', 'null'],
  ['a[1]', '"x"'],
  ['a[5]', 'null'],
  ['o.k', '1'],
  ["o['k']", '1'],
  ['o.none', 'null'],
  ['t[0]', 'null'],
])('%s is %s', (expression, expected) => {
  expect(valueOf(expression, EVENT)).toBe(expected);
});

test('a float that a step made stays one in the next', () => {
  const [row] = compileRows('extend x = 8.0 / 2 | extend y = x / 8, z = gettype(x)', { from: 'test' }).run(
    rowOf('{}'),
    context,
  );
  expect(writeJson(Object.fromEntries(row!))).toBe('{"x":4,"y":0.5,"z":"real"}');
});

test('invalid units of a text become U+FFFD at the latest where bytes are made of it', () => {
  expect(valueOf('url_encode(t)', String.raw`{"t":"\ud800"}`)).toBe('"%EF%BF%BD"');
  expect(valueOf('strlen(t)', String.raw`{"t":"\ud800a"}`)).toBe('2');
});

test('a regular expression from a field does not match when it has more than 256 characters, as each may cost as much as the text', () => {
  const found = (length: number): string =>
    valueOf('a matches regex b', JSON.stringify({ a: 'x'.repeat(999), b: 'x'.repeat(length) }));
  expect([found(MAX_FIELD_PATTERN_CHARS), found(MAX_FIELD_PATTERN_CHARS + 1)]).toEqual(['true', 'false']);
});

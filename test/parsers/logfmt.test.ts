import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { logfmtParser } from '../../src/parsers/formats/logfmt.ts';

const parse = (text: string): unknown => JSON.parse(JSON.stringify(logfmtParser.parse(text)[0]));

test.each([
  ['level=info msg="user logged in" user=42', { level: 'info', msg: 'user logged in', user: '42' }],
  [
    'ts=2026-11-21T10:15:00Z caller=main.go:12 err="dial tcp: lookup db: no such host"',
    { ts: '2026-11-21T10:15:00Z', caller: 'main.go:12', err: 'dial tcp: lookup db: no such host' },
  ],
  ['  a=1\tb=2  ', { a: '1', b: '2' }],
  ['a= b=2', { a: '', b: '2' }],
  ['a="" b', { a: '', b: true }],
  ['debug a=1 fatal', { debug: true, a: '1', fatal: true }],
  ['q="a \\"quoted\\" \\\\ word\\n\\tline \\u00e9 \\x"', { q: 'a "quoted" \\ word\n\tline é x' }],
  ['a=1 a=2 a=3', { a: ['1', '2', '3'] }],
  ['query=a=b&c=d', { query: 'a=b&c=d' }],
  ['größe=ü', { größe: 'ü' }],
  ['__proto__=x constructor=y', JSON.parse('{"__proto__":"x","constructor":"y"}')],
])('logfmt %s', (text, event) => {
  expect(parse(text)).toEqual(event);
});

test.each([
  ['just some words', 'no key=value pair'],
  ['', 'no key=value pair'],
  ['=x', 'no key at character 1'],
  ['a=1 "b"=2', 'no key at character 5'],
  ['a="never closed', 'a quote that is not closed at character 3'],
  ['a="x"y', 'a quote in a value at character 6'],
  ['a=x"y', 'a quote in a value at character 4'],
])('logfmt keeps what it cannot parse: %s', (text, reason) => {
  expect(parse(text)).toEqual({ message: text, parse_error: reason });
});

test('logfmt takes any text, gives the pairs written, and never crashes', () => {
  const key = fc.stringMatching(/^[a-z_.]{1,8}$/);
  const pair = fc.tuple(key, fc.string({ unit: 'grapheme', maxLength: 12 }));
  fc.assert(
    fc.property(fc.uniqueArray(pair, { selector: ([name]) => name, minLength: 1, maxLength: 6 }), (pairs) => {
      const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
      const text = pairs.map(([name, value]) => `${name}=${quote(value)}`).join(' ');
      expect(parse(text)).toEqual(Object.fromEntries(pairs));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '=', '"', '\\', ' ', '\n', 'é'), maxLength: 30 }), (text) => {
      expect(logfmtParser.parse(text)).toHaveLength(1);
    }),
    { numRuns: 3000 },
  );
});

test('logfmt costs as much as a line is long, whatever its text', () => {
  for (const text of [
    'a="'.repeat(300_000),
    '\\"'.repeat(500_000),
    `a="${'\\'.repeat(1_000_001)}`,
    'a=b '.repeat(250_000),
    ' '.repeat(1_000_000),
  ]) {
    expect(logfmtParser.parse(text)).toHaveLength(1);
  }
});

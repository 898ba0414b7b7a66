/**
 * Detectors and regular expressions on lines that nobody means well with. `email` and `credit_card` held the agent's only thread for seconds over
 * a line of 1 MiB, and all matches of a pattern that reads far ahead took the square of its length.
 */
import { expect, test } from 'vitest';
import { REDACTION_KINDS } from '../../../src/shaping/redact/redact.ts';
import { creditCard, email } from '../../../src/shaping/redact/persons.ts';
import { screenOf } from '../../../src/shaping/redact/screens.ts';
import { Regex } from '../../../src/shaping/rows/call/regex.ts';
import { outcomeOf, seeded, stagesOf } from '../bytes/agreement.ts';
import { words } from '../../support/words.ts';

const MIB = 1024 * 1024;

/** What the detectors promise, in as few words as possible and without a bound of work. */
function* simpleEmails(text: string): Generator<{ start: number; end: number }> {
  const domain = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}\p{L}{2,24}/uy;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < 64 && /[\p{L}\p{N}._%+-]/u.test(text[start - 1]!)) start--;
    domain.lastIndex = at + 1;
    if (start < at && domain.test(text)) yield { start, end: domain.lastIndex };
  }
}

/** The digits doubled from the second last on, 9 taken off where that gives two, add up to a multiple of 10. */
function isLuhn(digits: string): boolean {
  const values = Array.from(digits, Number)
    .toReversed()
    .map((digit, n) => (n % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2));
  return values.reduce((sum, value) => sum + value, 0) % 10 === 0;
}

/** The first four digits of issuers, from and to, and how many digits their numbers have. */
const ISSUED: readonly (readonly [from: number, to: number, ...lengths: number[]])[] = [
  [4000, 4999, 13, 16, 19],
  [5100, 5599, 16],
  [2221, 2720, 16],
  [3400, 3499, 15],
  [3700, 3799, 15],
  [3000, 3059, 14],
  [3600, 3699, 14],
  [3800, 3999, 14],
  ...[
    [6011, 6011],
    [6440, 6599],
    [6200, 6299],
    [3528, 3589],
    [2200, 2204],
  ].map(([from, to]) => [from!, to!, 16, 17, 18, 19] as const),
  ...[5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763].map(
    (prefix) => [prefix, prefix, 13, 14, 15, 16, 17, 18, 19] as const,
  ),
];
const SHAPE = /^(?:\d{13,19}|\d{4}(?: \d{4}){3}(?: \d{3})?|\d{4}(?:-\d{4}){3}(?:-\d{3})?|\d{4}([ -])\d{6}\1\d{4,5})$/;

function* simpleCards(text: string): Generator<{ start: number; end: number }> {
  for (let start = 0; start < text.length; start++) {
    const end =
      start > 0 && /[\p{L}\p{N}_.+-]/u.test(text[start - 1]!)
        ? undefined
        : ends(text, start).findLast((each) => isCard(text.slice(start, each)));
    if (end !== undefined) yield { start, end };
  }
}

const ends = (text: string, start: number): number[] =>
  Array.from({ length: 23 }, (_, n) => start + n + 1).filter(
    (end) => end <= text.length && !/^(?:[\p{L}\p{N}_-]|\.\d)/u.test(text.slice(end)),
  );

function isCard(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, '');
  const first = Number(digits.slice(0, 4));
  return (
    SHAPE.test(text) &&
    isLuhn(digits) &&
    ISSUED.some(([from, to, ...lengths]) => first >= from && first <= to && lengths.includes(digits.length))
  );
}

test('email and credit_card find what their patterns say', () => {
  const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? 15);
  const random = seeded(seed);
  const pieces = [
    ...words`a b.c @ . - _ é com example.com 1 12 55 9 378282246310005 2`,
    '😀',
    '4111 1111 1111 1111',
    ' ',
    'x'.repeat(70),
    'a.'.repeat(9),
    '0',
    '1.1',
    'Ⅷ',
  ];
  for (let n = 0; n < 30_000; n++) {
    const chars = n % 3 === 0 ? '0123456789 -4'.split('') : pieces;
    const text = Array.from({ length: n % 3 === 0 ? 30 : 1 + random(12) }, () => chars[random(chars.length)]).join('');
    expect([...email(text)], `seed ${seed}: ${text}`).toEqual([...simpleEmails(text)]);
    expect([...creditCard(text)], `seed ${seed}: ${text}`).toEqual([...simpleCards(text)]);
  }
});

test('screen of each kind lets nothing through that its detector finds', () => {
  const random = seeded(7);
  const pieces = [
    'Bearer abcdefg',
    'basic YTpi',
    '://a:b@',
    'eyJaaaaa.bbbbb.',
    'a@b.cc',
    '4111111111111111',
    '-----BEGIN RSA PRIVATE KEY-----',
    `ghp_${'a'.repeat(36)}`,
    'xapp-1234567890',
    'sk_live_abcdefghijk',
    'AIzaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'AKIAABCDEFGHIJKLMNOP',
    `aws_secret_key=${'a'.repeat(40)}`,
    ' ',
    'x',
    '1',
  ];
  for (const kind of REDACTION_KINDS) {
    const screen = screenOf([kind]);
    if (!screen) continue;
    const [bytes, values] = stagesOf(`extend m = redact(m, "${kind}")`);
    const lines = Array.from({ length: 500 }, () =>
      JSON.stringify({ m: Array.from({ length: 1 + random(4) }, () => pieces[random(pieces.length)]).join('') }),
    );
    expect(outcomeOf(bytes!, lines)).toEqual(outcomeOf(values!, lines));
  }
});

test.for([
  ['a(.*b)?', 'a'],
  ['a.*b|a', 'a'],
  ['(x+x+)+y|x', 'x'],
])('all matches of %s in a long line end with an error, not with the square of its length', ([pattern, unit]) => {
  expect(() => [...new Regex(pattern!).matches(unit!.repeat(MIB / 8))]).toThrow(RangeError);
});

test.for([
  ['(\\w)', 'a', MIB / 4],
  ['id=(\\w+)', 'id=x ', MIB / 20],
  ['', 'a', MIB / 4 + 1],
])('all matches of %s in a long line are found', ([pattern, unit, matches]) => {
  const text = (unit as string).repeat(MIB / 4 / (unit as string).length);
  expect([...new Regex(pattern as string).matches(text)]).toHaveLength(Math.floor(matches as number));
});

test('event whose text a pattern reads too often is kept, with the step and nothing of the text', () => {
  const [stage] = stagesOf('extend found = extract_all(@"(a.*b|a)", m)');
  const [line] = outcomeOf(stage!, [JSON.stringify({ m: 'a'.repeat(100_000) })]).lines;
  expect(JSON.parse(line!)).toEqual({
    m: 'a'.repeat(100_000),
    transform_error: expect.stringMatching(
      /^extend at 1:1: the regular expression would read a text of 100000 characters more than 8 times$/,
    ),
  });
});

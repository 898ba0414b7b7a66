/** Patterns that JavaScript's engine runs: which they are, and that they find what the engine of RE2 finds. */
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { plainPattern } from '../../../src/shaping/rows/values/plain-pattern.ts';
import { Regex, type RegexMatch } from '../../../src/shaping/rows/call/regex.ts';
import { seeded } from '../bytes/agreement.ts';
import { words } from '../../support/words.ts';

test.for([
  ...words`user=(\w+) /(\w+)/\d+$ ^(\d{1,3})\.(\d{1,3}) "([^"]*)" (\d+)ms`,
  '',
  '\\[([^\\]]+)\\] (\\S+)',
  'id: ?([a-f0-9-]{36})',
])('%s is plain', (pattern) => {
  expect(plainPattern(pattern)).toBeInstanceOf(RegExp);
});

test.for(words`
  a|b (a)* (?i)a (?:a) \bx \w+\d .*x a*a x+? a?b?a é [é] [[:alpha:]] \pL [^a] . \W x{2}{3} a{,2} (a a) [a-\d] a$b a^b \xff
  [+--]
`)('%s is not', (pattern) => {
  expect(plainPattern(pattern)).toBeUndefined();
});

/** Every match by the engine of RE2 alone. */
function matchesOfRe2(pattern: string, text: string): RegexMatch[] {
  const engine = RE2JS.compile(pattern);
  const found: RegexMatch[] = [];
  const matcher = engine.matcher(text);
  for (let at = 0; at <= text.length && matcher.find(at);) {
    const [start, end] = [matcher.start(), matcher.end()];
    found.push({
      start,
      end,
      groups: Array.from({ length: engine.groupCount() + 1 }, (_, n) => matcher.group(n) ?? ''),
    });
    at = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xff_ff ? 2 : 1);
  }
  return found;
}

test('plain patterns find what the engine of RE2 finds', () => {
  const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? 15);
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const atoms = [...words`a b 1 / \d \w \s \S \D \W . [ab] [^a] [^"] [a-c1-3] [\w.-] \. " = \n [^\s"] []a] -`, ' '];
  const chars = [
    'a',
    'b',
    'c',
    '1',
    '2',
    ' ',
    '/',
    '.',
    '"',
    '=',
    '\n',
    '\u00a0',
    'é',
    '😀',
    '\ud800',
    '-',
    '_',
    '\u2028',
    '\v',
    '\r',
  ];
  let plain = 0;
  for (let n = 0; n < 60_000; n++) {
    const parts = Array.from({ length: 1 + random(4) }, () => {
      const atom = pick(atoms) + pick(['', '', '+', '*', '?', '{2}', '{1,3}', '{2,}']);
      return random(3) === 0 ? `(${atom})` : atom;
    });
    const pattern = `${random(6) === 0 ? '^' : ''}${parts.join('')}${random(5) === 0 ? '$' : ''}`;
    if (!plainPattern(pattern)) continue;
    plain += 1;
    const text = Array.from({ length: random(24) }, () => pick(chars)).join('');
    const regex = new Regex(pattern);
    const wanted = matchesOfRe2(pattern, text);
    expect([...regex.matches(text)], `seed ${seed}: ${pattern} in ${JSON.stringify(text)}`).toEqual(wanted);
    expect(regex.test(text)).toBe(wanted.length > 0);
    expect(regex.first(text)).toEqual(wanted[0]);
  }
  expect(plain).toBeGreaterThan(5000);
});

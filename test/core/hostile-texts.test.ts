/** Small helpers that replace patterns of quadratic or endless time: compared with those patterns on short texts. */
import { expect, test } from 'vitest';
import { trimEndOf } from '../../src/core/text/trim-end.ts';
import { fitsWildcards } from '../../src/core/text/wildcards.ts';
import { seeded } from '../shaping/bytes/agreement.ts';

test('trimEndOf takes off what the pattern takes off', () => {
  const random = seeded(3);
  for (let n = 0; n < 2000; n++) {
    const text = Array.from({ length: random(8) }, () => 'a/. '[random(4)]).join('');
    expect(trimEndOf(text, '/.')).toBe(text.replace(/[/.]+$/, ''));
  }
});

test('fitsWildcards says what the pattern says', () => {
  const random = seeded(4);
  for (let n = 0; n < 20_000; n++) {
    const name = Array.from({ length: random(8) }, () => 'ab?*\n'[random(5)]).join('');
    const pattern = Array.from({ length: random(8) }, () => 'ab?**'[random(5)]).join('');
    for (const wildcards of ['*', '*?'] as const) {
      const one = wildcards === '*' ? String.raw`\?` : '.';
      const wanted = new RegExp(`^${pattern.replaceAll('?', one).replaceAll('*', '.*')}$`, 's').test(name);
      expect(fitsWildcards(name, pattern, wildcards), `${pattern} ${name}`).toBe(wanted);
    }
  }
});

test('pattern of sixty stars holds nobody up', () => {
  expect(fitsWildcards('a'.repeat(250), `${'*'.repeat(60)}x`, '*')).toBe(false);
  expect(fitsWildcards('a'.repeat(250), `${'*a'.repeat(60)}x`, '*')).toBe(false);
  expect(fitsWildcards('a'.repeat(250), '*a'.repeat(250), '*')).toBe(true);
});

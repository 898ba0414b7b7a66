import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/config/nearest.ts';

describe('edit distance', () => {
  test.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['abc', '', 3],
    ['abc', 'abd', 1],
    ['abc', 'acb', 1],
    ['include', 'inclde', 1],
    ['kitten', 'sitting', 3],
  ])('of %s and %s is %d', (a, b, expected) => expect(editDistance(a, b)).toBe(expected));

  test('is symmetric, and zero only for equal texts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });
});

describe('nearest name', () => {
  const known = ['include', 'exclude', 'max_bytes', 'max_events', 'url', 'type'];
  test.each([
    ['inclde', 'include'],
    ['exclud', 'exclude'],
    ['maxBytes', 'max_bytes'],
    ['max-events', 'max_events'],
    ['URL', 'url'],
    ['tpye', 'type'],
  ])('of %s is %s', (name, expected) => expect(nearest(name, known)).toBe(expected));

  test.each(['hostname', 'x', '', 'a'.repeat(100)])('of "%s" is none', (name) =>
    expect(nearest(name, known)).toBeUndefined(),
  );
});

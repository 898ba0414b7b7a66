import { expect, test } from 'vitest';
import { Gaps } from '../../src/kernel/gaps.ts';

test('gaps give the first that is large enough, and neighbours become one', () => {
  const gaps = new Gaps();
  expect(gaps.take(1)).toBeUndefined();
  gaps.add(300, 100);
  gaps.add(100, 100);
  expect(gaps.take(200)).toBeUndefined();
  gaps.add(200, 100);
  expect(gaps.take(300)).toBe(100);
  expect(gaps.take(1)).toBeUndefined();
  gaps.add(100, 300);
  expect(gaps.take(50)).toBe(100);
  expect(gaps.take(250)).toBe(150);
});

/** The pictures of growth, which readers judge by the slope of their lines. */
import { expect, test } from 'vitest';
import { drawGrowth } from '../../bench/growth/picture.ts';

const heightsOf = (svg: string): number[] => [...svg.matchAll(/cy="([\d.]+)"/g)].map(([, y]) => Number(y));

test('growth that is linear is a straight line, and any other is not', () => {
  const draw = (values: readonly number[]): number[] =>
    heightsOf(drawGrowth('files', [1, 10, 100], [['CPU', [{ name: 'CPU', values }]]]));
  const [low = 0, middle = 0, high = 0] = draw([2, 20, 200]);
  expect(low).toBeGreaterThan(middle);
  expect(low - middle).toBeCloseTo(middle - high, 0);
  const [first = 0, second = 0, third = 0] = draw([2, 20, 2000]);
  expect(second - third).toBeGreaterThan(1.5 * (first - second));
});

test('a picture of one point, and of nothing used, has only numbers', () => {
  const svg = drawGrowth('a < b & c', [5], [['CPU', [{ name: 'CPU', values: [0] }]]]);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  expect(svg).toContain('a &lt; b &amp; c');
});

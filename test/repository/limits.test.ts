import { expect, test } from 'vitest';
import { assertLimits } from '../../src/cli/limit-relations.ts';

test('the limits of all rooms agree', () => {
  expect(assertLimits).not.toThrow();
});

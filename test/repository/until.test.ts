import { expect, test } from 'vitest';
import { until } from '../support/until.ts';

test('wait that is over names its condition, or what it saw last', async () => {
  const wait = { withinMs: 0, everyMs: 1 };
  await expect(until('two stored', () => false, wait)).rejects.toThrow(
    /^waited 0 s for: two stored\nlast seen: false of \(\) => false$/,
  );
  let stored = 0;
  await expect(until('two stored', () => `${++stored} stored`, wait)).rejects.toThrow(/\nlast seen: \d stored$/);
  await until('three more', () => ++stored > 5);
});

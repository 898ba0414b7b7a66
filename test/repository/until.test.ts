import { expect, test, vi } from 'vitest';
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

test('wait that may take minutes prints once what it waits for', async () => {
  const printed = vi.spyOn(console, 'error').mockReturnValue();
  let tries = 0;
  await until('ten tries', () => ++tries === 10 || `${tries} tries`, { everyMs: 1, printAfterMs: 0 });
  expect(printed.mock.calls).toEqual([['still waiting after 0 s, of 60 s, for: ten tries\nlast seen: 1 tries']]);
  printed.mockRestore();
});

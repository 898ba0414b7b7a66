import { expect, test as base } from 'vitest';
import { BatchAge } from '../../src/batcher/fill/open-batches.ts';
import { SteppedClock } from '../support/stepped-clock.ts';

const test = base.extend('clock', () => new SteppedClock());

/** Opens a batch as soon as the one before is closed, for `seconds`: when they were closed. */
async function closings(
  clock: SteppedClock,
  age: BatchAge,
  seconds: number,
  datasets = ['logs'],
): Promise<[dataset: string, atMs: number][]> {
  const startedMs = clock.monotonic();
  const opened = new Map(datasets.map((dataset) => [dataset, startedMs]));
  const closed: [string, number][] = [];
  while (clock.monotonic() < startedMs + seconds * 1000) {
    await clock.advance(
      Math.max(1, Math.min(...[...opened].map(([dataset, at]) => age.nextMs(dataset, at))) - clock.monotonic()),
    );
    for (const [dataset, at] of opened) {
      if (!age.isDue(dataset, at)) continue;
      closed.push([dataset, clock.monotonic() - startedMs]);
      opened.set(dataset, clock.monotonic());
    }
  }
  return closed;
}

test('batch age closes the first batch for an idle sink at once, and no more than five a second for each dataset', async ({
  clock,
}) => {
  const age = new BatchAge({ clock, limits: { maxAgeMs: 1000, closesEarly: true }, queue: { isIdle: true } });
  const closed = await closings(clock, age, 2, ['logs', 'audit']);
  for (const dataset of ['logs', 'audit']) {
    const times = closed.flatMap(([of, atMs]) => (of === dataset ? [atMs] : []));
    expect(times.slice(0, 6)).toEqual([10, 210, 410, 610, 810, 1010]);
  }
});

test('batch age leaves a batch open for max_age while its sink is busy, and closes it soon after that', async ({
  clock,
}) => {
  const queue = { isIdle: false };
  const age = new BatchAge({ clock, limits: { maxAgeMs: 1000, closesEarly: true }, queue });
  expect(await closings(clock, age, 2)).toEqual([
    ['logs', 1000],
    ['logs', 2000],
  ]);
  const openedMs = clock.monotonic();
  await clock.advance(300);
  expect(age.isDue('logs', openedMs)).toBe(false);
  queue.isIdle = true;
  expect(age.nextMs('logs', openedMs) - clock.monotonic()).toBeLessThanOrEqual(50);
  expect(age.isDue('logs', openedMs)).toBe(true);
});

test('batch age that was written is the waiting time, however idle the sink is', async ({ clock }) => {
  expect(
    await closings(
      clock,
      new BatchAge({ clock, limits: { maxAgeMs: 1000, closesEarly: false }, queue: { isIdle: true } }),
      3,
    ),
  ).toEqual([
    ['logs', 1000],
    ['logs', 2000],
    ['logs', 3000],
  ]);
});

test('batch age closes nothing early while batches fill by themselves', async ({ clock }) => {
  const age = new BatchAge({ clock, limits: { maxAgeMs: 1000, closesEarly: true }, queue: { isIdle: true } });
  age.noteFull('logs');
  const openedMs = clock.monotonic();
  await clock.advance(999);
  expect(age.isDue('logs', openedMs, true)).toBe(false);
  expect(age.isDue('audit', openedMs, true)).toBe(true);
  await clock.advance(1);
  expect(age.isDue('logs', clock.monotonic(), true)).toBe(true);
});

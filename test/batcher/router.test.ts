/** Events that go to several datasets of a sink: made and shaped once, and dealt to the open batch of each. */
import { expect, vi } from 'vitest';
import { Accounting } from '../../src/batcher/accounting.ts';
import { SourceLane } from '../../src/batcher/fill/lane.ts';
import { Router } from '../../src/batcher/fill/router.ts';
import { settleInFlight, InFlightBatch } from '../../src/batcher/send/in-flight-batch.ts';
import type { EventsIn, Shaped } from '../../src/core/shaping.ts';
import { shapeAsTold, testShaper } from '../support/test-shaper.ts';
import { blockOf, bodyOf, kernel, test, NO_MARKS } from './blocks.ts';

/** Each event goes to the dataset that it names, and is sent, left out or made several of as `shapeAsTold` says. */
const shaper = testShaper(shapeAsTold);
async function shapeToDatasets(events: EventsIn): Promise<Shaped> {
  const shaped = await shaper.shape(events);
  const [datasets, ends, origins]: [(string | undefined)[], number[], number[]] = [[], [], []];
  for (let event = 0, at = 0; event < events.count; event++)
    for (let sub = 0; sub < shaped.sent[event]!; sub++) {
      const end = shaped.bytes.indexOf('\n', at) + 1;
      datasets.push(/"to":"([^"]*)"/.exec(shaped.bytes.toString('utf8', at, end))?.[1]);
      ends.push((at = end));
      origins.push(event);
    }
  return { ...shaped, routes: { datasets, ends: Uint32Array.from(ends), origins: Uint32Array.from(origins) } };
}

// Symptom: 16 datasets cost twice what one costs. Cause: the kernel made every event anew for each dataset. Fix: it makes it once.
test('events are made and shaped once however many datasets take them', async ({ rig }) => {
  const accounting = new Accounting('app');
  const known: string[] = [];
  const datasets = { of: () => known, add: (_: string, name: string) => name !== 'refused' && known.push(name) > 0 };
  const base = { sink: 'store', dataset: 'logs', batcher: rig.batcher, shaper: { ...shaper, shape: shapeToDatasets } };
  const router = new Router({ ...base, base: 'store#r', accounting, datasets });
  const lane = new SourceLane({
    accounting,
    routes: [{ ...base, router }],
    isTracked: true,
    deleted: new Set(),
    streams: NO_MARKS,
  });
  const to = (n: number): string => (n === 150 ? 'late' : n % 20 === 0 ? 'refused' : ['red', 'green', 'logs'][n % 3]!);
  const as = (n: number): string => ['kept', 'kept', 'filtered', 'several2', 'withheld'][n % 5]!;
  const lines = Array.from({ length: 200 }, (_, n) => `{"n":${n},"as":"${as(n)}","to":"${to(n)}"}`);
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));

  const chunks: number[] = [];
  const real = kernel.wrap.bind(kernel);
  const wrap = vi.spyOn(kernel, 'wrap').mockImplementation((...given) => {
    const result = real(...given);
    chunks.push(result.events);
    return result;
  });
  await lane.accept(blockOf(bytes));
  wrap.mockRestore();
  expect([chunks.reduce((sum, events) => sum + events, 0), shaper.seen.length]).toEqual([200, 200]);
  // The first chunks do not know the last dataset yet.
  expect(chunks.length).toBeGreaterThan(1);

  rig.batcher.open.flush();
  const sent = (dataset: string): number[] =>
    rig.sealed
      .filter((batch) => batch.dataset === dataset)
      .flatMap((batch) => bodyOf(batch).toString().split('\n').slice(0, -1))
      .map((event) => (JSON.parse(event) as { n: number }).n);
  const wanted = (test: (name: string) => boolean): number[] =>
    lines.flatMap((_, n) => (test(to(n)) ? { kept: [n], several2: [n, n] }[as(n)] : undefined) ?? []);
  expect(known).toEqual(['green', 'red', 'late']);
  for (const name of known) expect(sent(name)).toEqual(wanted((each) => each === name));
  expect(sent('logs')).toEqual(wanted((each) => each === 'logs' || each === 'refused'));
  expect(accounting.misrouted).toBe(wanted((each) => each === 'refused').length);
  // The marks of each pass all of the block.
  for (const { spans } of rig.sealed)
    expect(spans.map(({ from, to: end, events }) => [from, end, events])).toEqual([[0, bytes.length, 200]]);

  for (const batch of rig.sealed) {
    const inFlight = new InFlightBatch(batch);
    inFlight.parts.length = 0;
    batch.withheld.fate = 'dead_lettered';
    settleInFlight(inFlight);
  }
  expect(accounting.settled).toEqual({ delivered: 120, filtered: 40, dead_lettered: 40, dropped: 0 });
});

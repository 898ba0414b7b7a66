import { expect, test } from 'vitest';
import { History, SAMPLE_EVERY_MS } from '../../src/telemetry/history.ts';
import { observed, observedSink, observedSource } from './observed.ts';

function valuesOf(history: History, name: string): readonly (number | null)[] | undefined {
  return history.view().series.find((series) => series.name === name && series.kind === 'sink')?.values;
}

test('history tells rates and request times from what changed between two samples', () => {
  const history = new History();
  const requestSeconds = { sum: 0, count: 0 };
  const sample = (at: number, accepted: number, ingested: number) => {
    const sink = observedSink({ stored: new Map([['logs', ingested]]), requestSeconds: { ...requestSeconds } });
    history.sample(observed({ sources: [observedSource({ accepted })], sinks: [sink] }), at);
  };
  sample(1000, 100, 50);
  Object.assign(requestSeconds, { sum: 0.06, count: 2 });
  sample(11_000, 300, 50);
  sample(21_000, 300, 150);
  const { everyMs, endMs, series } = history.view();
  expect([everyMs, endMs]).toEqual([SAMPLE_EVERY_MS, 21_000]);
  expect(series.map(({ kind, id, name, values }) => [kind, id, name, values])).toEqual([
    ['source', 'app', 'eventsPerSecond', [null, 20, 0]],
    ['source', 'app', 'lagBytes', [5, 5, 5]],
    ['sink', 'store', 'eventsPerSecond', [null, 0, 10]],
    ['sink', 'store', 'requestMs', [null, expect.closeTo(30, 3), null]],
    ['sink', 'store', 'queueBytes', [8292, 8292, 8292]],
  ]);
});

test('history holds the last hour and no more, however long it runs and however many sources there are', () => {
  const history = new History();
  const sources = Array.from({ length: 200 }, (_, n) => observedSource({ id: `s${n}` }));
  const sinks = Array.from({ length: 200 }, (_, n) => observedSink({ id: `k${n}` }));
  for (let sample = 1; sample <= 1000; sample++)
    history.sample(
      observed({
        sources,
        sinks: sinks.map((sink) => ({ ...sink, memoryBytes: 9e6, queuedBytes: sample, diskBytes: 0 })),
      }),
      sample * 10_000,
    );
  const { series } = history.view();
  expect(series.length).toBe(64 * 2 + 16 * 3);
  expect(series.every(({ values }) => values.length === 360)).toBe(true);
  const queue = valuesOf(history, 'queueBytes')!;
  expect([queue[0], queue.at(-1)]).toEqual([641, 1000]);
});

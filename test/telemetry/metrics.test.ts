import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRegistry } from '../../src/telemetry/metrics.ts';
import { parsePrometheus, valueOf } from '../support/prometheus-text.ts';
import { makeHistograms, observed, observedSink, observedSource } from './observed.ts';

const app = { source: 'app' };
const store = { sink: 'store' };

/** The contract's names, with the value that the double's numbers must give. */
const promised: [name: string, labels: Record<string, string>, value: number][] = [
  ['source_read_bytes_total', app, 1000],
  ['source_events_total', app, 100],
  ['source_lag_bytes', app, 5],
  ['source_unsaved_bytes', app, 8],
  ['source_files', { ...app, state: 'active' }, 3],
  ['source_files', { ...app, state: 'idle' }, 4],
  ['source_truncated_events_total', app, 1],
  ['source_lost_bytes_total', app, 2],
  ['slow_path_events_total', app, 6],
  ['backpressure_seconds_total', app, 1.5],
  ['events_total', { ...app, outcome: 'accepted' }, 100],
  ['events_total', { ...app, outcome: 'delivered' }, 50],
  ['events_total', { ...app, outcome: 'dead_lettered' }, 10],
  ['events_total', { ...app, outcome: 'dropped' }, 5],
  ['events_total', { ...app, outcome: 'filtered' }, 5],
  ['events_held', app, 30],
  ['sink_requests_total', { ...store, status: '200' }, 7],
  ['sink_requests_total', { ...store, status: 'none' }, 2],
  ['sink_retries_total', { ...store, reason: 'network' }, 2],
  ['sink_sent_bytes_total', store, 12_345],
  ['ingest_events_total', { ...store, dataset: 'logs', result: 'ingested' }, 50],
  ['ingest_events_total', { ...store, dataset: 'logs', result: 'failed' }, 10],
  ['ingest_processed_bytes_total', store, 999],
  ['ingest_blocks_created_total', store, 3],
  ['ingest_wal_length', store, 4],
  ['buffer_bytes', { ...store, kind: 'memory' }, 4096],
  ['buffer_max_bytes', { ...store, kind: 'memory' }, 32_768],
  ['buffer_max_bytes', { ...store, kind: 'disk' }, 65_536],
  ['sink_paused', store, 0],
  ['dead_letters_full', store, 0],
  ['source_overdue', app, 0],
  ['checkpoint_saves_total', {}, 9],
  ['config_reloads_total', { result: 'success' }, 2],
  ['config_reloads_total', { result: 'failure' }, 1],
  ['checkpoint_refusals_total', {}, 5],
  ['buffer_bytes', { sink: 'former', kind: 'abandoned' }, 77],
];

test('metrics are strict Prometheus text with the promised names and the numbers that were observed', async () => {
  const histograms = makeHistograms();
  for (const value of [0.05, 0.5, 7]) histograms.requestSeconds.observe('store', value);
  histograms.batchEvents.observe('store', 10);
  const registry = createRegistry(() => observed(), histograms);
  expect(registry.contentType).toContain('text/plain; version=0.0.4');
  const families = parsePrometheus(await registry.render());
  for (const [name, labels, value] of promised)
    expect([name, labels, valueOf(families, `tailrace_${name}`, labels)]).toEqual([name, labels, value]);
  expect(
    families.get('tailrace_sink_request_seconds')?.samples.map(({ labels, value }) => [labels['le'], value]),
  ).toEqual([
    ['0.1', 1],
    ['1', 2],
    ['+Inf', 3],
    [undefined, 7.55],
    [undefined, 3],
  ]);
  // A value on a bound belongs below it.
  expect(families.get('tailrace_sink_batch_events')?.samples[0]).toMatchObject({ labels: { le: '10' }, value: 1 });
  expect(families.get('tailrace_sink_batch_bytes')).toBeDefined();
});

test('metrics show a sink whose dead letters are full, and not one whose disk refuses them', async () => {
  const block = { batches: 2, events: 3, reason: 'no room', fix: 'make some' };
  const sinks = [
    observedSink({ blocked: { ...block, isFull: true } }),
    observedSink({ id: 'disk', blocked: { ...block, isFull: false } }),
  ];
  const families = parsePrometheus(await createRegistry(() => observed({ sinks }), makeHistograms()).render());
  expect(sinks.map(({ id }) => valueOf(families, 'tailrace_dead_letters_full', { sink: id }))).toEqual([1, 0]);
});

test('metrics show a sink that is paused or has no token, and a source that is overdue', async () => {
  const pause = { reason: 'unauthorized', detail: '401', fix: 'check the token' };
  const missing = { detail: 'the token is empty', fix: 'write one' };
  const sinks = [
    observedSink({ pauses: new Map([['logs', pause]]) }),
    observedSink({ id: 'tokenless', missing }),
    observedSink({ id: 'well' }),
  ];
  const sources = [observedSource({ overdue: 'a scan is 70 s late' })];
  const families = parsePrometheus(await createRegistry(() => observed({ sinks, sources }), makeHistograms()).render());
  const paused = sinks.map(({ id }) => valueOf(families, 'tailrace_sink_paused', { sink: id }));
  expect([paused, valueOf(families, 'tailrace_source_overdue', app)]).toEqual([[1, 1, 0], 1]);
});

test('metrics read everything anew at each scrape, and all of one scrape in one instant', async () => {
  let accepted = 0;
  const registry = createRegistry(
    () => observed({ sources: [observedSource({ accepted: (accepted += 10), held: accepted - 70 + 100 })] }),
    makeHistograms(),
  );
  const scrapes = await Promise.all([registry.render(), registry.render(), registry.render()]);
  const seen = scrapes.map((text) => {
    const families = parsePrometheus(text);
    const value = (name: string, labels: Record<string, string>) =>
      valueOf(families, `tailrace_${name}`, labels) ?? NaN;
    // The two belong to one moment, also when scrapes overlap.
    expect(value('events_held', app)).toBe(value('events_total', { ...app, outcome: 'accepted' }) + 30);
    return value('source_events_total', app);
  });
  expect(new Set(seen).size).toBe(3);
});

test('metrics stay strict for any ids, states and counts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
      fc.string({ minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0 }),
      async (id, dataset, count) => {
        const source = observedSource({ id, accepted: count });
        const sink = observedSink({ id, stored: new Map([[dataset, count]]) });
        const families = parsePrometheus(
          await createRegistry(() => observed({ sources: [source], sinks: [sink] }), makeHistograms()).render(),
        );
        expect(valueOf(families, 'tailrace_source_events_total', { source: id })).toBe(count);
        expect(valueOf(families, 'tailrace_ingest_events_total', { sink: id, dataset, result: 'ingested' })).toBe(
          count,
        );
      },
    ),
    { numRuns: 25 },
  );
});

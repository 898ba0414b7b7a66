/** What an agent with one source and one sink would show, for tests of telemetry. */
import { Histograms } from '../../src/telemetry/delivery-stats.ts';
import { ingestFacts } from '../../src/client/classify.ts';
import type { SinkHistograms } from '../../src/telemetry/metrics.ts';
import type { Observed, ObservedSink, ObservedSource } from '../../src/telemetry/observed.ts';

export function observedSource(changes: Partial<ObservedSource> = {}): ObservedSource {
  return {
    id: 'app',
    stats: {
      readBytes: 1000,
      lagBytes: 5,
      truncatedEvents: 1,
      lostBytes: 2,
      files: { active: 3, idle: 4 },
      slowPathEvents: 6,
    },
    backpressureSeconds: 1.5,
    accepted: 100,
    invalidCharacters: 0,
    unknownZones: 0,
    transformErrors: 0,
    misrouted: 0,
    settled: { delivered: 50, dead_lettered: 10, dropped: 5, filtered: 5 },
    held: 30,
    unsavedBytes: 8,
    ...changes,
  };
}

export function observedSink(changes: Partial<ObservedSink> = {}): ObservedSink {
  return {
    id: 'store',
    requests: new Map([
      ['200', 7],
      ['none', 2],
    ]),
    retries: new Map([['network', 2]]),
    sentBytes: 12_345,
    stored: new Map([['logs', 50]]),
    failed: new Map([['logs', 10]]),
    facts: new Map([
      ['ingest_processed_bytes_total', 999],
      ['ingest_blocks_created_total', 3],
      ['ingest_wal_length', 4],
    ]),
    lastStoredMs: 1_700_000_000_500,
    lastAnswer: { status: '200', atMs: 1_700_000_000_500 },
    requestSeconds: { sum: 0.9, count: 9 },
    memoryBytes: 4096,
    queuedBytes: 100,
    diskBytes: 8192,
    maxMemoryBytes: 32_768,
    maxDiskBytes: 65_536,
    brokenFiles: 0,
    concurrency: 4,
    lastFailure: undefined,
    missing: undefined,
    pauses: new Map(),
    blocked: undefined,
    deadLetters: new Map([['rejected', 10]]),
    replayed: new Map([['delivered', 6]]),
    ...changes,
  };
}

export function observed(changes: Partial<Observed> = {}): Observed {
  return {
    facts: ingestFacts,
    config: { file: '/etc/tailrace/tailrace.yaml', hash: '0123456789ab', scripts: [] },
    sources: [observedSource()],
    sinks: [observedSink()],
    checkpointSaves: 9,
    configReloads: { success: 2, failure: 1 },
    checkpointRefusals: 5,
    checkpointRefusal: undefined,
    abandoned: [{ sink: 'former', bytes: 77 }],
    deadLetterBytes: 0,
    started: true,
    ...changes,
  };
}

export function makeHistograms(): SinkHistograms {
  return {
    requestSeconds: new Histograms([0.1, 1]),
    batchEvents: new Histograms([10, 100]),
    batchBytes: new Histograms([1000]),
  };
}

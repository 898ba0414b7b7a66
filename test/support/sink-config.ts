/** A configuration of an ingest sink with the defaults of the schema. */
import type { IngestSinkConfig } from '../../src/config/model.ts';

export function sinkConfig(url: string, changes: Partial<IngestSinkConfig> = {}): IngestSinkConfig {
  return {
    type: 'ingest',
    id: 'store',
    inputs: ['pipe'],
    url,
    token: { kind: 'value', value: 'secret-token' },
    orgId: undefined,
    dataset: 'logs',
    createDataset: false,
    path: 'current',
    headerPrefix: 'X-Service-',
    timestampField: undefined,
    timestampFormat: undefined,
    compression: 'none',
    batch: { maxBytes: 1024 * 1024, maxEvents: 10_000, maxAgeMs: 20 },
    concurrency: 4,
    timeoutMs: 30_000,
    retry: { initialBackoffMs: 1, maxBackoffMs: 10, maxElapsedMs: Infinity },
    buffer: { maxMemoryBytes: 8 * 1024 * 1024 },
    ...changes,
  };
}

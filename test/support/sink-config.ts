/** A configuration of an ingest sink with the defaults of the schema. */
import type { IngestSinkConfig } from '../../src/sinks/ingest/ingest-config.ts';

export function sinkConfig(url: string, changes: Partial<IngestSinkConfig> = {}): IngestSinkConfig {
  return {
    type: 'ingest',
    id: 'store',
    inputs: ['pipe'],
    url,
    apiUrl: url,
    token: { kind: 'value', value: 'secret-token' },
    orgId: undefined,
    dataset: 'logs',
    createDataset: false,
    path: 'current',
    encoding: 'ndjson',
    csv: { columns: undefined, extra: 'json', header: 'line' },
    json: { envelope: false },
    headerPrefix: 'X-Service-',
    tls: { ca: undefined, cert: undefined, key: undefined },
    proxy: undefined,
    apiProxy: undefined,
    labels: {},
    timestampField: undefined,
    timestampFormat: undefined,
    compression: 'none',
    batch: { maxBytes: 1024 * 1024, maxEvents: 10_000, maxAgeMs: 20, closesEarly: false },
    concurrency: 4,
    timeoutMs: 30_000,
    retry: { initialBackoffMs: 1, maxBackoffMs: 10, maxElapsedMs: Infinity },
    buffer: {
      maxMemoryBytes: 8 * 1024 * 1024,
      disk: { maxBytes: 1024 ** 3, files: false },
      sync: 'batch',
      whenFull: 'block',
    },
    ...changes,
  };
}

/**
 * Asks a sink's service whether it would take events: with a request without any, as the agent would send it, so that it needs
 * no more rights than that and stores nothing.
 */
import { randomUUID } from 'node:crypto';
import type { IngestSinkConfig } from '../../config/model.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Outcome } from '../../core/sink.ts';
import { encoderOf } from '../../sinks/ingest/encode/encoder.ts';
import { createIngestSink } from '../../sinks/ingest/sink.ts';

/** A service that answers later than this is taken for one that does not. */
const PATIENCE_MS = 10_000;

/** Interprets the answer. No dataset is created. */
export async function askService(config: IngestSinkConfig, dataset: string): Promise<Outcome> {
  const sink = createIngestSink({ ...config, createDataset: false, timeoutMs: Math.min(config.timeoutMs, PATIENCE_MS) }, systemClock);
  try {
    const nothing = Buffer.alloc(0);
    const body = encoderOf(config)?.(nothing) ?? nothing;
    const parcel = { key: `check-${randomUUID()}`, dataset, events: 0, body, encoding: 'identity' } as const;
    const { outcome } = await sink.send(parcel, new AbortController().signal);
    return outcome;
  } finally {
    await sink.close();
  }
}

/** An ingest sink that is closed with its test, and one event for it. */
import { onTestFinished } from 'vitest';
import type { IngestSinkConfig } from '../../../src/sinks/ingest/ingest-config.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import type { SinkRequest, Sink } from '../../../src/core/sink.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { createIngestSink } from '../../../src/sinks/ingest/sink.ts';
import { sinkConfig } from '../../support/sink-config.ts';

export const sinkRequest: SinkRequest = {
  key: 'k',
  dataset: 'logs',
  events: 1,
  body: Buffer.from('{"a":1}\n'),
  encoding: 'identity',
};
export const never = new AbortController().signal;

export function makeSink(
  url: string,
  changes: Partial<IngestSinkConfig> = {},
  clock: Clock = systemClock,
  log: Log = silentLog,
): Sink {
  const sink = createIngestSink(sinkConfig(url, changes), clock, log);
  onTestFinished(() => sink.close());
  return sink;
}

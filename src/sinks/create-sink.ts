/** The sink that a configuration names. */
import type { SinkConfig } from '../config/model.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Log } from '../core/log.ts';
import type { Sink } from '../core/sink.ts';
import { createConsoleSink } from './console/sink.ts';
import { createIngestSink } from './ingest/sink.ts';

export const createSink = (config: SinkConfig, clock: Clock, log: Log): Sink =>
  config.type === 'console' ? createConsoleSink(config, clock) : createIngestSink(config, clock, log);

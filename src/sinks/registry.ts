/** The types of sinks, by what `type` says. */
import { archiveSink } from './archive/archive-type.ts';
import { consoleSink } from './console/console-type.ts';
import { ingestSink } from './ingest/ingest-type.ts';
import type { FactTable } from '../core/sink.ts';
import type { SinkType } from './common/sink-type.ts';

export const SINK_TYPES: Readonly<Record<string, SinkType>> = {
  ingest: ingestSink,
  console: consoleSink,
  archive: archiveSink,
};

/** Of a checked configuration. */
export function sinkTypeOf({ type }: { readonly type: string }): SinkType {
  return SINK_TYPES[type]!;
}

/** An entry of `sinks` for events that are only looked at. */
export const trialSink = (): string => Object.values(SINK_TYPES).flatMap(({ trial }) => trial ?? [])[0]!;

/** The metrics that answers bring. */
export const sinkFacts: FactTable = Object.assign({}, ...Object.values(SINK_TYPES).map(({ facts }) => facts));

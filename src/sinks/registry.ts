/** The types of sinks, by what `type` says. */
import { archiveSink } from './archive/archive-type.ts';
import { consoleSink } from './console/console-type.ts';
import { ingestSink } from './ingest/ingest-type.ts';
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

/** What each metric counts that answers bring. */
export const sinkFacts: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(SINK_TYPES).map(({ facts }) => facts));

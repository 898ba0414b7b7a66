/** The `ingest` sink: its keys, what they come to, and what the agent may ask of it. */
import { type SinkType, sinkType } from '../common/sink-type.ts';
import { checkKeys } from './check-keys.ts';
import { checkMachine } from './check-machine.ts';
import { ingestForms } from './encode/encoder.ts';
import { ingestFacts } from '../../client/classify.ts';
import { ingestFields } from './fields.ts';
import { deriveIngest } from './ingest-config.ts';
import { proposeIngest } from './propose.ts';
import { createIngestSink } from './sink.ts';

export const ingestSink: SinkType = sinkType({
  fields: ingestFields,
  exampleId: 'store',
  derive: deriveIngest,
  propose: proposeIngest,
  create: createIngestSink,
  forms: ingestForms,
  facts: ingestFacts,
  checkKeys,
  check: checkMachine,
  checkOnline: async (config, datasets) => (await import('./check-online.ts')).checkOnline(config, datasets),
});

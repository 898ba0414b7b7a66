/** The `console` sink: its keys, and what they come to. */
import { field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { choice } from '../../config/fields/kinds.ts';
import { batchOf, bufferField, LOCAL_RETRY, type SinkSettings } from '../../config/common/sink-fields.ts';
import { commonSinkFields, type SinkType, sinkType } from '../common/sink-type.ts';
import { createConsoleSink } from './sink.ts';

const fields = {
  type: field(choice(['console']), {
    required: true,
    example: 'console',
    doc: 'writes events to standard output, for trying things out',
  }),
  inputs: commonSinkFields.inputs,
  style: field(choice(['json', 'pretty']), {
    default: 'json',
    doc: 'json: one object a line; pretty: time, message, then the other fields, for people',
  }),
  transform: commonSinkFields.transform,
  buffer: bufferField('what holds events until standard output has taken them'),
} satisfies FieldTable;

export const consoleSink: SinkType = sinkType({
  fields,
  exampleId: 'screen',
  derive: ({ style, buffer }: FieldValues<typeof fields>) => ({ style, ...settingsOf(buffer) }),
  trial: '{type: console, buffer: {max_memory: 4MiB}}',
  create: (config, clock) => createConsoleSink(config, clock),
});

/** One batch at a time, so that events come in their order. They belong to no dataset, but checkpoints and metrics need a name. */
function settingsOf(buffer: SinkSettings['buffer']): SinkSettings {
  return {
    dataset: 'console',
    compression: 'none',
    batch: batchOf({}, buffer),
    concurrency: 1,
    retry: LOCAL_RETRY,
    buffer,
  };
}

/** The `archive` sink: its keys, and what they come to. */
import { resolve } from 'node:path';
import { batchOf, bufferField, LOCAL_RETRY } from '../../config/common/sink-fields.ts';
import type { Context } from '../../config/fields/context.ts';
import { field, group, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { anyText, choice, duration, size } from '../../config/fields/kinds.ts';
import { datasetName } from '../../config/fields/kinds-special.ts';
import { commonSinkFields, type SinkType, sinkType } from '../common/sink-type.ts';
import { proveArchive } from './prove.ts';
import { createArchiveSink } from './sink.ts';

const max_age = field(duration('10ms', '1h'), {
  default: '5s',
  doc: 'a file is written this long after its first event',
});

const fields = {
  type: field(choice(['archive']), {
    required: true,
    example: 'archive',
    doc: 'writes events to files, by dataset and hour',
  }),
  inputs: commonSinkFields.inputs,
  path: field(anyText, {
    required: true,
    example: '/srv/archive',
    doc: "its folder; a relative path starts at this file's folder",
  }),
  dataset: field(datasetName, {
    required: true,
    example: 'logs',
    doc: 'the folder of events, unless their source says otherwise',
  }),
  transform: commonSinkFields.transform,
  compression: field(choice(['zstd', 'gzip', 'none']), { default: 'zstd', doc: 'of the files' }),
  max_bytes: field(size('1MiB', '16384GiB'), {
    example: '100GiB',
    doc: 'of all files; over it the oldest hours are removed',
  }),
  keep: field(duration('1h', '36500d'), { example: '365d', doc: 'older hours are removed' }),
  batch: field(group({ max_age }), {
    default: '{}',
    doc: 'when a file is written; also at 1MiB before compression, or half of buffer.max_memory where that is less',
  }),
  buffer: bufferField('what holds events until they are on disk'),
} satisfies FieldTable;

export const archiveSink: SinkType = sinkType({
  fields,
  exampleId: 'keep',
  derive: ({ path: written, batch, type: _type, ...values }: FieldValues<typeof fields>, { folder }: Context) => {
    const path = resolve(folder, written);
    return {
      ...values,
      path,
      ownFolder: path,
      batch: { ...batchOf(batch, values.buffer), closesEarly: false },
      // One file after the other.
      concurrency: 1,
      retry: LOCAL_RETRY,
    };
  },
  create: createArchiveSink,
  prove: ({ path }, batches) => proveArchive(path, batches),
  facts: {
    archive_files_total: ['Files that were written', 'files'],
    archive_written_bytes_total: ['Bytes of these files', 'written'],
    archive_removed_hours_total: ['Hours of a dataset that were removed, for max_bytes or keep', 'removed hours'],
  },
});

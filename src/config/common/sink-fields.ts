/** The keys that sinks have in common, and the forms that these take. */
import { MAX_BATCH_EVENTS, MAX_CONCURRENCY } from '../../core/limits.ts';
import { defaultBatchBytes } from '../../core/sink-memory.ts';
import { field, group, type FieldTable, type FieldValues } from '../fields/field.ts';
import { anyText, choice, duration, durationOr, flag, integer, size } from '../fields/kinds.ts';
import { datasetName } from '../fields/kinds-special.ts';

const batchTable = {
  max_bytes: field(size('1KiB', '10MiB'), {
    computed: '1MiB, or half of buffer.max_memory where that is less',
    example: '1MiB',
    shown: true,
    doc: 'before compression; at most half of buffer.max_memory',
  }),
  max_events: field(integer(1, MAX_BATCH_EVENTS), { default: '10000', doc: 'events of one request' }),
  max_age: field(duration('10ms', '1h'), {
    computed: '1s, and sooner while nothing is being sent',
    example: '1s',
    doc: 'a batch is sent this long after its first event',
  }),
} satisfies FieldTable;

const retryTable = {
  initial_backoff: field(duration('1ms', '1h'), {
    default: '250ms',
    doc: 'the first wait is up to this long, each next one up to twice as long',
  }),
  max_backoff: field(duration('1ms', '1h'), { default: '30s', doc: 'the longest wait between two attempts' }),
  max_elapsed: field(durationOr('never', '1s', '365d'), {
    default: 'never',
    doc: 'gives up after this long and dead-letters the batch',
  }),
} satisfies FieldTable;

const diskTable = {
  max_bytes: field(size('1MiB', '16384GiB'), { default: '1GiB', doc: 'of the disk buffer, as compressed' }),
  files: field(flag, {
    default: 'false',
    doc: 'also batches of files, when the service is too slow for them: they are then read on, up to max_bytes ahead of it',
  }),
} satisfies FieldTable;

const bufferTable = {
  max_memory: field(size('1MiB', '1GiB'), {
    default: '32MiB',
    doc: 'of events read and not yet stored; when it is full, reading waits; three batches always fit',
  }),
  disk: field(group(diskTable), {
    default: '{}',
    doc: 'batches of sources that cannot be read again (syslog, stdin) are kept here until they are stored',
  }),
  sync: field(choice(['batch', 'always']), {
    default: 'batch',
    doc: 'when events of syslog and stdin survive a power cut: batch: once their batch closes; always: as soon as the disk has taken what came before, which makes small batches',
  }),
  when_full: field(choice(['block', 'drop_newest', 'drop_oldest']), {
    default: 'block',
    doc: 'what happens when the disk buffer is full; dropped events are counted by source',
  }),
} satisfies FieldTable;

const batchField = field(group(batchTable), { default: '{}', doc: 'when a batch is full' });
const retryField = field(group(retryTable), {
  default: '{}',
  doc: 'of 429, 430, 408, 5xx, network errors and timeouts',
});
/** `doc` says until when it holds events. */
export const bufferField = (doc: string) => field(group(bufferTable), { default: '{}', doc });

/** Keys that the agent acts on. A type without one of these, or with fewer values, says in its `derive` what holds. */
export const sinkFields = {
  dataset: field(datasetName, {
    required: true,
    example: 'logs',
    doc: 'where events go, unless their source says otherwise',
  }),
  timestamp_field: field(anyText, {
    example: 'ts',
    doc: 'the field that holds the time of JSON events, sent as timestamp-field',
  }),
  compression: field(choice(['auto', 'gzip', 'zstd', 'none']), {
    default: 'auto',
    doc: 'of request bodies; auto: zstd where the service stores it, else gzip, else none',
  }),
  batch: batchField,
  concurrency: field(integer(1, MAX_CONCURRENCY), {
    default: '4',
    doc: 'requests under way at a time; order across batches holds only with 1',
  }),
  retry: retryField,
  buffer: bufferField('what holds events until the service has stored them'),
} satisfies FieldTable;

type Written = FieldValues<typeof sinkFields>;

/** Settings of any sink that the agent needs: what its keys come to. `closesEarly`: `max_age` is not written, so an idle sink gets its batch earlier. */
export type SinkSettings = Omit<Written, 'timestampField' | 'batch'> &
  Partial<Pick<Written, 'timestampField'>> & {
    readonly batch: { readonly [K in keyof Written['batch']]: NonNullable<Written['batch'][K]> } & {
      readonly closesEarly: boolean;
    };
  };

/** Of sinks on this machine: asking costs no network, so that a disk with room again is used at once. */
export const LOCAL_RETRY: SinkSettings['retry'] = { initialBackoffMs: 250, maxBackoffMs: 1000, maxElapsedMs: Infinity };

const DEFAULT_MAX_AGE_MS = 1000;

export function batchOf(
  { maxBytes, maxEvents, maxAgeMs }: Partial<FieldValues<typeof batchTable>>,
  { maxMemoryBytes }: SinkSettings['buffer'],
): SinkSettings['batch'] {
  return {
    maxBytes: maxBytes ?? defaultBatchBytes(maxMemoryBytes),
    maxEvents: maxEvents ?? MAX_BATCH_EVENTS,
    maxAgeMs: maxAgeMs ?? DEFAULT_MAX_AGE_MS,
    closesEarly: maxAgeMs === undefined,
  };
}

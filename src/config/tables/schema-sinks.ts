/** The field tables of the sinks. */
import { MAX_BATCH_EVENTS, MAX_CONCURRENCY } from '../../core/limits.ts';
import { field, group } from '../fields/field.ts';
import type { Table } from '../fields/field.ts';
import { anyText, choice, duration, durationOr, flag, integer, list, size } from '../fields/kinds.ts';
import { baseUrl, columnName, datasetName, headerPrefix, headerValue, proxyAddress, staticFields, token } from '../fields/kinds-special.ts';
import { timestampFormat } from '../fields/kinds-time.ts';
import { transform } from '../fields/kinds-transform.ts';

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
} satisfies Table;

const retryTable = {
  initial_backoff: field(duration('1ms', '1h'), {
    default: '250ms',
    doc: 'the first wait is up to this long, each next one up to twice as long',
  }),
  max_backoff: field(duration('1ms', '1h'), { default: '30s', doc: 'the longest wait between two attempts' }),
  max_elapsed: field(durationOr('never', '1s', '365d'), { default: 'never', doc: 'gives up after this long and dead-letters the batch' }),
} satisfies Table;

const diskTable = {
  max_bytes: field(size('1MiB', '16384GiB'), { default: '1GiB', doc: 'of the disk buffer, as compressed' }),
  files: field(flag, {
    default: 'false',
    doc: 'also batches of files, when the service is too slow for them: they are then read on, up to max_bytes ahead of it',
  }),
} satisfies Table;

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
    doc: 'what happens when the disk buffer is full; what is dropped is counted by source',
  }),
} satisfies Table;

const csvTable = {
  columns: field(list(columnName, { filled: true, example: '[_time, level, message]' }), {
    computed: 'the keys of each batch, in the order they are first seen',
    example: '[_time, level, message]',
    doc: 'the columns; `_time` or timestamp_field belongs among them',
  }),
  extra: field(columnName, { default: 'json', doc: 'the column that holds all other keys as one JSON object; `drop` leaves them out' }),
  header: field(choice(['line', 'header']), {
    default: 'line',
    doc: 'where the columns are named: in the first line, or in the CSV-fields header of the request',
  }),
} satisfies Table;

const jsonTable = {
  envelope: field(flag, { default: 'false', doc: 'sends {time, data, labels} objects instead of the events alone' }),
} satisfies Table;

const tlsTable = {
  ca: field(anyText, {
    computed: "the system's",
    example: 'ca.pem',
    doc: "certificates of the authorities that may sign the service's own",
  }),
  cert: field(anyText, { example: 'client.crt', doc: 'client certificate, with the chain behind it' }),
  key: field(anyText, { example: 'client.key', doc: 'its private key, not encrypted' }),
} satisfies Table;

export const ingestTable = {
  type: field(choice(['ingest']), { required: true, example: 'ingest', doc: "sends batches to the service's ingest endpoint" }),
  inputs: field(list(anyText, { filled: true, example: '[app]' }), {
    computed: 'every source',
    example: '[app, pipe, net]',
    doc: 'the ids of the sources that feed it',
  }),
  url: field(baseUrl, { required: true, example: 'http://127.0.0.1:4100', doc: 'address of the service, without a query' }),
  edge_url: field(baseUrl, { example: 'https://edge.example.com', doc: 'when set, events are sent there' }),
  token: field(token, { example: '${TAILRACE_TOKEN}', shown: true, doc: 'an API token; or token_file' }),
  token_file: field(anyText, {
    example: 'tailrace-token',
    doc: "a file that holds the token, read again when it changes; a relative path is looked for in $CREDENTIALS_DIRECTORY, then in this file's folder",
  }),
  org_id: field(headerValue, { example: '${TAILRACE_ORG_ID}', doc: 'the organisation, sent as a header' }),
  dataset: field(datasetName, { required: true, example: 'logs', doc: 'where events go, unless their source says otherwise' }),
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: 'shapes the events that go to this sink, after those of the source and of all',
  }),
  create_dataset: field(flag, { default: 'false', doc: 'creates a dataset that does not exist' }),
  path: field(choice(['current', 'legacy']), {
    default: 'current',
    doc: 'current: /v1/ingest/{dataset}; legacy: /v1/datasets/{dataset}/ingest',
  }),
  encoding: field(choice(['ndjson', 'csv', 'json']), { default: 'ndjson', doc: 'how events are written in a request' }),
  csv: field(group(csvTable), { default: '{}', doc: 'of the csv encoding' }),
  json: field(group(jsonTable), { default: '{}', doc: 'of the json encoding' }),
  header_prefix: field(headerPrefix, { default: 'X-Service-', doc: 'of the org-ID, event-labels and CSV-fields headers' }),
  tls: field(group(tlsTable), {
    default: '{}',
    doc: 'of https addresses; relative paths as for token_file, files are read again when they change',
  }),
  proxy: field(proxyAddress, {
    computed: 'HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment',
    example: 'http://proxy:3128',
    doc: 'the way to the service; may hold a user and password',
  }),
  timestamp_field: field(anyText, { example: 'ts', doc: 'the field that holds the time of JSON events, sent as timestamp-field' }),
  timestamp_format: field(timestampFormat, {
    example: "'2006-01-02T15:04:05Z07:00'",
    doc: 'how that time is written, sent as timestamp-format',
  }),
  labels: field(staticFields, { default: '{}', example: '{team: core}', doc: 'added to every event by the service, sent once a request' }),
  compression: field(choice(['auto', 'gzip', 'zstd', 'none']), {
    default: 'auto',
    doc: 'of request bodies; auto: zstd where the service stores it, else gzip, else none',
  }),
  batch: field(group(batchTable), { default: '{}', doc: 'when a batch is full' }),
  concurrency: field(integer(1, MAX_CONCURRENCY), {
    default: '4',
    doc: 'requests under way at a time; order across batches holds only with 1',
  }),
  timeout: field(duration('100ms', '1h'), { default: '30s', doc: 'of a whole request, first byte sent to last byte of the reply' }),
  retry: field(group(retryTable), { default: '{}', doc: 'of 429, 408, 5xx, network errors and timeouts' }),
  buffer: field(group(bufferTable), { default: '{}', doc: 'what holds events until the service has stored them' }),
} satisfies Table;

export const consoleTable = {
  type: field(choice(['console']), { required: true, example: 'console', doc: 'writes events to standard output, for trying things out' }),
  inputs: field(list(anyText, { filled: true, example: '[app]' }), {
    computed: 'every source',
    example: '[app, pipe, net]',
    doc: 'the ids of the sources that feed it',
  }),
  style: field(choice(['json', 'pretty']), {
    default: 'json',
    doc: 'json: one object a line; pretty: time, message, then the other fields, for people',
  }),
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: 'shapes the events that go to this sink, after those of the source and of all',
  }),
  buffer: field(group(bufferTable), { default: '{}', doc: 'what holds events until standard output has taken them' }),
} satisfies Table;

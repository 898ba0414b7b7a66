/** The keys of an ingest sink. */
import { field, group, type FieldTable } from '../../config/fields/field.ts';
import { anyText, choice, duration, flag, list } from '../../config/fields/kinds.ts';
import {
  baseUrl,
  columnName,
  headerPrefix,
  headerValue,
  proxyAddress,
  staticFields,
  token,
} from '../../config/fields/kinds-special.ts';
import { timestampFormat } from '../../config/fields/kinds-time.ts';
import { sinkFields } from '../../config/common/sink-fields.ts';
import { commonSinkFields } from '../common/sink-type.ts';

const csvTable = {
  columns: field(list(columnName, { filled: true, example: '[_time, level, message]' }), {
    computed: 'the keys of each batch, in the order they are first seen',
    example: '[_time, level, message]',
    doc: 'the columns; `_time` or timestamp_field belongs among them',
  }),
  extra: field(columnName, {
    default: 'json',
    doc: 'the column that holds all other keys as one JSON object; `drop` leaves them out',
  }),
  header: field(choice(['line', 'header']), {
    default: 'line',
    doc: 'where the columns are named: in the first line, or in the CSV-fields header of the request',
  }),
} satisfies FieldTable;

const jsonTable = {
  envelope: field(flag, { default: 'false', doc: 'sends {time, data, labels} objects instead of the events alone' }),
} satisfies FieldTable;

const tlsTable = {
  ca: field(anyText, {
    computed: "the system's",
    example: 'ca.pem',
    doc: "certificates of the authorities that may sign the service's own",
  }),
  cert: field(anyText, { example: 'client.crt', doc: 'client certificate, with the chain behind it' }),
  key: field(anyText, { example: 'client.key', doc: 'its private key, not encrypted' }),
} satisfies FieldTable;

export const ingestFields = {
  type: field(choice(['ingest']), {
    required: true,
    example: 'ingest',
    doc: "sends batches to the service's ingest endpoint",
  }),
  inputs: commonSinkFields.inputs,
  url: field(baseUrl, {
    required: true,
    example: 'http://127.0.0.1:4100',
    doc: 'address of the service, without a query',
  }),
  edge_url: field(baseUrl, { example: 'https://edge.example.com', doc: 'when set, events are sent there' }),
  token: field(token, { example: '${TAILRACE_TOKEN}', shown: true, doc: 'an API token; or token_file' }),
  token_file: field(anyText, {
    example: 'tailrace-token',
    doc: "a file that holds the token, read again when it changes; a relative path is looked for in $CREDENTIALS_DIRECTORY, then in this file's folder",
  }),
  org_id: field(headerValue, { example: '${TAILRACE_ORG_ID}', doc: 'the organisation, sent as a header' }),
  dataset: sinkFields.dataset,
  transform: commonSinkFields.transform,
  create_dataset: field(flag, { default: 'false', doc: 'creates a dataset that does not exist' }),
  path: field(choice(['current', 'legacy']), {
    default: 'current',
    doc: 'current: /v1/ingest/{dataset}; legacy: /v1/datasets/{dataset}/ingest',
  }),
  encoding: field(choice(['ndjson', 'csv', 'json']), { default: 'ndjson', doc: 'how events are written in a request' }),
  csv: field(group(csvTable), { default: '{}', doc: 'of the csv encoding' }),
  json: field(group(jsonTable), { default: '{}', doc: 'of the json encoding' }),
  header_prefix: field(headerPrefix, {
    default: 'X-Service-',
    doc: 'of the org-ID, event-labels and CSV-fields headers',
  }),
  tls: field(group(tlsTable), {
    default: '{}',
    doc: 'of https addresses; relative paths as for token_file, files are read again when they change',
  }),
  proxy: field(proxyAddress, {
    computed: 'HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment',
    example: 'http://proxy:3128',
    doc: 'the way to the service; may hold a user and password',
  }),
  timestamp_field: sinkFields.timestamp_field,
  timestamp_format: field(timestampFormat, {
    example: "'2006-01-02T15:04:05Z07:00'",
    doc: 'how that time is written, sent as timestamp-format',
  }),
  labels: field(staticFields, {
    default: '{}',
    example: '{team: core}',
    doc: 'added to every event by the service, sent once a request',
  }),
  compression: sinkFields.compression,
  batch: sinkFields.batch,
  concurrency: sinkFields.concurrency,
  timeout: field(duration('100ms', '1h'), {
    default: '30s',
    doc: 'of a whole request, first byte sent to last byte of the reply',
  }),
  retry: sinkFields.retry,
  buffer: sinkFields.buffer,
} satisfies FieldTable;

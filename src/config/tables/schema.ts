/**
 * The field tables of the agent and its telemetry, and the way to those of sources and sinks. One table per component
 * is all there is: parsing, unknown-key errors, defaults, config.example.yaml, docs/configuration.md's tables and
 * docs/config.schema.json come from it (scripts/generate.ts writes the files).
 */
import { originKind } from '../fields/origin.ts';
import { sharedFields } from '../../sources/common/source-fields.ts';
import { SOURCE_TYPES, type SourceTypeName } from '../../sources/registry.ts';
import { type Components, section } from '../fields/components.ts';
import { anyText, choice, duration, flag, size } from '../fields/kinds.ts';
import { globOrList, hostPortOrNone, staticFields } from '../fields/kinds-special.ts';
import { transform } from '../fields/kinds-transform.ts';
import { field, group } from '../fields/field.ts';
import type { Table } from '../fields/field.ts';
import { SINK_TYPES } from '../../sinks/registry.ts';
import type { commonSinkFields } from '../../sinks/common/sink-type.ts';
import { presetTestList, testList } from './schema-tests.ts';

const telemetryTable = {
  listen: field(hostPortOrNone, {
    default: '127.0.0.1:9600',
    doc: '/metrics, /healthz and /readyz, and the status page at /; `none` switches it off',
  }),
  page: field(flag, {
    computed: 'true where `listen` is loopback',
    example: 'true',
    doc: 'the status page: its readers see file names, configuration and reasons, and need no token',
  }),
  live_tail: field(flag, {
    default: 'false',
    doc: 'the status page shows events, after their transforms, to everyone who reaches it',
  }),
  log_level: field(choice(['debug', 'info', 'warn', 'error']), { default: 'info', doc: 'the least level that is logged' }),
} satisfies Table;

/** The keys of presets: those of a source of files, without its choice of files. */
const { include: _include, exclude: _exclude, ...presetKeys } = SOURCE_TYPES.file.fields;
export const presetTable = {
  ...presetKeys,
  ...sharedFields,
  tests: field(presetTestList, {
    default: '[]',
    example: "[{input: ['…'], expect: [{message: '…'}]}]",
    doc: 'lines and the events that they become, run by `tailrace test`',
  }),
} satisfies Table;

type SourceTables = {
  readonly [K in SourceTypeName]: ReturnType<typeof typeRow> & (typeof SOURCE_TYPES)[K]['fields'] & typeof sharedFields;
};
export const sourceTables = Object.fromEntries(
  Object.entries(SOURCE_TYPES).map(([name, { doc, fields }]) => [name, { ...typeRow(name, doc), ...fields, ...sharedFields, ...fields }]),
) as SourceTables;
export const sinkTables: Readonly<Record<string, Table & typeof commonSinkFields>> = Object.fromEntries(
  Object.entries(SINK_TYPES).map(([name, { fields }]) => [name, fields]),
);
export type SourceDraft = Components<typeof sourceTables>;
export type SinkDraft = Components<typeof sinkTables>;

function typeRow(name: string, doc: string) {
  return { type: field(choice([name]), { required: true, example: name, doc }) } satisfies Table;
}

const deadLetterTable = {
  max_bytes: field(size('1KiB', '16384GiB'), { default: '1GiB', doc: 'of refused events that are kept' }),
  when_full: field(choice(['block', 'drop_newest', 'drop_oldest']), {
    default: 'block',
    doc: 'block: batches with refused events wait; else the newest or the oldest refused events are dropped',
  }),
} satisfies Table;

export const agentTable = {
  data_dir: field(anyText, {
    computed: '$STATE_DIRECTORY, else tailrace-data in the working directory',
    example: '/var/lib/tailrace',
    doc: "checkpoints, dead letters and the disk buffer; a relative path starts at this file's folder",
  }),
  shutdown_timeout: field(duration('1s', '1h'), { default: '30s', doc: 'how long to go on delivering after SIGTERM' }),
  host_name: field(anyText, {
    computed: "the system's",
    example: '${HOSTNAME}',
    doc: 'the `host` of events; in a container, whose own name says little, that of its machine: `${NODE_NAME}`',
  }),
  origin: field(originKind, {
    computed: 'host and file of text lines, nothing of JSON lines',
    example: '[host, file]',
    doc: 'what the events of every source say of where they are from: see `origin` of a source',
  }),
  fields: field(staticFields, { default: '{}', example: '{env: prod}', doc: 'added to every event' }),
  transform: field(transform, {
    example: '{script: ./shape.ts}',
    doc: "shapes the events of all sources, after the source's own transform",
  }),
  dead_letter: field(group(deadLetterTable), { default: '{}', doc: 'events that the service refused (`tailrace dead-letters`)' }),
  telemetry: field(group(telemetryTable), { default: '{}', doc: "the agent's own metrics, health and log" }),
  sources: field(section('source', sourceTables), {
    required: true,
    doc: 'where events come from: an id of your choice and a mapping for each',
  }),
  sinks: field(section('sink', sinkTables), { required: true, doc: 'where events go: an id of your choice and a mapping for each' }),
  include_config: field(globOrList, {
    default: '[]',
    example: '[conf.d/*.yaml]',
    doc: 'files with more `sources`, `sinks` and `tests`, relative to this file: see above',
  }),
  tests: field(testList, {
    default: '[]',
    example: "[{source: app, input: ['…'], expect: [{message: '…'}]}]",
    doc: 'lines and the events that they become, run by `tailrace test`: docs/preview.md',
  }),
} satisfies Table;

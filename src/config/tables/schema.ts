/**
 * The field tables of the agent and its telemetry, and the way to those of sources and sinks. One table per component
 * is all there is: parsing, unknown-key errors, defaults, config.example.yaml, docs/configuration.md's tables and
 * docs/config.schema.json come from it (scripts/generate.ts writes the files).
 */
import { agentFields } from '../common/agent-fields.ts';
import { sharedFields } from '../../sources/common/source-fields.ts';
import { PRESET_FIELDS, SOURCE_TYPES, type SourceTypeName } from '../../sources/registry.ts';
import { type AnyComponent, section } from '../fields/components.ts';
import { choice } from '../fields/kinds.ts';
import { globOrList } from '../fields/kinds-special.ts';
import { field } from '../fields/field.ts';
import type { FieldTable } from '../fields/field.ts';
import { SINK_TYPES } from '../../sinks/registry.ts';
import type { commonSinkFields } from '../../sinks/common/sink-type.ts';
import { presetTestList, testList } from '../common/test-fields.ts';

export const presetTable = {
  ...PRESET_FIELDS,
  ...sharedFields,
  tests: field(presetTestList, {
    default: '[]',
    example: "[{input: ['…'], expect: [{message: '…'}]}]",
    doc: 'lines and the events that they become, run by `tailrace test`',
  }),
} satisfies FieldTable;

type SourceTables = {
  readonly [K in SourceTypeName]: ReturnType<typeof typeRow> & (typeof SOURCE_TYPES)[K]['fields'] & typeof sharedFields;
};
export const sourceTables = Object.fromEntries(
  Object.entries(SOURCE_TYPES).map(([name, { doc, fields }]) => [
    name,
    { ...typeRow(name, doc), ...fields, ...sharedFields, ...fields },
  ]),
) as SourceTables;
export const sinkTables: Readonly<Record<string, FieldTable & typeof commonSinkFields>> = Object.fromEntries(
  Object.entries(SINK_TYPES).map(([name, { fields }]) => [name, fields]),
);
export type AnySourceDraft = AnyComponent<typeof sourceTables>;
export type SinkDraft = AnyComponent<typeof sinkTables>;

function typeRow(name: string, doc: string) {
  return { type: field(choice([name]), { required: true, example: name, doc }) } satisfies FieldTable;
}

export const agentTable = {
  ...agentFields,
  sources: field(section('source', sourceTables), {
    required: true,
    doc: 'where events come from: an id of your choice and a mapping for each',
  }),
  sinks: field(section('sink', sinkTables), {
    required: true,
    doc: 'where events go: an id of your choice and a mapping for each',
  }),
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
} satisfies FieldTable;

/** config.example.yaml from the field tables: every key with its default, ready to be edited. */
import type { FieldTable } from '../../src/config/fields/field.ts';
import { agentTable, sourceTables } from '../../src/config/tables/schema.ts';
import { SINK_TYPES } from '../../src/sinks/registry.ts';
import { SOURCE_TYPES, type SourceTypeName } from '../../src/sources/registry.ts';

const COMMENT_COLUMN = 44;

const HEAD = `# Every key of Tailrace's configuration with its default. Keys behind a # are optional and have none.
# Generated from the field tables in src/config by scripts/generate.ts; docs/configuration.md says more.
`;

export function renderExample(): string {
  const { sources: _sources, sinks: _sinks, ...agent } = agentTable;
  const lines = [HEAD, ...renderTable(agent, ''), '', 'sources:'];
  for (const [type, table] of Object.entries(sourceTables))
    lines.push(`  ${SOURCE_TYPES[type as SourceTypeName].exampleId}:`, ...renderTable(table, '    '));
  lines.push('', 'sinks:');
  for (const { exampleId, fields } of Object.values(SINK_TYPES))
    lines.push(`  ${exampleId}:`, ...renderTable(fields, '    '));
  return `${lines.join('\n')}\n`;
}

function renderTable(table: FieldTable, indent: string): string[] {
  return Object.entries(table).flatMap(([key, field]) => {
    // A group without a default is left out as a whole.
    if (field.kind.table === undefined || field.default === undefined) return [renderField(key, field, indent)];
    return [withComment(`${indent}${key}:`, field.doc), ...renderTable(field.kind.table, `${indent}  `)];
  });
}

function renderField(key: string, field: FieldTable[string], indent: string): string {
  const written = field.default ?? field.example ?? '';
  const isLive = field.default !== undefined || field.required === true || field.shown === true;
  const doc = field.computed === undefined ? field.doc : `${field.doc}; default: ${field.computed}`;
  return withComment(`${indent}${isLive ? '' : '# '}${key}: ${written}`, doc);
}

function withComment(text: string, comment: string): string {
  return `${text.padEnd(COMMENT_COLUMN - 1)} # ${comment}`;
}

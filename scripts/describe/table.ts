/** The generated part of docs/configuration.md: one table of keys for each component. */
import type { FieldTable } from '../../src/config/fields/field.ts';
import { agentTable, sinkTables, sourceTables } from '../../src/config/tables/schema.ts';

const BEGIN = '<!-- The tables below are generated from src/config by scripts/generate.ts. -->';
const END = '<!-- End of the generated tables. -->';

/** The document with its generated part replaced. Throws when the marks are missing. */
export function replaceTables(document: string): string {
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/configuration.md has lost its marks: ${BEGIN} … ${END}`);
  return `${document.slice(0, from)}${BEGIN}\n\n${renderTables()}\n${document.slice(to)}`;
}

function renderTables(): string {
  const parts = [section('The agent', agentTable)];
  for (const [type, table] of Object.entries(sourceTables)) parts.push(section(`Source \`${type}\``, table));
  for (const [type, table] of Object.entries(sinkTables)) parts.push(section(`Sink \`${type}\``, table));
  return parts.join('\n');
}

function section(title: string, table: FieldTable): string {
  return [
    `### ${title}`,
    '',
    '| Key | Value | Default | What it does |',
    '|---|---|---|---|',
    ...rows(table, ''),
    '',
  ].join('\n');
}

function rows(table: FieldTable, prefix: string): string[] {
  return Object.entries(table).flatMap(([key, field]) => {
    if (field.kind.table !== undefined) return rows(field.kind.table, `${prefix}${key}.`);
    const inner = field.kind.inner === undefined ? [] : rows(field.kind.inner, `${prefix}${key}.`);
    return [
      `| ${[`\`${prefix}${key}\``, field.kind.type, defaultOf(field), field.doc].map(cell).join(' | ')} |`,
      ...inner,
    ];
  });
}

function defaultOf(field: FieldTable[string]): string {
  if (field.required === true) return '**required**';
  return field.computed ?? (field.default === undefined ? 'none' : `\`${field.default}\``);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

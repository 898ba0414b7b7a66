/** docs/config.schema.json from the field tables: what editors complete and check. Keys not available yet are not in it. */
import type { FieldTable, JsonSchema } from '../../src/config/fields/field.ts';
import { agentTable, sinkTables, sourceTables } from '../../src/config/tables/schema.ts';

const LINE_WIDTH = 120;

/** As text, laid out like the rest of the repository. */
export function renderJsonSchema(): string {
  const { sources, sinks, ...agent } = agentTable;
  const root = objectSchema(agent);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Tailrace configuration',
    ...root,
    required: ['sources', 'sinks'],
    properties: {
      ...(root['properties'] as JsonSchema),
      sources: { description: sources.doc, ...components(sourceTables) },
      sinks: { description: sinks.doc, ...components(sinkTables) },
    },
  };
  return `${layOut(schema, '', 0)}\n`;
}

function components(tables: Record<string, FieldTable>): JsonSchema {
  return { type: 'object', minProperties: 1, additionalProperties: { anyOf: Object.values(tables).map(objectSchema) } };
}

function objectSchema(table: FieldTable): JsonSchema {
  const fields = Object.entries(table).filter(([, field]) => field.kind !== undefined);
  const properties = fields.map(([key, { kind, doc, default: written }]): [string, JsonSchema] => {
    // A group whose keys are all commented out is null.
    const inner = kind.table === undefined ? schemaOf(kind) : { ...objectSchema(kind.table), type: ['object', 'null'] };
    const shown = written === undefined || kind.table !== undefined ? doc : `${doc} (default: ${written})`;
    return [key, { description: shown, ...inner }];
  });
  const required = fields.filter(([, field]) => field.required === true).map(([key]) => key);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties),
  };
}

/** The schema of a value that may be a group, with its keys. */
function schemaOf({ schema, inner }: FieldTable[string]['kind']): JsonSchema {
  if (inner === undefined) return { ...schema };
  return { anyOf: [...(schema['anyOf'] as JsonSchema[]).filter(({ type }) => type !== 'object'), objectSchema(inner)] };
}

/** JSON as the formatter writes it: objects one key a line, lists on one line where they hold no objects and fit. */
function layOut(value: unknown, indent: string, column: number): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const short = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    if (!value.some((item) => typeof item === 'object') && column + short.length < LINE_WIDTH) return short;
    return `[\n${value.map((item) => inner + layOut(item, inner, inner.length)).join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => {
    const start = `${inner}${JSON.stringify(key)}: `;
    return start + layOut(item, inner, start.length);
  });
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

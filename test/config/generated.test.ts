/** What comes from the field tables: the example, the documentation, the JSON Schema. */
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderExample } from '../../scripts/describe/example.ts';
import { renderJsonSchema } from '../../scripts/describe/json-schema.ts';
import { replaceTables } from '../../scripts/describe/table.ts';
import type { FieldTable } from '../../src/config/fields/field.ts';
import { agentTable, sinkTables, sourceTables } from '../../src/config/tables/schema.ts';
import { SINK_TYPES } from '../../src/sinks/registry.ts';
import { SOURCE_TYPES, type SourceTypeName } from '../../src/sources/registry.ts';
import { configOf } from './reading.ts';

const ENV = { TAILRACE_TOKEN: 'token-1', TAILRACE_ORG_ID: 'org-1' };
const ROOT = join(import.meta.dirname, '..', '..');

const bare = (id: string, table: FieldTable): string =>
  `  ${id}: {${Object.entries(table)
    .flatMap(([key, { required, example }]) => (required ? `${key}: ${example}` : []))
    .join(', ')}}`;

/** Only keys without a default. */
const BARE = `
sources:
${Object.entries(sourceTables)
  .map(([type, table]) => bare(SOURCE_TYPES[type as SourceTypeName].exampleId, table))
  .join('\n')}
sinks:
${Object.values(SINK_TYPES)
  .map(({ exampleId, fields }) => bare(exampleId, fields))
  .join('\n')}
`;

test('the example means the same as a configuration without any optional key', () => {
  // Relative paths of a type's keys begin at the file's folder.
  const asText = (_key: string, value: unknown): unknown =>
    value === Infinity || value instanceof RegExp ? String(value) : value;
  const meaning = (text: string): unknown => {
    const { file, ...config } = configOf(text, ENV);
    return JSON.parse(
      JSON.stringify({ ...config, hash: '', written: {} }, asText).replaceAll(dirname(file), '/folder'),
    );
  };
  expect(meaning(renderExample().replace(/^ *token: .*\n/m, ''))).toEqual(meaning(BARE));
});

test('the example still loads with every optional key switched on', () => {
  const text = renderExample()
    .replaceAll(/^( *)# (\w+: .*)$/gm, '$1$2')
    .replace(/^ *token_file: .*\n/m, '')
    // A type of source that it does not name needs a sink that takes all.
    .replace(/(^ *inputs: .*\n[\s\S]*?)^ *inputs: .*\n/m, '$1')
    // `multiline` replaces it.
    .replaceAll(/^ *group: .*\n/gm, '')
    // `formats` replaces it.
    .replaceAll(/^ *format: auto.*\n/gm, '');
  const config = configOf(text, ENV);
  expect(config.dataDir).toBe('/var/lib/tailrace');
  expect(config.sinks[0]).toMatchObject({
    orgId: 'org-1',
    timestampField: 'ts',
    url: 'https://edge.example.com',
    inputs: ['app', 'journal', 'pipe', 'net'],
  });
});

test('the JSON Schema accepts the example and refuses unknown keys', () => {
  const schema = z.fromJSONSchema(JSON.parse(renderJsonSchema()) as Parameters<typeof z.fromJSONSchema>[0]);
  const value = parse(renderExample()) as Record<string, unknown>;
  expect(schema.safeParse(value).error).toBeUndefined();
  expect(schema.safeParse({ ...value, data_dirr: 'x' }).success).toBe(false);
  expect(schema.safeParse({ ...value, shutdown_timeout: 30 }).success).toBe(false);
  expect(schema.safeParse({ sources: value['sources'] }).success).toBe(false);
});

test('the files in the repository are in step with the tables', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  expect(read('config.example.yaml')).toBe(renderExample());
  expect(read('docs/config.schema.json')).toBe(renderJsonSchema());
  expect(read('docs/configuration.md')).toBe(replaceTables(read('docs/configuration.md')));
  const check = spawnSync(process.execPath, [join(ROOT, 'scripts', 'generate.ts'), '--check'], { encoding: 'utf8' });
  expect(check.status, check.stderr).toBe(0);
});

test('a changed table leaves the documentation out of step', () => {
  const document = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8');
  expect(replaceTables(document.replace('| `concurrency` |', '| `concurrent` |'))).toBe(document);
  expect(() => replaceTables('no marks')).toThrow('has lost its marks');
});

test('every field says in one line what it does, and a required one shows how', () => {
  const check = (table: FieldTable, path: string) => {
    for (const [key, field] of Object.entries(table)) {
      expect(field.doc, path + key).toMatch(/^[^\n]{5,200}$/);
      expect(field.doc, path + key).not.toMatch(/\.$/);
      if (field.kind?.table !== undefined) check(field.kind.table, `${path}${key}.`);
      else if (field.kind === undefined) expect(field.example, path + key).toBeDefined();
    }
  };
  check(agentTable, '');
  for (const [type, table] of Object.entries({ ...sourceTables, ...sinkTables })) check(table, `${type}.`);
});

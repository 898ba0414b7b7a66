/** A configuration as one can write it: every key by its own name and in its own units, with its default where it is absent. */
import type { JsonValue } from '../../core/block.ts';
import { defaultNode, type FieldTable } from '../fields/field.ts';
import { agentTable, sinkTables, sourceTables } from '../tables/schema.ts';
import { plainValue, type YamlMap, type YamlNode } from '../yaml/document.ts';

type Written = Record<string, JsonValue>;

/**
 * The root mapping with its included files and presets merged. Variables stay as written; keys without a value and a default are left out.
 */
export function writtenOf(root: YamlMap): Written {
  const written = fill(agentTable, root);
  const { include_config: _included, ...others } = written;
  return {
    ...others,
    sources: components(root, 'sources', sourceTables),
    sinks: components(root, 'sinks', sinkTables),
  };
}

function components(root: YamlMap, key: string, tables: Readonly<Record<string, FieldTable>>): Written {
  const section = nodeOf(root, key);
  if (section?.kind !== 'map') return {};
  return Object.fromEntries(
    section.entries.map(({ key: id, value }) => {
      const body = asMap(value);
      const type = plainValue(nodeOf(body, 'type'));
      return [id, fill(typeof type === 'string' ? (tables[type] ?? {}) : {}, body)];
    }),
  );
}

function fill(table: FieldTable, map: YamlMap): Written {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, declared]) => {
      const node = nodeOf(map, name) ?? defaultNode(declared, name);
      if (node === undefined) return [];
      const inner = declared.kind.table;
      return [[name, inner === undefined ? plainValue(node) : fill(inner, asMap(node))]];
    }),
  );
}

function nodeOf(map: YamlMap, name: string): YamlNode | undefined {
  return map.entries.find(({ key }) => key === name)?.value;
}

function asMap(node: YamlNode): YamlMap {
  return node.kind === 'map' ? node : { kind: 'map', at: node.at, entries: [] };
}

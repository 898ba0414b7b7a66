/** The values of `tests`: lines as they stand, and events as any JSON. Variables mean nothing in them. */
import type { JsonValue } from '../../core/block.ts';
import type { YamlNode } from '../yaml/document.ts';
import { asMap, type Draft, group, type Kind, type Reading, type Table, type Values } from './field.ts';
import { quote } from '../quote.ts';
import { list } from './kinds.ts';

/** One line of a log, or several. */
export const sampleLine: Kind<string> = {
  type: 'text',
  schema: { type: 'string' },
  read: (node, key, reading) => {
    if (node.kind === 'scalar') return node.value === null ? '' : typeof node.value === 'string' ? node.value : node.source;
    reading.report(node.at, `a line of \`${key.name}\` must be text`, 'put it in single quotes: \'{"level":"info"}\'');
    return undefined;
  },
};

export const expectedEvent: Kind<Readonly<Record<string, JsonValue>>> = {
  type: 'mapping of names to any values',
  schema: { type: 'object' },
  read: (node, key, reading) => {
    const map = asMap(node, key.name, reading.report);
    return map && Object.fromEntries(map.entries.map(({ key: name, value }) => [name, jsonOf(value, reading)]));
  },
};

function jsonOf(node: YamlNode, reading: Reading): JsonValue {
  if (node.kind === 'list') return node.items.map((item) => jsonOf(item, reading));
  if (node.kind === 'map') return Object.fromEntries(node.entries.map(({ key, value }) => [key, jsonOf(value, reading)]));
  if (typeof node.value !== 'number' || Number.isFinite(node.value)) return node.value;
  reading.report(node.at, `\`${quote(node.source)}\` is no JSON number`, 'put it in quotes where text is meant');
  return null;
}

/** A list of mappings with the same keys. */
export function groupList<T extends Table>(table: T): Kind<readonly Values<T>[], readonly (Draft<T> | undefined)[]> {
  const items = list(group(table), { filled: false, fix: 'begin each entry with `- `' });
  return {
    type: 'list of mappings',
    schema: { type: 'array', items: { type: 'object' } },
    read: (node, key, reading) => (node.kind === 'scalar' && node.value === null ? [] : items.read(node, key, reading)),
  };
}

/** Reads the `sources` and `sinks` mappings: an id for each component, its type's field table for the rest. */
import { MAX_COMPONENTS } from '../../core/limits.ts';
import type { YamlMap, YamlNode } from '../yaml/document.ts';
import { asMap, readTable } from './field.ts';
import type { FieldDrafts, FieldKind, FieldReading, FieldTable } from './field.ts';
import { choice } from './kinds.ts';
import { nearest } from '../nearest.ts';
import { quote } from '../quote.ts';

/** A component as far as it could be read. `path` is `sources.app`. */
export interface Component<Type extends string, T extends FieldTable> {
  readonly id: string;
  readonly path: string;
  readonly type: Type;
  readonly draft: FieldDrafts<T>;
}

/** Any component of these tables, discriminated by its type. */
export type AnyComponent<Tables extends Tabled> = {
  [K in keyof Tables & string]: Component<K, Tables[K]>;
}[keyof Tables & string];
type Tabled = { readonly [type: string]: FieldTable };

/** The components that were read, and all ids, also of components that could not be read. */
export interface Section<C> {
  readonly components: readonly C[];
  readonly ids: ReadonlySet<string>;
}

/** The kind of `sources` and `sinks`; `tables` by the components' types. */
export function section<Tables extends Tabled>(
  what: 'source' | 'sink',
  tables: Tables,
): FieldKind<Section<AnyComponent<Tables>>> {
  return {
    type: `mapping of ids to ${what}s`,
    schema: {},
    // Each component was read by the table of its type.
    read: (node, _key, reading) =>
      readSection(what, tables, node, reading) as Section<AnyComponent<Tables>> | undefined,
  };
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

function readSection(
  what: string,
  tables: Tabled,
  node: YamlNode,
  reading: FieldReading,
): Section<unknown> | undefined {
  const section = `${what}s`;
  const map = asMap(node, section, reading.report);
  if (map === undefined) return undefined;
  if (map.entries.length === 0)
    reading.report(map.at, `there is no ${what} under \`${section}\``, 'write at least one');
  const ids = new Set<string>();
  const components: Component<string, FieldTable>[] = [];
  for (const [index, { key: id, keyAt, value }] of map.entries.entries()) {
    if (index === MAX_COMPONENTS) {
      reading.report(keyAt, `there are more than ${MAX_COMPONENTS} ${section}`, 'split them over several agents');
      break;
    }
    ids.add(id);
    if (!ID.test(id))
      reading.report(keyAt, `\`${quote(id)}\` cannot be an id`, 'use 1 to 64 letters, digits, `_` and `-`');
    const path = `${section}.${id}`;
    reading.note(path, keyAt, keyAt);
    const body = asMap(value, id, reading.report);
    // Messages about the whole component point at its id, not at its first key.
    if (body) components.push(...readComponent(what, tables, { ...body, at: keyAt }, id, path, reading));
  }
  return { components, ids };
}

/** None when its type is unknown; its keys are judged all the same where there is no doubt which type was meant. */
function readComponent(
  what: string,
  tables: Tabled,
  map: YamlMap,
  id: string,
  path: string,
  reading: FieldReading,
): Component<string, FieldTable>[] {
  const names = Object.keys(tables);
  const typeEntry = map.entries.find((entry) => entry.key === 'type');
  if (typeEntry === undefined) {
    const misspelt = map.entries.find((entry) => nearest(entry.key, ['type']) !== undefined);
    const fix =
      misspelt === undefined
        ? `add \`type: ${names[0]}\`${names.length > 1 ? ` (or ${names.slice(1).join(', ')})` : ''}`
        : `did you mean \`type\` by \`${quote(misspelt.key)}\`?`;
    reading.report(map.at, `the ${what} \`${quote(id)}\` has no \`type\``, fix);
    return [];
  }
  const type = choice(names).read(typeEntry.value, { path: `${path}.type`, name: 'type' }, reading);
  const table = tables[type ?? meantType(typeEntry.value, names) ?? ''];
  if (table === undefined) return [];
  if (type !== undefined) return [{ id, path, type, draft: readTable(table, map, path, reading) }];
  const { type: _, ...others } = table;
  readTable(others, { ...map, entries: map.entries.filter((entry) => entry !== typeEntry) }, path, reading);
  return [];
}

/** The type that a wrong one was meant to be: the nearest, or the only one there is. */
function meantType(node: YamlNode, names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : node.kind === 'scalar' ? nearest(String(node.value), names) : undefined;
}

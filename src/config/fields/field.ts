/**
 * Field tables and how to read them. A component's keys are declared once, in a table; parsing, unknown-key errors, defaults, the example
 * file, the documentation and the JSON Schema all come from it.
 */
import type { JsonValue } from '../../core/block.ts';
import { parseYaml } from '../yaml/document.ts';
import type { ReportProblem, YamlMap, YamlNode, YamlScalar } from '../yaml/document.ts';
import type { Environment } from '../yaml/expand.ts';
import { nearest } from '../nearest.ts';
import { quote } from '../quote.ts';

/** The inputs of reading, and where its findings go. */
export interface FieldReading {
  readonly env: Environment;
  readonly report: ReportProblem;
  /** Secrets are taken for absent: nothing is asked of a service. */
  readonly leavesSecrets?: boolean;
  /** Notes the place of the value of a path (`sinks.store.batch.max_bytes`), for checks across keys. */
  note(path: string, keyAt: number, valueAt: number): void;
  /** Notes a text in another language, for places inside of it. */
  noteText?(path: string, node: YamlScalar): void;
}

/** The key being read: its whole path, and its own name as messages quote it. */
export interface FieldKey {
  readonly path: string;
  readonly name: string;
}

/** A type of value: how it is read, described and checked by editors. `Draft` is its value where parts have problems. */
export interface FieldKind<Value, Draft = Value, Unit extends string = ''> {
  /** `size, 1KiB to 10MiB`: as the documentation shows it. */
  readonly type: string;
  readonly schema: JsonSchema;
  /** The value, or undefined when it was reported. */
  read(node: YamlNode, key: FieldKey, reading: FieldReading): Draft | undefined;
  /** The keys inside, for groups. */
  readonly table?: FieldTable;
  /** The keys inside, if the value may be a group. */
  readonly inner?: FieldTable;
  /** The unit of a number: ends the name of its property (`FieldValues`). */
  readonly unit?: Unit;
  /** Makes the value of a draft without problems, where they are not the same. */
  readonly finish?: (draft: never) => Value;
}

export type JsonSchema = { readonly [key: string]: JsonValue };

export interface FieldOptions {
  /** One line: what the key does. */
  readonly doc: string;
  /** As written in YAML; read like any written value. */
  readonly default?: string;
  /** A default that is only known when the agent starts, in words. */
  readonly computed?: string;
  readonly required?: true;
  /** As written in YAML, where the default does not show it. */
  readonly example?: string;
  /** Optional, yet written out in the example file. */
  readonly shown?: true;
}

export interface Field<Value, Draft = Value, Unit extends string = ''> extends FieldOptions {
  readonly kind: FieldKind<Value, Draft, Unit>;
}

export type FieldTable = { readonly [key: string]: Field<unknown, unknown, string> };

/** The finished values of a table, once there is no problem, by their names in code: `scan_interval` is `scanIntervalMs`. */
export type FieldValues<T extends FieldTable> = {
  readonly [K in keyof T & string as PropertyOf<K, T[K]>]: T[K] extends Field<infer V, infer _D, infer _U> ? V : never;
};

type PropertyOf<K extends string, F> = F extends Field<infer _V, infer _D, infer U> ? WithUnit<Camel<K>, U> : never;
type Camel<K extends string> = K extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : K;
type WithUnit<K extends string, U extends string> = K extends `${string}${U}` ? K : `${K}${U}`;

/** The readable part of a table: any key may be missing. */
export type FieldDrafts<T extends FieldTable> = {
  readonly [K in keyof T]?: T[K] extends Field<infer _V, infer D, infer _U> ? D : never;
};

type Present<O, V> = O extends { default: string } | { required: true } ? V : V | undefined;

export function field<V, D, U extends string, const O extends FieldOptions>(
  kind: FieldKind<V, D, U>,
  options: O,
): Field<Present<O, V>, Present<O, D>, U> {
  return { ...options, kind };
}

/** A mapping with keys of its own; absent, it has all of its defaults. */
export function group<T extends FieldTable>(table: T): FieldKind<FieldValues<T>, FieldDrafts<T>> {
  return {
    type: 'mapping',
    table,
    schema: {},
    read: (node, key, reading) => {
      const map = asMap(node, key.name, reading.report);
      return map && readTable(table, map, key.path, reading);
    },
    finish: (draft: FieldDrafts<T>) => finish(table, draft),
  };
}

/** The node as a mapping; an empty value is an empty mapping. */
export function asMap(node: YamlNode, name: string, report: ReportProblem): YamlMap | undefined {
  if (node.kind === 'map') return node;
  if (node.kind === 'scalar' && node.value === null) return { kind: 'map', at: node.at, entries: [] };
  report(node.at, `\`${name}\` must be a mapping`, 'write its keys below it, indented, one `key: value` a line');
  return undefined;
}

/**
 * Reads a mapping by its table: every unknown, missing or wrong key is reported, absent ones get their
 * defaults. `path` is empty for the root.
 */
export function readTable<T extends FieldTable>(
  table: T,
  map: YamlMap,
  path: string,
  reading: FieldReading,
): FieldDrafts<T> {
  const draft: Record<string, unknown> = {};
  const seen = new Set<string>();
  for (const entry of map.entries) {
    const declared = Object.hasOwn(table, entry.key) ? table[entry.key] : undefined;
    if (declared === undefined) {
      const known = elsewhere(entry.key, table);
      const near = known ?? nearest(entry.key, Object.keys(table));
      // A misspelt key counts as present, so that one mistake is reported once.
      if (near !== undefined) seen.add(near);
      reading.report(
        entry.keyAt,
        `unknown key \`${quote(entry.key)}\``,
        known !== undefined
          ? `it is \`${known}\` here`
          : near === undefined
            ? whereElse(entry.key, table)
            : `did you mean \`${near}\`?`,
      );
      continue;
    }
    seen.add(entry.key);
    const key = { path: join(path, entry.key), name: entry.key };
    reading.note(key.path, entry.keyAt, entry.value.at);
    draft[entry.key] = declared.kind.read(entry.value, key, reading);
  }
  for (const [name, absent] of Object.entries(table)) {
    if (seen.has(name)) continue;
    if (absent.required) {
      const owner = path === '' ? 'the configuration' : `\`${path.slice(path.lastIndexOf('.') + 1)}\``;
      reading.report(
        map.at,
        `${owner} has no \`${name}\``,
        absent.example === undefined ? `add it: ${absent.doc}` : `add \`${name}: ${absent.example}\``,
      );
    } else draft[name] = defaultOf(absent, name);
  }
  // The table's types say what each kind has read.
  return draft as FieldDrafts<T>;
}

const defaultNodes = new Map<string, YamlNode>();

/** The value of an absent key: its written default, read like any other. */
function defaultOf(absent: FieldTable[string], name: string): unknown {
  const node = defaultNode(absent, name);
  return node && absent.kind.read(node, { path: name, name }, { env: {}, report: failOf(name), note: () => {} });
}

/** The written default of a key; undefined where it has none. */
export function defaultNode({ default: written }: FieldTable[string], name: string): YamlNode | undefined {
  if (written === undefined) return undefined;
  const node = defaultNodes.get(written) ?? parseYaml(written, failOf(name));
  if (node !== undefined) defaultNodes.set(written, node);
  return node;
}

function failOf(name: string): ReportProblem {
  return (_at, message) => {
    throw new Error(`the default of \`${name}\` is wrong: ${message}`);
  };
}

/** A finished table: only for drafts of a configuration without problems. */
export function finish<T extends FieldTable>(table: T, draft: FieldDrafts<T>): FieldValues<T> {
  const values = Object.entries(draft).map(([key, value]) => {
    const { unit = '', finish: toValue } = table[key]!.kind;
    const name = key.replaceAll(/_(.)/g, (_, first: string) => first.toUpperCase());
    return [
      name.endsWith(unit) ? name : `${name}${unit}`,
      value === undefined || !toValue ? value : toValue(value as never),
    ];
  });
  // The table's types say what each kind makes.
  return Object.fromEntries(values) as FieldValues<T>;
}

export function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Names of our keys in other agents: no typing mistake leads from one to the other. */
const NAMES_ELSEWHERE: Readonly<Record<string, string>> = {
  path: 'include',
  paths: 'include',
  exclude_path: 'exclude',
  read_from: 'start_at',
  read_from_head: 'start_at',
  ignore_older_secs: 'ignore_older',
  refresh_interval: 'scan_interval',
  max_line_bytes: 'max_event_bytes',
  parser: 'format',
  codec: 'format',
  uri: 'url',
  endpoint: 'url',
};

function elsewhere(name: string, table: FieldTable): string | undefined {
  const known = Object.hasOwn(NAMES_ELSEWHERE, name) ? NAMES_ELSEWHERE[name] : undefined;
  return known !== undefined && Object.hasOwn(table, known) ? known : undefined;
}

/** For an unknown key: the group that has it, or all keys that are allowed here. */
function whereElse(name: string, table: FieldTable): string {
  for (const [groupName, { kind }] of Object.entries(table)) {
    if (kind.table !== undefined && Object.hasOwn(kind.table, name)) return `it belongs under \`${groupName}\``;
  }
  return `known here: ${Object.keys(table).join(', ')}`;
}

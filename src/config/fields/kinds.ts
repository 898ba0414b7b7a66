/** The types of values a field table is made of: text, numbers, quantities, choices, lists. */
import type { YamlNode } from '../yaml/document.ts';
import type { Wrong } from '../config-error.ts';
import { expand, findVariable } from '../yaml/expand.ts';
import { finish, group } from './field.ts';
import type { FieldDrafts, FieldKey, FieldKind, FieldReading, FieldTable, FieldValues, JsonSchema } from './field.ts';
import { nearest } from '../nearest.ts';
import { quote } from '../quote.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';
import type { ParsedQuantity } from './units.ts';

/** The longest text that a key takes, in characters. */
const MAX_TEXT = 4096;
const CONTROL = /[^ -~\xa0-\uffff]/; // `\p{Cc}` without the tables of ICU.
/** Editors accept any text with a variable in place of a number, switch or choice. */
const VARIABLE: JsonSchema = { type: 'string', pattern: '\\$\\{' };

export interface TextOptions<V> {
  readonly type?: string;
  readonly schema?: JsonSchema;
  /** Never shown in messages. The text names another way than a variable's default, which would put the secret into the file. */
  readonly secret?: string;
  /** Turns the text into the value, or reports its fault (`message` follows the quoted value). */
  parse(text: string, key: FieldKey): { readonly value: V } | Wrong;
}

/** Text of at most 4,096 characters without control characters, variables replaced. */
export function text<V = string>(options: TextOptions<V>): FieldKind<V> {
  return {
    type: options.type ?? 'text',
    schema: { type: 'string', ...options.schema },
    read: (node, key, reading) => {
      if (options.secret !== undefined && reading.leavesSecrets === true) return undefined;
      const value = readText(node, key, reading, options.secret);
      if (value === undefined) return undefined;
      const parsed = options.parse(value, key);
      if ('value' in parsed) return parsed.value;
      const subject = options.secret !== undefined ? `\`${key.name}\`` : `\`${key.name}\`: \`${quote(value)}\``;
      reading.report(node.at, `${subject} ${parsed.message}`, parsed.fix);
      return undefined;
    },
  };
}

export const anyText: FieldKind<string> = text({ parse: (value) => ({ value }) });

/** Text that a pattern matches; else `message` and `fix` are reported. */
export function matching(
  pattern: RegExp,
  message: string,
  fix: string,
  options: Omit<TextOptions<string>, 'parse'> = {},
): FieldKind<string> {
  return text({ ...options, parse: (value) => (pattern.test(value) ? { value } : { message, fix }) });
}

export function size(min: string, max: string): FieldKind<number, number, 'Bytes'> {
  return { ...quantity('size', parseSize, formatSize, min, max), unit: 'Bytes' };
}

export function duration(min: string, max: string): FieldKind<number, number, 'Ms'> {
  return { ...quantity('duration', parseDuration, formatDuration, min, max), unit: 'Ms' };
}

/** A duration, or a word for an endless one. */
export function durationOr(word: string, min: string, max: string): FieldKind<number, number, 'Ms'> {
  const kind = duration(min, max);
  return {
    ...kind,
    type: `${kind.type}, or \`${word}\``,
    read: (node, key, reading) =>
      node.kind === 'scalar' && node.value === word ? Infinity : kind.read(node, key, reading),
  };
}

export function integer(min: number, max: number): FieldKind<number> {
  return {
    type: `integer, ${min} to ${max}`,
    schema: { anyOf: [{ type: 'integer', minimum: min, maximum: max }, VARIABLE] },
    read: (node, key, reading) => {
      const found = readScalar(node, key, reading, `a whole number from ${min} to ${max}`);
      if (found === undefined) return undefined;
      const fromVariable = found.variables && /^-?\d{1,15}$/.test(String(found.value));
      const value = fromVariable ? Number(found.value) : found.value;
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      reading.report(
        node.at,
        `\`${key.name}\` must be a whole number from ${min} to ${max}, not \`${quote(found.value)}\``,
      );
      return undefined;
    },
  };
}

export const flag: FieldKind<boolean> = {
  type: 'true or false',
  schema: { anyOf: [{ type: 'boolean' }, VARIABLE] },
  read: (node, key, reading) => {
    const found = readScalar(node, key, reading, 'true or false');
    if (found === undefined) return undefined;
    if (typeof found.value === 'boolean') return found.value;
    if (found.variables && (found.value === 'true' || found.value === 'false')) return found.value === 'true';
    reading.report(
      node.at,
      `\`${key.name}\` must be true or false, not \`${quote(found.value)}\``,
      'write `true` or `false`, without quotes',
    );
    return undefined;
  },
};

/** One of a few words. */
export function choice<const C extends string>(words: readonly C[]): FieldKind<C> {
  const shown = words.map((word) => `\`${word}\``).join(', ');
  return {
    type: `${words.length === 1 ? '' : 'one of '}${shown}`,
    schema: { anyOf: [{ enum: [...words] }, VARIABLE] },
    read: (node, key, reading) => {
      const found = readScalar(node, key, reading, `one of ${words.join(', ')}`);
      if (found === undefined) return undefined;
      const value = String(found.value);
      const match = words.find((word) => word === value);
      if (match !== undefined) return match;
      const near = nearest(value, words);
      const all =
        words.length === 1 ? `write \`${words[0]}\`, the only one there is` : `use one of ${words.join(', ')}`;
      const fix = near === undefined ? all : `did you mean \`${near}\`? Known: ${words.join(', ')}`;
      reading.report(node.at, `\`${key.name}: ${quote(value)}\` is not known`, fix);
      return undefined;
    },
  };
}

/** True, false, or a word for what lies between. */
export function flagOr<const W extends string>(word: W): FieldKind<boolean | W> {
  const kind = choice([word, 'true', 'false']);
  return {
    type: kind.type,
    schema: { anyOf: [{ enum: [word, true, false] }, VARIABLE] },
    read: (node, key, reading) => {
      const found = kind.read(node, key, reading);
      if (found === undefined || found === word) return found as W | undefined;
      return found === 'true';
    },
  };
}

/** One of a few words, or a mapping with keys of its own. */
export function wordOrGroup<const C extends string, T extends FieldTable>(
  words: readonly C[],
  table: T,
): FieldKind<C | FieldValues<T>, C | FieldDrafts<T>> {
  const [word, keys] = [choice(words), group(table)];
  return {
    type: `${word.type}, or a mapping of ${Object.keys(table)
      .map((key) => `\`${key}\``)
      .join(', ')}`,
    schema: { anyOf: [word.schema, { type: 'object' }] },
    inner: table,
    read: (node, key, reading) => (node.kind === 'map' ? keys.read(node, key, reading) : word.read(node, key, reading)),
    finish: (draft: C | FieldDrafts<T>) => (typeof draft === 'string' ? draft : finish(table, draft)),
  };
}

/** A list; with `filled`, one that must not be empty. Items that are wrong are reported and undefined. */
export function list<V, D = V>(
  item: FieldKind<V, D>,
  options: { readonly filled: boolean } & ({ readonly example: string } | { readonly fix: string }),
): FieldKind<readonly V[], readonly (D | undefined)[]> {
  const fix = 'fix' in options ? options.fix : `write a list, such as \`${options.example}\``;
  return {
    type: `list of ${item.type}`,
    schema: { type: 'array', items: item.schema, ...(options.filled ? { minItems: 1 } : {}) },
    read: (node, key, reading) => {
      if (node.kind !== 'list') {
        reading.report(node.at, `\`${key.name}\` must be a list`, fix);
        return undefined;
      }
      if (options.filled && node.items.length === 0) {
        reading.report(node.at, `\`${key.name}\` is empty`, fix);
        return undefined;
      }
      return node.items.map((child, index) => {
        const path = `${key.path}.${index}`;
        reading.note(path, child.at, child.at);
        return item.read(child, { path, name: key.name }, reading);
      });
    },
  };
}

function quantity(
  name: string,
  parse: (text: string) => ParsedQuantity,
  format: (value: number) => string,
  min: string,
  max: string,
): FieldKind<number> {
  const [low, high] = [bound(parse, min), bound(parse, max)];
  return {
    type: `${name}, ${min} to ${max}`,
    schema:
      name === 'size'
        ? { anyOf: [{ type: 'integer', minimum: low, maximum: high }, { type: 'string' }] }
        : { type: 'string' },
    read: (node, key, reading) => {
      const found = readScalar(node, key, reading, `a ${name}`);
      if (found === undefined) return undefined;
      const written = String(found.value);
      const parsed = parse(written);
      if (!parsed.ok) {
        reading.report(node.at, `\`${key.name}\`: \`${quote(written)}\` ${parsed.message}`, parsed.fix);
        return undefined;
      }
      if (parsed.value >= low && parsed.value <= high) return parsed.value;
      const extreme = parsed.value < low ? `smaller than ${format(low)}` : `larger than ${format(high)}`;
      const side = name === 'size' ? extreme : extreme.replace('smaller', 'shorter').replace('larger', 'longer');
      reading.report(
        node.at,
        `\`${key.name}\`: \`${quote(written)}\` is ${side}`,
        `write a ${name} from ${min} to ${max}`,
      );
      return undefined;
    },
  };
}

function bound(parse: (text: string) => ParsedQuantity, written: string): number {
  const parsed = parse(written);
  if (!parsed.ok) throw new Error(`bad bound ${written}`);
  return parsed.value;
}

function readText(
  node: YamlNode,
  key: FieldKey,
  reading: FieldReading,
  secret: string | undefined,
): string | undefined {
  const found = readScalar(node, key, reading, 'text', secret);
  if (found === undefined) return undefined;
  const { value } = found;
  if (typeof value !== 'string') {
    const written = node.kind === 'scalar' && secret === undefined ? quote(node.source) : '…';
    reading.report(
      node.at,
      `\`${key.name}\` must be text, not a ${typeof value === 'number' ? 'number' : 'switch'}`,
      `put it in quotes: \`"${written}"\``,
    );
  } else if (value === '') reading.report(node.at, `\`${key.name}\` is empty`, 'give it a value, or remove it');
  else if (value.length > MAX_TEXT)
    reading.report(node.at, `\`${key.name}\` is longer than ${MAX_TEXT} characters`, 'shorten it');
  else if (CONTROL.test(value))
    reading.report(node.at, `\`${key.name}\` holds a control character or a line break`, 'remove it');
  else return value;
  return undefined;
}

/** The scalar with its variables replaced; null, lists and mappings are reported as "must be `wanted`". */
export function readScalar(
  node: YamlNode,
  key: FieldKey,
  reading: FieldReading,
  wanted: string,
  orElse?: string,
): { value: string | number | boolean; variables: boolean } | undefined {
  if (node.kind !== 'scalar') {
    reading.report(
      node.at,
      `\`${key.name}\` must be ${wanted}, not a ${node.kind === 'map' ? 'mapping' : 'list'}`,
      `write it as \`${key.name}: value\``,
    );
    return undefined;
  }
  if (node.value === null) {
    reading.report(node.at, `\`${key.name}\` has no value`, 'give it a value, or remove it');
    return undefined;
  }
  if (typeof node.value !== 'string') return { value: node.value, variables: false };
  const expanded = expand(node.value, reading.env, orElse);
  for (const { nth, message, fix } of expanded.problems)
    reading.report(node.at + findVariable(node.source, nth), message, fix);
  return expanded.problems.length > 0 ? undefined : { value: expanded.text, variables: expanded.variables };
}

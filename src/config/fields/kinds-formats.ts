/** Kinds of values that shape events: several formats, types of fields, patterns of paths. */
import { asMap, type FieldKind } from './field.ts';
import { choice, list } from './kinds.ts';
import { pattern } from './kinds-lines.ts';
import { quote } from '../quote.ts';

export interface FormatChoice {
  readonly format: 'text' | 'json' | 'logfmt' | 'combined' | 'regex';
  /** The pattern of `regex`. */
  readonly regex?: string;
}

type NamedTypes = Readonly<Record<string, 'int' | 'float' | 'bool' | 'datetime' | 'json' | 'text' | 'escaped'>>;

const formatWord = choice(['text', 'json', 'logfmt', 'combined']);
const NAMED_GROUP = /\(\?P?<[A-Za-z_]/;

const formatChoice: FieldKind<FormatChoice> = {
  type: '`text`, `json`, `logfmt`, `combined` or `{regex: …}`',
  schema: { anyOf: [formatWord.schema, { type: 'object' }] },
  read: (node, key, reading) => {
    if (node.kind !== 'map') {
      const format = formatWord.read(node, key, reading);
      return format && { format };
    }
    const [entry, ...more] = node.entries;
    if (entry?.key !== 'regex' || more.length > 0) {
      reading.report(
        node.at,
        'a format of several keys, or one that is no `regex`',
        "write `{regex: '^(?<level>\\w+) (?<message>.*)$'}`",
      );
      return undefined;
    }
    const regex = pattern.read(entry.value, { path: `${key.path}.regex`, name: 'regex' }, reading);
    if (regex !== undefined && !NAMED_GROUP.test(regex))
      reading.report(
        entry.value.at,
        '`regex` has no named group, so that events would have no fields',
        'name its groups: `(?<level>\\w+)`',
      );
    return regex === undefined ? undefined : { format: 'regex', regex };
  },
};

// Wrong ones were reported: without problems, all of them are here.
export const formatList = list(formatChoice, { filled: true, example: "[combined, {regex: '…'}, text]" }) as FieldKind<
  readonly FormatChoice[]
>;

const typeWord = choice(['int', 'float', 'bool', 'datetime', 'json', 'text', 'escaped']);

export const namedTypes: FieldKind<NamedTypes> = {
  type: 'mapping of names to `int`, `float`, `bool`, `datetime`, `json`, `text` or `escaped`',
  schema: { type: ['object', 'null'], additionalProperties: typeWord.schema },
  read: (node, key, reading) => {
    const entries = asMap(node, key.name, reading.report)?.entries ?? [];
    const types: [string, NamedTypes[string]][] = [];
    for (const { key: name, value } of entries) {
      const type = typeWord.read(value, { path: `${key.path}.${name}`, name: quote(name) }, reading);
      if (type !== undefined) types.push([name, type]);
    }
    return Object.fromEntries(types);
  },
};

/** One regular expression with named groups, or several. */
export const patternOrList: FieldKind<readonly string[]> = {
  type: 'regular expression, or a list of them',
  schema: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  read: (node, key, reading) => {
    const nodes = node.kind === 'list' ? node.items : [node];
    const patterns: string[] = [];
    for (const each of nodes) {
      const found = pattern.read(each, key, reading);
      if (found !== undefined && !NAMED_GROUP.test(found))
        reading.report(
          each.at,
          `\`${key.name}\` has no named group, so that it gives no fields`,
          'name its groups: `(?<team>[^/]+)`',
        );
      else if (found !== undefined) patterns.push(found);
    }
    return patterns;
  },
};

/** The fields of `tests`, which `tailrace test` runs. */
import { field, type Table, asMap, type Draft, group, type Kind, type Reading, type Values } from '../fields/field.ts';
import { anyText, list } from '../fields/kinds.ts';
import type { JsonValue } from '../../core/block.ts';
import type { YamlNode } from '../yaml/document.ts';
import { quote } from '../quote.ts';

/** One line of a log, or several. */
const sampleLine: Kind<string> = {
  type: 'text',
  schema: { type: 'string' },
  read: (node, key, reading) => {
    if (node.kind === 'scalar') return node.value === null ? '' : typeof node.value === 'string' ? node.value : node.source;
    reading.report(node.at, `a line of \`${key.name}\` must be text`, 'put it in single quotes: \'{"level":"info"}\'');
    return undefined;
  },
};

const expectedEvent: Kind<Readonly<Record<string, JsonValue>>> = {
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
function groupList<T extends Table>(table: T): Kind<readonly Values<T>[], readonly (Draft<T> | undefined)[]> {
  const items = list(group(table), { filled: false, fix: 'begin each entry with `- `' });
  return {
    type: 'list of mappings',
    schema: { type: 'array', items: { type: 'object' } },
    read: (node, key, reading) => (node.kind === 'scalar' && node.value === null ? [] : items.read(node, key, reading)),
  };
}

const linesTable = {
  file: field(anyText, { doc: 'the path of the file that the lines are of, for `file` and `path_fields`' }),
  input: field(list(sampleLine, { filled: true, example: '[\'{"level":"debug"}\']' }), {
    required: true,
    example: '[\'{"level":"debug"}\']',
    doc: 'the lines',
  }),
  expect: field(list(expectedEvent, { filled: false, example: '[{level: info}]' }), {
    required: true,
    example: '[{level: info}]',
    doc: 'the events that they become, in order',
  }),
} satisfies Table;
const testTable = {
  source: field(anyText, { required: true, example: 'app', doc: 'the source that reads the lines' }),
  sink: field(anyText, { doc: 'the sink whose events are expected; default: the first one that the source feeds' }),
  ...linesTable,
} satisfies Table;

export const testList = groupList(testTable);
export const presetTestList = groupList(linesTable);

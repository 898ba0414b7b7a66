/** The keys of `tests`, which `tailrace test` runs, and what these come to. */
import { type FieldDrafts, field, group, type FieldKind, type FieldTable, type FieldValues } from '../fields/field.ts';
import { anyText, list } from '../fields/kinds.ts';
import { jsonObject } from '../fields/kinds-special.ts';

/** One line of a log, or several. */
const sampleLine: FieldKind<string> = {
  type: 'text',
  schema: { type: 'string' },
  read: (node, key, reading) => {
    if (node.kind === 'scalar')
      return node.value === null ? '' : typeof node.value === 'string' ? node.value : node.source;
    reading.report(node.at, `a line of \`${key.name}\` must be text`, 'put it in single quotes: \'{"level":"info"}\'');
    return undefined;
  },
};

/** A list of mappings with the same keys. */
function groupList<T extends FieldTable>(
  table: T,
): FieldKind<readonly FieldValues<T>[], readonly (FieldDrafts<T> | undefined)[]> {
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
  expect: field(list(jsonObject, { filled: false, example: '[{level: info}]' }), {
    required: true,
    example: '[{level: info}]',
    doc: 'the events that they become, in order',
  }),
} satisfies FieldTable;
const testTable = {
  source: field(anyText, { required: true, example: 'app', doc: 'the source that reads the lines' }),
  sink: field(anyText, { doc: 'the sink whose events are expected; default: the first one that the source feeds' }),
  ...linesTable,
} satisfies FieldTable;

export const testList = groupList(testTable);
export const presetTestList = groupList(linesTable);

/** Lines, and the events that they become; `source` and `sink` are ids. */
export type TestConfig = FieldValues<typeof testTable>;
/** Of a user's preset; `path` names its place. */
export type PresetTestConfig = FieldValues<typeof linesTable> & { readonly preset: string; readonly path: string };

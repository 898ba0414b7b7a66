/** Suggestions at a caret come from the parser: what it would read there, and the columns that there are. */
import { expect, test, vi } from 'vitest';
import { QUERY_OPERATORS } from '../../src/language/operators/table.ts';
import { complete } from '../../src/pages/explorer/editor/complete.ts';

const known = {
  datasets: ['app-logs', 'audit'],
  fields: [
    { name: 'status', type: 'integer' },
    { name: 'req id', type: 'string' },
  ],
};
const FIELDS = ['status', 'req id'];
const DATASETS = ['app-logs', 'audit'];
const AGGREGATES = ['count', 'countif', 'dcount'];

/** The labels at the mark. */
function labelsAt(marked: string): string[] {
  const caret = marked.indexOf('^');
  return (complete(marked.replace('^', ''), caret, known)?.suggestions ?? []).map(({ label }) => label);
}

/** Of each operator, what comes first at the mark. */
const OPERATOR_CASES: Readonly<Record<string, readonly (readonly [text: string, first: readonly string[]])[]>> = {
  where: [['where ^', FIELDS], ['where status ^', ['between', 'in', 'and']], ['where status matches ^', ['regex']]],
  sort: [['sort ^', ['by']], ['sort by ^', FIELDS], ['sort by status ^', ['asc', 'desc', 'nulls']], ['sort by status nulls ^', ['first', 'last']]],
  top: [['top 5 ^', ['by']], ['top 5 by ^', FIELDS]],
  take: [['take ^', []], ['take 5^', []]],
  project: [['project ^', FIELDS], ['project status | where ^', ['status', 'iff']]],
  'project-away': [['project-away ^', FIELDS], ['project-away status | where ^', ['req id', 'iff']]],
  'project-keep': [['project-keep ^', FIELDS], ['project-keep status | where ^', ['status', 'iff']]],
  'project-rename': [['project-rename ^', []], ['project-rename code = ^', FIELDS], ['project-rename code = status | where ^', ['req id', 'code']]],
  'project-reorder': [['project-reorder ^', FIELDS], ['project-reorder status ^', ['asc', 'desc']]],
  redact: [['redact ^', FIELDS], ['redact repl^', ['replaceToken=']], ['redact "a" ^', ['on']], ['redact "a" on ^', FIELDS]],
  extend: [['extend ^', FIELDS], ['extend total = ^', FIELDS], ['extend total = 1 | where ^', [...FIELDS, 'total']]],
  parse: [['parse kind=^', ['simple', 'regex', 'relaxed']], ['parse status ^', ['with']], ['parse status with * "x" code:^', ['bool', 'boolean', 'int']], ['parse status with "x" code | where ^', [...FIELDS, 'code']]],
  'parse-where': [['parse-where status ^', ['with']]],
  'parse-kv': [['parse-kv status ^', ['as']], ['parse-kv status as (a) with (^', ['pair_delimiter', 'kv_delimiter', 'quote']], ['parse-kv status as (a: long) | where ^', [...FIELDS, 'a']]],
  'mv-expand': [['mv-expand kind=^', ['bag', 'array']], ['mv-expand status ^', ['to', 'limit']], ['mv-expand status to ^', ['typeof']]],
  'mv-apply': [['mv-apply status ^', ['to', 'limit', 'on']], ['mv-apply item = status on (^', ['where', 'filter']], ['mv-apply item = status on (where ^', [...FIELDS, 'item']]],
  sample: [['sample ^', []]],
  'sample-distinct': [['sample-distinct 5 ^', ['of']], ['sample-distinct 5 of ^', FIELDS]],
  summarize: [['summarize ^', AGGREGATES], ['summarize round(^', AGGREGATES], ['summarize sum(^', FIELDS], ['summarize sum(abs(^', FIELDS], ['summarize n = count() ^', ['by']], ['summarize count() by ^', FIELDS], ['summarize n = count() by status | where ^', ['status', 'n', 'iff']]],
  distinct: [['distinct ^', FIELDS]],
  count: [['count ^', []], ['count | where ^', ['count', 'iff']]],
  'make-series': [['make-series ^', AGGREGATES], ['make-series count() ^', ['default=', 'on']], ['make-series count() on _time ^', ['from', 'to', 'step']], ['make-series count() on _time step 1m ^', ['by']]],
  'top-nested': [['top-nested 3 ^', ['of']], ['top-nested 3 of status ^', ['by']], ['top-nested 3 of status by ^', AGGREGATES]],
  join: [['join ^', [...DATASETS, 'kind=']], ['join kind=^', ['inner', 'innerunique', 'leftouter']], ['join (audit) ^', ['on']], ['join (audit | ^', ['where']], ["join (['au^", ['audit']], ['join (audit | project code) on ^', FIELDS], ['join (audit | project code) on code | where cod^', ['code']]],
  lookup: [['lookup ^', DATASETS], ['lookup kind=^', ['leftouter', 'inner']]],
  union: [['union ^', [...DATASETS, 'kind=', 'withsource=']], ['union kind=^', ['inner', 'outer']]],
  search: [['search ^', FIELDS], ['search kind=^', ['default', 'case_insensitive', 'case_sensitive']]],
  getschema: [['getschema ^', []], ['getschema | where ^', ['ColumnName']]],
  render: [['render ^', ['table', 'timechart', 'linechart']], ['render table ^', ['with']]],
  as: [['as ^', []]],
  serialize: [['serialize ^', FIELDS]],
}; // prettier-ignore

test('every operator has its words, fields and functions at their places', () => {
  expect(Object.keys(OPERATOR_CASES).toSorted()).toEqual(QUERY_OPERATORS.flatMap(({ names, only }) => (only === 'transforms' ? [] : names[0])).toSorted());
  for (const cases of Object.values(OPERATOR_CASES))
    for (const [text, first] of cases) {
      const labels = labelsAt(`['x'] | ${text}`);
      expect(labels.slice(0, Math.max(1, first.length)), text).toEqual(first);
    }
}); // prettier-ignore

test.each([
  ['^', [...DATASETS, 'let']],
  ['ra^', ['range']],
  ['range n ^', ['from']],
  ['range n from 1 ^', ['to']],
  ['print ^', ['iff']],
  ['datatable (a: ^', ['bool']],
  ['search ^', FIELDS],
  ['let t = audit | count; ^', ['t', ...DATASETS]],
  ['let t = audit | project code; t | where ^', ['code', 'iff']],
  ['let limit = 5; audit | where ^', [...FIELDS, 'limit']],
  ['let f = (p: long) { ^', ['p']],
  ["['x'] | where ['re^", ['req id']],
  ['x | where status in (audit | project ^', FIELDS],
  ['x | extend last = toscalar(audit | summarize ^', AGGREGATES],
  // Mistakes before the caret change nothing.
  ['let a = ; x | where ^', FIELDS],
  ['let a = 5 x | where ^', FIELDS],
  ['x | where a = 1 | extend b = 2 | wher c | where ^', [...FIELDS, 'b']],
  ['x | project status | extend b = nosuch(1) | where ^', ['status', 'iff']],
  ['x | where m == "open\n| where ^', FIELDS],
  ['x | take 5 rows | summarize ^', AGGREGATES],
  // No suggestions in texts, in comments, and after numbers.
  ['x | where m == "sta^', []],
  ['x | where m == "[\'sta^', []],
  ['x // sta^', []],
  ['x | where a > 5^', []],
  ['x | where bin(_time, 5m^', []],
  ['"^', []],
])('the parser says what may follow at %s', (text, first) => {
  expect(labelsAt(text).slice(0, Math.max(1, first.length))).toEqual(first);
});

const HOSTILE = ['(', '[', '[[', "['", '{', '"', '`', '```', "@'", '|', '||where ', ';', 'let a = ', 'let a = (', 'x|join (', 'x | where f(', 'not(', '-', '- ', 'a.', 'a[', '//', '/', '\\', '\u202e', '🙂', ' ', '\n', '\n"', '| where a = 1 ', '| extend a = a + a', 'dynamic([', 'dynamic({"a": ', 'toscalar(', ',', '1', '1h', 'union ', 'x in (', 'datetime(', 'a b ', 'let f = (p: long) {']; // prettier-ignore

test('a hostile text throws nothing, whole and at each place of a short one', () => {
  for (const part of HOSTILE)
    for (const start of ['', "['x'] | where "]) {
      const short = start + part.repeat(12);
      for (let caret = 0; caret <= short.length; caret++) complete(short, caret, known);
      const long = start + part.repeat(Math.ceil((64 * 1024 - start.length) / part.length));
      complete(long.slice(0, 64 * 1024), 64 * 1024, known);
      complete(long + part.repeat(100), long.length + 1, known);
    }
});

test('the work grows with the text, not with its square', () => {
  const matches = vi.spyOn(RegExp.prototype, 'exec');
  try {
    const workOf = (text: string): number => {
      matches.mockClear();
      complete(text, text.length, known);
      return matches.mock.calls.length;
    };
    for (const part of HOSTILE) {
      const [half, whole] = [8, 16].map((kib) => workOf(`['x'] | where ${part.repeat((kib * 1024) / part.length)}`));
      expect(whole, part).toBeLessThan(2.5 * half! + 1000);
    }
  } finally {
    matches.mockRestore();
  }
});

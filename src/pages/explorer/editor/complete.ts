/** What may stand at the caret: operators, functions and words of the language from the compiler's tables, datasets, and the fields of the one that is asked. */
import { AGGREGATE_FUNCTIONS, FUNCTION_GROUPS, OPERATORS } from '../../../language/functions/table.ts';
import { QUERY_OPERATORS } from '../../../language/operators/table.ts';
import type { Field } from '../data/api.ts';
import { quoteName } from '../data/query-text.ts';
import { highlight, SOURCES } from './highlight.ts';

export interface Suggestion {
  readonly label: string;
  readonly kind: 'operator' | 'function' | 'aggregation' | 'field' | 'dataset' | 'word';
  readonly detail: string;
  readonly insert: string;
}

export interface Completion {
  /** What a suggestion takes the place of: from here to the caret. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
}

export interface Known {
  readonly datasets: readonly string[];
  readonly fields: readonly Field[];
}

const MOST = 50;
const WORD = /[\p{L}_$][\p{L}\p{N}_$.-]{0,200}$/u;
const DATASET = /\[\s*['"][^'"\n]*$/;
const PLAIN_FIELD = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

const works = ({ only }: { readonly only?: string }): boolean => only !== 'transforms';

const STAGES: readonly Suggestion[] = QUERY_OPERATORS.filter(works).flatMap(({ names, syntax, doc }) =>
  names.map((name) => ({ label: name, kind: 'operator' as const, detail: `${syntax} · ${doc}`, insert: `${name} ` })),
);
/** What a query may begin with beside a dataset. */
const STARTERS: readonly Suggestion[] = [
  ...STAGES.filter(({ label }) => label === 'union' || label === 'search'),
  ...[...SOURCES].map((name) => ({ label: name, kind: 'operator' as const, detail: '', insert: `${name} ` })),
];
const FUNCTIONS: readonly Suggestion[] = FUNCTION_GROUPS.flatMap(([, functions]) => functions)
  .filter(works)
  .map(({ name, syntax, doc }) => ({ label: name, kind: 'function', detail: `${syntax} · ${doc}`, insert: `${name}(` }));
const AGGREGATIONS: readonly Suggestion[] = AGGREGATE_FUNCTIONS.map(({ name, syntax, doc }) => ({
  label: name,
  kind: 'aggregation',
  detail: `${syntax} · ${doc}`,
  insert: `${name}(`,
}));
const WORDS: readonly Suggestion[] = [...[...OPERATORS.keys()].filter((name) => /^[a-z]/.test(name)), 'by', 'asc', 'desc'].map((name) => ({
  label: name,
  kind: 'word',
  detail: OPERATORS.get(name)?.doc ?? '',
  insert: `${name} `,
}));

/** Undefined where nothing is to be suggested: in a comment, a text, or behind a number. */
export function complete(text: string, caret: number, { datasets, fields }: Known): Completion | undefined {
  const before = text.slice(0, caret);
  const names = (all: readonly string[]): Suggestion[] =>
    all.map((name) => ({ label: name, kind: 'dataset', detail: 'dataset', insert: quoteName(name) }));
  const [open] = DATASET.exec(before) ?? [];
  if (open !== undefined && before.trim().startsWith(open.trim())) {
    const suggestions = matching(names(datasets), open.replace(/^\[\s*['"]/, ''));
    return suggestions.length === 0 ? undefined : { from: caret - open.length, suggestions };
  }
  const at = highlight(text).find((piece) => piece.at < caret && caret <= piece.end);
  if (at && (at.kind === 'string' || at.kind === 'number' || at.kind === 'comment')) return undefined;
  const [word = ''] = WORD.exec(before) ?? [];
  const from = caret - word.length;
  const stage = before.slice(0, from).trimEnd();
  const candidates =
    stage === '' || stage.endsWith(';')
      ? [...names(datasets), ...STARTERS]
      : stage.endsWith('|')
        ? STAGES
        : inExpression(stage, [...fieldsOf(fields), ...namesIn(stage)]);
  const suggestions = matching(candidates, word);
  return suggestions.length === 0 ? undefined : { from, suggestions };
}

function inExpression(stage: string, fields: readonly Suggestion[]): readonly Suggestion[] {
  const isSummary = /\|\s*(?:summarize|make-series|top-nested)\b[^|]*$/.test(stage);
  return [...fields, ...(isSummary ? AGGREGATIONS : []), ...WORDS, ...FUNCTIONS];
}

function fieldsOf(fields: readonly Field[]): Suggestion[] {
  return fields
    .filter(({ name }) => name !== '_sysTime')
    .map(({ name, type }) => ({ label: name, kind: 'field', detail: type, insert: PLAIN_FIELD.test(name) ? name : quoteName(name) }));
}

/** Columns that the text itself makes. */
function namesIn(stage: string): Suggestion[] {
  const made = [...stage.matchAll(/(?<![\w'"\]])([A-Za-z_]\w*)\s*=(?![=~])/g)].map(([, name]) => name!);
  return [...new Set(made)].map((name) => ({ label: name, kind: 'field', detail: 'made by this query', insert: name }));
}

/** Those that begin with the word first, then those that have it anywhere. */
function matching(all: readonly Suggestion[], word: string): Suggestion[] {
  const wanted = word.toLowerCase();
  const at = all.map((suggestion) => [suggestion, suggestion.label.toLowerCase().indexOf(wanted)] as const);
  const first = at.filter(([, place]) => place === 0);
  const others = wanted.length < 2 ? [] : at.filter(([, place]) => place > 0);
  return [...first, ...others].slice(0, MOST).map(([suggestion]) => suggestion);
}

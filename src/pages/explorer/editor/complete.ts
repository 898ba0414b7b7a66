/** The parser's candidates at the caret: operators, functions, words of the language, datasets, and the fields of this place. */
import { AGGREGATE_FUNCTIONS, FUNCTION_GROUPS, OPERATORS } from '../../../language/functions/table.ts';
import { OPERATORS_BY_NAME, QUERY_OPERATORS } from '../../../language/operators/table.ts';
import type { Operator } from '../../../language/plan/operator.ts';
import { typeOf } from '../../../language/plan/scope.ts';
import { WANTED } from '../../../language/syntax/parser.ts';
import { readDraft, type QueryDraft } from '../../../language/text/draft.ts';
import type { EventField } from '../data/api.ts';
import { quoteName } from '../data/query-text.ts';

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

export interface KnownNames {
  readonly datasets: readonly string[];
  readonly fields: readonly EventField[];
}

const MOST = 50;
const WORD = /[\p{L}_$][\p{L}\p{N}_$.-]{0,200}$/u;
/** A dataset or a field in brackets, up to the caret. */
const IN_BRACKETS = /\[\s{0,9}['"]([^'"\n]{0,200})$/;
const PLAIN_FIELD = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
/** More than any name that is typed. */
const LONGEST_WORD = 220;

const works = ({ only }: { readonly only?: string }): boolean => only !== 'transforms';

type Described = Pick<Operator, 'syntax' | 'doc'>;
const detailOf = ({ syntax, doc }: Described): string => `${syntax} · ${doc}`;

const STAGES: readonly Suggestion[] = QUERY_OPERATORS.filter(works).flatMap((operator) =>
  operator.names.map((name) => ({
    label: name,
    kind: 'operator' as const,
    detail: detailOf(operator),
    insert: `${name} `,
  })),
);
const callsOf = (
  kind: 'function' | 'aggregation',
  functions: readonly (Described & { readonly name: string })[],
): readonly Suggestion[] =>
  functions.map((each) => ({ label: each.name, kind, detail: detailOf(each), insert: `${each.name}(` }));
const FUNCTIONS = callsOf('function', FUNCTION_GROUPS.flatMap(([, functions]) => functions).filter(works));
const AGGREGATIONS = callsOf('aggregation', AGGREGATE_FUNCTIONS);
const wordsOf = (names: Iterable<string>): readonly Suggestion[] =>
  [...names]
    .filter((name) => /^[a-z_]+=?$/i.test(name))
    .map((name) => ({
      label: name,
      kind: 'word',
      detail: OPERATORS.get(name)?.doc ?? '',
      insert: name.endsWith('=') ? name : `${name} `,
    }));
const INFIX_WORDS = wordsOf([...OPERATORS.keys()].map((name) => (name === 'matches regex' ? 'matches' : name)));

/** Undefined where nothing is to be suggested: in a comment, a text, or behind a number. */
export function complete(text: string, caret: number, known: KnownNames): Completion | undefined {
  const before = text.slice(0, caret);
  const near = before.slice(-LONGEST_WORD);
  const [open, name] = IN_BRACKETS.exec(near) ?? [];
  const quoted = open === undefined ? [] : proposed(before.slice(0, caret - open.length), name!, known);
  const named = quoted
    .filter(({ kind }) => kind === 'dataset' || kind === 'field')
    .map((each) => ({ ...each, insert: quoteName(each.label) }));
  if (named.length > 0) return { from: caret - open!.length, suggestions: named };
  const [word = ''] = WORD.exec(near) ?? [];
  const from = caret - word.length;
  const suggestions = /[\d'"`]/.test(before[from - 1] ?? '') ? [] : proposed(before.slice(0, from), word, known);
  return suggestions.length === 0 ? undefined : { from, suggestions };
}

/** Candidates that may follow the text, and match the word. */
function proposed(text: string, word: string, known: KnownNames): Suggestion[] {
  const draft = readDraft(text);
  return draft ? matching(candidates(draft, known), word) : [];
}

function candidates(draft: QueryDraft, { datasets, fields }: KnownNames): readonly Suggestion[] {
  const { wanted, aggregates, tables } = draft;
  if (wanted.has(WANTED.operator)) return STAGES;
  const isExpression = wanted.has(WANTED.expression);
  const isSource = wanted.has(WANTED.dataset);
  const words = wordsOf(wanted).map((each): Suggestion => {
    const operator = isSource ? OPERATORS_BY_NAME.get(each.label) : undefined;
    return operator ? { ...each, kind: 'operator', detail: detailOf(operator) } : each;
  });
  return [
    ...(isExpression && aggregates ? AGGREGATIONS : []),
    ...(isExpression || wanted.has(WANTED.field) ? fieldsOf(draft, fields) : []),
    ...(isSource
      ? tables.map((name): Suggestion => ({ label: name, kind: 'dataset', detail: MADE, insert: name }))
      : []),
    ...(isSource
      ? datasets.map((name): Suggestion => ({
          label: name,
          kind: 'dataset',
          detail: 'dataset',
          insert: quoteName(name),
        }))
      : []),
    ...words,
    ...(isExpression ? FUNCTIONS : []),
    // Somebody who types an operator before its field shall find it, too.
    ...(isExpression || wanted.has(WANTED.infix) ? INFIX_WORDS : []),
  ];
}

const MADE = 'made by this query';

/** The fields of the dataset that are left at this place, and what the text made. */
function fieldsOf({ scope, values, wanted }: QueryDraft, fields: readonly EventField[]): Suggestion[] {
  const columns = scope();
  const stored = columns.open
    ? fields.filter(({ name }) => name !== '_sysTime' && typeOf(columns, name) !== undefined)
    : [];
  const types = new Map(fields.map(({ name, type }) => [name, type]));
  const made = [...columns.columns.keys(), ...(wanted.has(WANTED.expression) ? values : [])];
  const names = new Set([...stored.map(({ name }) => name), ...made]);
  return [...names].map((name) => ({
    label: name,
    kind: 'field',
    detail: types.get(name) ?? MADE,
    insert: PLAIN_FIELD.test(name) ? name : quoteName(name),
  }));
}

/** Those that begin with the word first, then those that have it anywhere. */
function matching(all: readonly Suggestion[], word: string): Suggestion[] {
  const wanted = word.toLowerCase();
  const at = all.map((suggestion) => [suggestion, suggestion.label.toLowerCase().indexOf(wanted)] as const);
  const first = at.filter(([, place]) => place === 0);
  const others = wanted.length < 2 ? [] : at.filter(([, place]) => place > 0);
  return [...first, ...others].slice(0, MOST).map(([suggestion]) => suggestion);
}

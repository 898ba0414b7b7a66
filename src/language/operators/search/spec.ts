/** search: rows with a term anywhere. */
import { FUNCTIONS, OPERATORS } from '../../functions/table.ts';
import { analyze, applied, applyNamed, EVERYTHING, type NameScope } from '../../plan/analysis.ts';
import { constantNode, type Node, type QueryStage } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readExpression } from '../../syntax/expressions.ts';
import { FIELD_TERM } from '../../syntax/words.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Expression } from '../../syntax/tree.ts';
import { operator, type Operator } from '../../plan/operator.ts';
import { quoteRegex } from '../parse/pattern.ts';

export interface SearchText {
  readonly condition: Expression;
  /** Terms count with their case. */
  readonly cased: boolean;
}

/** `kind=case_sensitive`, after the word search. */
export function readSearchKind(parser: Parser): boolean {
  if (!parser.option('kind')) return false;
  return parser.word(['default', 'case_insensitive', 'case_sensitive'], 'a kind') === 'case_sensitive';
}

/** What follows the word search. */
export function readSearch(parser: Parser): SearchText {
  const cased = readSearchKind(parser);
  parser.hasFieldTerms = true;
  const condition = readExpression(parser);
  parser.hasFieldTerms = false;
  return { cased, condition };
}

/** Comparisons of texts as they are with their case. */
const CASED: Readonly<Record<string, string>> = {
  '=~': '==',
  '!~': '!=',
  'in~': 'in',
  '!in~': '!in',
  has_any: 'has_any_cs',
};
const withCase = (name: string): string => CASED[name] ?? (OPERATORS.has(`${name}_cs`) ? `${name}_cs` : name);

/** A text alone is a term that any field may have; the rest is a condition as in where. */
function conditionOf(expression: Expression, cased: boolean, names: NameScope): Node {
  if (expression.kind === 'constant' && expression.constant.type === 'string')
    return termIn(EVERYTHING, expression.constant.value as string, cased, expression.at);
  if (expression.kind === 'star') return constantNode({ type: 'bool', value: true });
  if (expression.kind === 'call' && expression.name === FIELD_TERM) {
    const [field, term] = expression.args;
    if (term?.kind !== 'constant' || term.constant.type !== 'string')
      throw meaningError(expression.at, 'search wants a term in quotes behind the colon');
    return termIn(analyze(field!, names), term.constant.value as string, cased, expression.at);
  }
  if (
    expression.kind === 'call' &&
    (expression.name === 'and' || expression.name === 'or' || expression.name === 'not')
  ) {
    const args = expression.args.map((arg) => conditionOf(arg, cased, names));
    const spec = OPERATORS.get(expression.name) ?? FUNCTIONS.get(expression.name);
    if (spec)
      return applied(
        spec,
        args,
        expression.at,
        expression.args.map((arg) => arg.at),
      );
  }
  const node = analyze(
    cased && expression.kind === 'call' && expression.operator
      ? { ...expression, name: withCase(expression.name) }
      : expression,
    names,
  );
  if (node.type !== 'bool')
    throw meaningError(expression.at, 'search wants terms in quotes and conditions, with and, or, not');
  return node;
}

/** With `*` at an end the term may go on there; inside it matches any characters of the same field, `?` matches one. */
function termIn(field: Node, term: string, cased: boolean, at: number): Node {
  const [before, after] = [term.startsWith('*'), term.endsWith('*')];
  const text = term.replaceAll(/^\*|\*$/g, '');
  const match = (name: string, value: string): Node =>
    applyNamed(name, at, field, constantNode({ type: 'string', value }));
  if (/[*?]/.test(text)) {
    const parts = text.split('*').map((part) => part.split('?').map(quoteRegex).join(ONE_CHARACTER));
    return match(
      'matches regex',
      `(?s${cased ? '' : 'i'})${before ? '' : EDGE_BEFORE}${parts.join(WITHIN_FIELD)}${after ? '' : EDGE_BEHIND}`,
    );
  }
  const name = before ? (after ? 'contains' : 'hassuffix') : after ? 'hasprefix' : 'has';
  return match(cased ? `${name}_cs` : name, text);
}

/** Terms are of letters and digits. A character of its own separates the texts of fields. */
const EDGE_BEFORE = String.raw`(?:^|[^\p{L}\p{N}])`;
const EDGE_BEHIND = String.raw`(?:$|[^\p{L}\p{N}])`;
const ONE_CHARACTER = String.raw`[^\x01]`;
const WITHIN_FIELD = `${ONE_CHARACTER}*`;

export function searched({ condition, cased }: SearchText, names: NameScope): QueryStage[] {
  return [{ kind: 'where', condition: conditionOf(condition, cased, names) }];
}

export const SEARCH: readonly Operator[] = [
  operator({
    names: ['search'],
    only: 'queries',
    syntax: 'search [kind=case_sensitive] [<field>:]"<term>" [and | or …]',
    doc: 'Keeps rows with the term in any field, or in that one; `kind=case_sensitive` minds the case. Combine it with conditions as in where. `"pre*"`, `"*post"`, `"*part*"` and `"be*end"` stand for parts of terms, `?` for one character, `*` alone for every row. At the beginning of a query it looks through all datasets (`search in (a, b) "term"` through those), and `$table` says where each row is from.',
    read: readSearch,
    plan: (form, names) => ({ stages: searched(form, names), scope: names.scope }),
  }),
];

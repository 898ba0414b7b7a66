/** search: rows in which a term stands anywhere. */
import { FUNCTIONS, OPERATORS } from '../functions/table.ts';
import { analyze, applied, EVERYTHING, type Names } from '../plan/analysis.ts';
import type { Node, Stage } from '../plan/tree.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readExpression } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import type { Expression } from '../syntax/tree.ts';
import type { Operator } from './operator.ts';

export interface SearchText {
  readonly condition: Expression;
  /** Terms count with their case. */
  readonly cased: boolean;
}

/** `kind=case_sensitive`, which stands behind the word search. */
export function readSearchKind(parser: Parser): boolean {
  if (!parser.accept('kind')) return false;
  parser.expect('=', 'after kind');
  const cased = parser.accept('case_sensitive');
  if (!cased && !parser.accept('case_insensitive') && !parser.accept('default'))
    throw parser.unexpected('a kind out of default, case_insensitive, case_sensitive');
  return cased;
}

/** What follows the word search. */
export function readSearch(parser: Parser): SearchText {
  const cased = readSearchKind(parser);
  return { cased, condition: readExpression(parser) };
}

/** A text alone is a term that any field may have; the rest is a condition as in where. */
function conditionOf(expression: Expression, cased: boolean, names: Names): Node {
  if (expression.kind === 'constant' && expression.constant.type === 'string') return anywhere(expression, expression.constant.value as string, cased);
  if (expression.kind === 'call' && (expression.name === 'and' || expression.name === 'or' || expression.name === 'not')) {
    const args = expression.args.map((arg) => conditionOf(arg, cased, names));
    const spec = OPERATORS.get(expression.name) ?? FUNCTIONS.get(expression.name);
    if (spec) return applied(spec, args, expression.at, expression.args.map((arg) => arg.at)); // prettier-ignore
  }
  const node = analyze(expression, names);
  if (node.type !== 'bool') throw new AplError('meaning', expression.at, 'search wants terms in quotes and conditions, with and, or, not');
  return node;
} // prettier-ignore

/** With `*` at an end of it the term may be a part of a word. */
function anywhere({ at }: Expression, term: string, cased: boolean): Node {
  const name = `${term.startsWith('*') || term.endsWith('*') ? 'contains' : 'has'}${cased ? '_cs' : ''}`;
  const text = term.replaceAll(/^\*|\*$/g, '');
  return applied(OPERATORS.get(name)!, [EVERYTHING, { kind: 'constant', type: 'string', constant: { type: 'string', value: text } }], at, [at, at]);
} // prettier-ignore

export function searched({ condition, cased }: SearchText, names: Names): Stage[] {
  return [{ kind: 'where', condition: conditionOf(condition, cased, names) }];
}

export const SEARCH: readonly Operator[] = [
  {
    names: ['search'],
    only: 'queries',
    syntax: 'search [kind=case_sensitive] "<term>" [and | or …]',
    doc: 'Rows in which the term stands in any field, whatever the case without `kind=case_sensitive`; conditions as in where may stand beside it. At the beginning of a query it looks through all datasets (`search in (a, b) "term"` through those), and `$table` says where each row is from.',
    read(parser) {
      const wanted = readSearch(parser);
      return (names) => ({ stages: searched(wanted, names), scope: names.scope });
    },
  },
];

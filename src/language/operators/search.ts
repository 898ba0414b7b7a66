/** search: rows in which a term stands anywhere. */
import { FUNCTIONS, OPERATORS } from '../functions/table.ts';
import { analyze, applied, EVERYTHING, type Names } from '../plan/analysis.ts';
import type { Node, Stage } from '../plan/tree.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readExpression } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import type { Expression } from '../syntax/tree.ts';
import type { Operator } from './operator.ts';

/** What follows the word search. */
export function readSearch(parser: Parser): Expression {
  if (parser.accept('kind')) {
    parser.expect('=', 'after kind');
    parser.take();
  }
  return readExpression(parser);
}

/** A text alone is a term that any field may have; the rest is a condition as in where. */
function conditionOf(expression: Expression, names: Names): Node {
  if (expression.kind === 'constant' && expression.constant.type === 'string') return anywhere(expression, expression.constant.value as string);
  if (expression.kind === 'call' && (expression.name === 'and' || expression.name === 'or' || expression.name === 'not')) {
    const args = expression.args.map((arg) => conditionOf(arg, names));
    const spec = OPERATORS.get(expression.name) ?? FUNCTIONS.get(expression.name);
    if (spec) return applied(spec, args, expression.at, expression.args.map((arg) => arg.at)); // prettier-ignore
  }
  const node = analyze(expression, names);
  if (node.type !== 'bool') throw new AplError('meaning', expression.at, 'search wants terms in quotes and conditions, with and, or, not');
  return node;
} // prettier-ignore

/** With `*` at an end of it the term may be a part of a word. */
function anywhere({ at }: Expression, term: string): Node {
  const name = term.startsWith('*') || term.endsWith('*') ? 'contains' : 'has';
  const text = term.replaceAll(/^\*|\*$/g, '');
  return applied(OPERATORS.get(name)!, [EVERYTHING, { kind: 'constant', type: 'string', constant: { type: 'string', value: text } }], at, [at, at]);
} // prettier-ignore

export function searched(condition: Expression, names: Names): Stage[] {
  return [{ kind: 'where', condition: conditionOf(condition, names) }];
}

export const SEARCH: readonly Operator[] = [
  {
    names: ['search'],
    only: 'queries',
    syntax: 'search "<term>" [and | or …]',
    doc: 'Rows in which the term stands in any field, whatever the case; conditions as in where may stand beside it. At the beginning of a query it looks through all datasets (`search in (a, b) "term"` through those), and `$table` says where each row is from.',
    read(parser) {
      const condition = readSearch(parser);
      return (names) => ({ stages: searched(condition, names), scope: names.scope });
    },
  },
];

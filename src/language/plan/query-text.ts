/** A query's text, read: `let` statements, the dataset, and what its pipes lead through. `planOf` makes the typed tree of it. */
import { SERVICE_QUERY_STAGES, SERVICE_QUERY_TEXT } from '../../core/limits.ts';
import { guess } from '../functions/table.ts';
import type { Step, Use } from '../operators/operator.ts';
import { OPERATORS_BY_NAME, QUERY_OPERATORS } from '../operators/table.ts';
import { otherOperator } from '../other-names.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readColumnName, readExpression } from '../syntax/expressions.ts';
import { Parser } from '../syntax/parser.ts';
import type { Expression } from '../syntax/tree.ts';
import type { Constant } from '../types.ts';
import { analyze } from './analysis.ts';
import { closed, EVENTS } from './scope.ts';
import { constantNode, type Node, type Stage } from './tree.ts';

export interface QueryText {
  readonly source: { readonly name: string; readonly at: number };
  readonly lets: readonly { readonly name: string; readonly value: Expression }[];
  readonly steps: readonly Step[];
}

/** Throws an `AplError`. */
export function readQuery(text: string): QueryText {
  if (text.length > SERVICE_QUERY_TEXT) throw new AplError('syntax', 0, `the query is longer than ${SERVICE_QUERY_TEXT} characters`);
  const parser = new Parser(text);
  const lets = readLets(parser);
  const source = readSource(parser);
  const steps: Step[] = [];
  while (parser.accept('|')) {
    if (steps.length === SERVICE_QUERY_STAGES)
      throw new AplError('syntax', parser.token.at, `the query has more than ${SERVICE_QUERY_STAGES} operators`);
    steps.push(readStep(parser, 'queries').step);
  }
  while (parser.accept(';'));
  if (parser.token.kind !== 'end') throw parser.unexpected('| or the end of the query');
  return { source, lets, steps };
}

/** `let name = constant;`, any number of them; `set …;` has no meaning here. */
export function readLets(parser: Parser): QueryText['lets'] {
  const lets: { name: string; value: Expression }[] = [];
  for (;;) {
    if (parser.accept(';')) continue;
    if (parser.accept('let')) {
      const name = readColumnName(parser, 'a name after let');
      parser.expect('=', 'after the name');
      lets.push({ name, value: readExpression(parser) });
      parser.expect(';', 'after let');
    } else if (parser.accept('set')) {
      // Options of the hosted services; none has a meaning here.
      while (!parser.is(';') && parser.token.kind !== 'end') parser.take();
      parser.expect(';', 'after set');
    } else return lets;
  }
}

/** `['any-name']`, `["any-name"]`, or the name as it is. */
function readSource(parser: Parser): QueryText['source'] {
  const { token, text } = parser;
  if (parser.accept('[')) {
    const name = parser.take();
    if (name.kind !== 'string') throw new AplError('syntax', name.at, "wanted the name of a dataset in quotes, such as ['my-logs']");
    parser.expect(']', 'after the name of the dataset');
    return { name: name.value, at: token.at };
  }
  const bare = /[A-Za-z0-9_][A-Za-z0-9_.-]*/y;
  bare.lastIndex = token.at;
  const name = bare.exec(text)?.[0];
  if (name === undefined || token.kind === 'end') throw parser.unexpected("the name of a dataset, such as ['my-logs']");
  parser.skipTo(token.at + name.length);
  return { name, at: token.at };
}

/** The offset behind the dataset that a text begins with. Throws an `AplError`. */
export function endOfSource(text: string): number {
  const parser = new Parser(text);
  readLets(parser);
  readSource(parser);
  return parser.end;
}

/** A word that begins here, hyphens included. */
export function operatorWordAt({ text, token }: Parser): string | undefined {
  const word = /[A-Za-z]+(?:[-_][A-Za-z]+)*/y;
  word.lastIndex = token.at;
  return word.exec(text)?.[0];
}

/** One operator. `use`: what the text is, which decides on the operators that it may have. */
export function readStep(parser: Parser, use: Use): { readonly name: string; readonly step: Step } {
  const { token } = parser;
  const whole = operatorWordAt(parser);
  if (whole === undefined || token.kind !== 'name') throw parser.unexpected('an operator such as where or summarize after |');
  const name = OPERATORS_BY_NAME.has(whole) ? whole : token.text;
  const operator = OPERATORS_BY_NAME.get(name);
  if (!operator) {
    const list = use === 'transforms' ? `there are ${operatorNames(use)}` : undefined;
    const fixes = [otherOperator(whole) ?? guess(whole, OPERATORS_BY_NAME.keys()), list].filter((fix) => fix !== undefined);
    throw new AplError('syntax', token.at, `unknown operator ${JSON.stringify(whole)}`, fixes.join('; ') || undefined);
  }
  if (operator.only === 'queries' && use === 'transforms')
    throw new AplError(
      'meaning',
      token.at,
      `${name} works in queries only, which see many events`,
      `a transform has ${operatorNames(use)}`,
    );
  if (operator.only === 'transforms' && use === 'queries') throw new AplError('meaning', token.at, `${name} works in transforms only`);
  parser.skipTo(token.at + name.length);
  return { name, step: operator.read(parser, token.at, use) };
}

const operatorNames = (use: Use): string =>
  QUERY_OPERATORS.filter(({ only }) => only === undefined || only === use)
    .map(({ names }) => names[0])
    .join(', ');

/** The typed tree. `variables` come with the request; `let` goes before them. */
export function planOf(query: QueryText, variables: ReadonlyMap<string, Constant>): Stage[] {
  const lets = letNodes(query.lets, variables);
  let scope = EVENTS;
  return query.steps.flatMap((step) => {
    const result = step({ scope, lets });
    ({ scope } = result);
    return [...result.stages];
  });
}

/** Values by their names; those of `let` go before the others. */
export function letNodes(texts: QueryText['lets'], variables: ReadonlyMap<string, Constant>): ReadonlyMap<string, Node> {
  const lets = new Map<string, Node>([...variables].map(([name, constant]) => [name, constantNode(constant)] as const));
  for (const { name, value } of texts) lets.set(name, analyze(value, { scope: closed([]), lets }));
  return lets;
}

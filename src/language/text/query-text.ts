/** A query's text, read: `let` statements, where the rows come from, and what the pipes lead through. `planOf` makes the typed tree of it. */
import { SERVICE_QUERY_STAGES, SERVICE_QUERY_TEXT } from '../limits.ts';
import type { OperatorResult, OperatorStep, OperatorUse } from '../plan/operator.ts';
import { OPERATORS_BY_NAME, QUERY_OPERATORS } from '../operators/table.ts';
import { unionOf } from '../operators/union/spec.ts';
import { planSource } from './source-plan.ts';
import { foreignLanguage } from '../foreign-queries.ts';
import { guess, foreignOperator } from '../foreign-names.ts';
import type { AplError } from '../syntax/apl-error.ts';
import { meaningError, syntaxError } from '../syntax/apl-error.ts';
import { Parser, quoteToken, WANTED } from '../syntax/parser.ts';
import type { Pipeline } from '../syntax/tree.ts';
import type { Constant } from '../types.ts';
import { bindLets, type NameScope } from '../plan/analysis.ts';
import { boundedTree, queriesIn, type Lets, type LetText } from '../plan/lets.ts';
import { virtualStages, type Named } from '../plan/virtual.ts';
import { readLets } from './let-text.ts';
import { QueryReading, readSource, tableText, type PipelineText, type SourceText } from './sources.ts';
import { closed, EVENTS, extended } from '../plan/scope.ts';
import {
  constantNode,
  type Column,
  type ColumnScope,
  type DatasetName,
  type Node,
  type QueryStage,
  type Tree,
} from '../plan/tree.ts';

export interface QueryText {
  /** Datasets that are named anywhere in it, in the order of the text. */
  readonly datasets: readonly DatasetName[];
  readonly lets: readonly LetText[];
  readonly pipeline: Pipeline;
  /** Options that `set` gave, none of which does anything. */
  readonly options: readonly string[];
  /** Fields that it names anywhere. */
  readonly named: Named;
}

/** Throws an `AplError`. */
export function readQuery(text: string): QueryText {
  if (text.length > SERVICE_QUERY_TEXT)
    throw syntaxError(0, `the query is longer than ${SERVICE_QUERY_TEXT} characters`);
  const other = foreignLanguage(text);
  if (other) throw syntaxError(0, `this is ${other.name}`, `here it would be: ${other.here}`);
  const reading = begin(text);
  const { parser, lets } = reading;
  readLets(parser, reading, lets);
  const pipeline = readPipeline(reading);
  const isOver = parser.is(';');
  while (parser.accept(';'));
  if (isOver && parser.token.kind !== 'end')
    throw syntaxError(
      parser.token.at,
      'a query has one result',
      'to ask for several tables at once, name them with let and put them together with union or join',
    );
  if (parser.token.kind !== 'end') throw notBehindQuery(pipeline, parser);
  return { datasets: reading.datasets, options: reading.options, lets, pipeline, named: parser };
}

/** No pipe follows the source: words to look for, or an operator without a dataset. */
function notBehindQuery({ source, steps }: PipelineText, parser: Parser): AplError {
  const { token, text } = parser;
  const first =
    source.kind === 'dataset' && steps.length === 0 && text[source.name.at] !== '[' ? source.name : undefined;
  const whole = first && operatorWordAt({ text, token: { ...token, at: first.at } });
  const other = whole === undefined ? undefined : (REFUSED.get(whole) ?? foreignOperator(whole));
  if (whole !== undefined && (OPERATORS_BY_NAME.has(whole) || other !== undefined))
    return syntaxError(first!.at, `${whole} needs rows before it`, other ?? `write ['dataset'] | ${whole} …`);
  if (first && token.text === '(')
    return syntaxError(
      first.at,
      'a query begins with the name of a dataset',
      'to see what a function gives write print',
    );
  const words = first && text.slice(first.at).trim();
  if (words === undefined || !/^[\p{L}\p{N}_.\- "]{1,200}$/u.test(words))
    return parser.unexpected('| or the end of the query');
  const terms = [...words.matchAll(/"[^"]*"|[^\s"]+/g)].map(([term]) => (term.startsWith('"') ? term : `"${term}"`));
  return syntaxError(
    token.at,
    `found ${quoteToken(token.text)} behind the name of a dataset`,
    `to look for words write search ${terms.join(' and ')}`,
  );
}

/** A text of which nothing is read yet. */
export function begin(text: string): QueryReading {
  const parser = new Parser(text);
  const reading = new QueryReading(parser);
  parser.subqueries = {
    begins: () => reading.begins(),
    read: () => readPipeline(reading),
    table: () => tableText(reading),
    steps: () => readPipeline(reading, false),
  };
  return reading;
}

/** Without a source operators alone, in parentheses: `where a > 1 | extend b = a`. */
function readPipeline(reading: QueryReading, hasSource = true): PipelineText {
  const { parser, unfinished } = reading;
  const { at } = parser.token;
  const source: SourceText = hasSource ? readSource(reading) : { kind: 'none' };
  const steps: OperatorStep[] = [];
  unfinished.push({ at, source, steps });
  for (let goesOn = !hasSource || parser.accept('|'); goesOn; goesOn = parser.accept('|')) {
    if (steps.length === SERVICE_QUERY_STAGES)
      throw syntaxError(parser.token.at, `the query has more than ${SERVICE_QUERY_STAGES} operators`);
    steps.push(readStep(parser, 'queries'));
  }
  unfinished.pop();
  return { at, source, steps };
}

/** Operators that other services of this API family have and this one does not, with what to write instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['evaluate', 'plugins are not run here; take fields out of an object by name (obj.field), or write a summarize'],
  [
    'invoke',
    'functions of tables are not called with invoke; write the name of a let behind union, join or as the source',
  ],
]);

/** The offset after the source that a text begins with, most often its dataset. Throws an `AplError`. */
export function endOfSource(text: string): number {
  const reading = begin(text);
  readLets(reading.parser, reading);
  readSource(reading);
  return reading.parser.end;
}

/** A word that begins here, hyphens included. */
export function operatorWordAt({ text, token }: Pick<Parser, 'text' | 'token'>): string | undefined {
  const word = /[A-Za-z]+(?:[-_][A-Za-z]+)*/y;
  word.lastIndex = token.at;
  return word.exec(text)?.[0];
}

/** One operator. `use`: what the text is, which decides on the operators that it may have. */
export function readStep(parser: Parser, use: OperatorUse): OperatorStep {
  const { token } = parser;
  const whole = operatorWordAt(parser);
  if (whole === undefined || token.kind !== 'name') throw parser.unexpected(WANTED.operator);
  const name = whole.includes('-') ? whole : token.text;
  const operator = OPERATORS_BY_NAME.get(name);
  if (!operator) {
    const refused = REFUSED.get(whole);
    if (refused !== undefined) throw meaningError(token.at, `${whole} is not supported`, refused);
    const near = foreignOperator(whole) ?? guess(whole, OPERATORS_BY_NAME.keys());
    const fixes = [near, `there are ${operatorNames(use)}`].filter((fix) => fix !== undefined);
    throw syntaxError(token.at, `unknown operator ${JSON.stringify(whole)}`, fixes.join('; '));
  }
  if (operator.only === 'queries' && use === 'transforms')
    throw meaningError(
      token.at,
      `${name} works in queries only, which see many events`,
      foreignOperator(name) ?? `a transform has ${operatorNames(use)}`,
    );
  if (operator.only === 'transforms' && use === 'queries')
    throw meaningError(token.at, `${name} works in transforms only`);
  parser.skipTo(token.at + name.length);
  const form = operator.read(parser, token.at, use);
  return { name, text: parser.text.slice(token.at, parser.end), at: token.at, form };
}

/** The stages of an operator, once the columns before it are known. */
export const planStep = ({ name, form }: OperatorStep, names: NameScope): OperatorResult =>
  OPERATORS_BY_NAME.get(name)!.plan(form, names);

const operatorNames = (use: OperatorUse): string =>
  QUERY_OPERATORS.filter(({ only }) => only === undefined || only === use)
    .map(({ names }) => names[0])
    .join(', ');

/** The typed tree. `variables` come with the request; `let` goes before them. `eventsOf` knows the virtual fields of datasets. */
export function planOf(query: QueryText, variables: ReadonlyMap<string, Constant>, eventsOf = plainEvents): Tree {
  const plan = planner(eventsOf);
  return plan(query.pipeline, letsOf(query.lets, variables, plan));
}

/** Binds the statements of `let`; transforms, which have no tables, give no `plan`. */
export function letsOf(
  texts: readonly LetText[],
  variables: ReadonlyMap<string, Constant>,
  plan?: NameScope['plan'],
): Lets {
  const given = new Map<string, Node>(
    [...variables].map(([name, constant]) => [name, constantNode(constant)] as const),
  );
  return bindLets(texts, given, plan);
}

/** The events of datasets as they are stored. */
export const plainEvents = (...names: readonly DatasetName[]): Tree => ({
  source: { kind: 'datasets', names },
  stages: [],
  scope: EVENTS,
  weight: 1,
});

/** The events of one dataset: stored and virtual fields. */
export interface VirtualEvents {
  readonly dataset: string;
  readonly columns: readonly Column[];
}

/** The events of a name or pattern, of which `found` are the datasets with virtual fields that count, and `others` those without. */
export function eventsWith(name: DatasetName, found: readonly VirtualEvents[], others: readonly string[]): Tree {
  if (found.length === 0) return plainEvents(name);
  const trees = found.map(({ dataset, columns }): Tree => {
    const events = plainEvents({ ...name, text: dataset });
    return { ...events, stages: virtualStages(columns), scope: extended(events.scope, columns) };
  });
  const plain = others.length > 0 ? [plainEvents(...others.map((text) => ({ ...name, text })))] : [];
  const [first, ...rest] = [...trees, ...plain];
  return unionOf(first!, rest, false, undefined, name.at);
}

export function planner(eventsOf: (name: DatasetName) => Tree): NonNullable<NameScope['plan']> {
  const plan = (pipeline: Pipeline, lets: Lets, before?: ColumnScope): Tree => {
    const { source, steps, at } = pipeline as PipelineText;
    const first = before
      ? { ...plainEvents(), scope: before }
      : planSource(source, { scope: closed([]), lets, plan, eventsOf }, at);
    let { scope, weight } = first;
    const stages: QueryStage[] = [...first.stages];
    for (const step of steps) {
      const result = planStep(step, { scope, lets, plan, eventsOf });
      ({ scope } = result);
      for (const stage of result.stages) {
        weight += weightOf(stage);
        stages.push(stage);
      }
      boundedTree({ ...first, weight }, at);
    }
    return { source: first.source, stages, scope, weight };
  };
  return plan;
}

/** Counts the queries in a stage. */
function weightOf(stage: QueryStage): number {
  switch (stage.kind) {
    case 'join':
      return stage.right.weight;
    case 'union':
      return stage.others.reduce((sum, { weight }) => sum + weight, 0);
    case 'where':
      return queriesIn(stage.condition);
    case 'extend':
    case 'project':
      return stage.columns.reduce((sum, { node }) => sum + queriesIn(node), 0);
    default:
      return 0;
  }
}

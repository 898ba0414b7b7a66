/** Where the rows of a query come from: datasets by name, tables of `let`, and the operators that begin a query. */
import { SERVICE_QUERY_MADE_ROWS } from '../limits.ts';
import { readUnion, unionOf, type UnionText } from '../operators/union.ts';
import { columnsOf, type Step } from '../operators/operator.ts';
import { searched, readSearch, readSearchKind } from '../operators/search.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readAssignment, readColumnName, readExpression, readTypeName } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import type { Expression, Pipeline } from '../syntax/tree.ts';
import { TYPE_WORDS, type Constant, type Type } from '../types.ts';
import { analyze, argumentsOf, wrongType, type Names } from '../plan/analysis.ts';
import type { TableNames } from './let-text.ts';
import { closed } from '../plan/scope.ts';
import type { DatasetName, Node, Source, Tree } from '../plan/tree.ts';

/** Makes the rows that a query begins with, once names have a meaning. */
type SourceStep = (names: Names) => Tree;

/** A query as it was read: where its rows come from, and its operators. */
export interface PipelineText extends Pipeline {
  readonly source: SourceStep;
  readonly steps: readonly Step[];
}

const QUOTED = String.raw`\[\s*(?:'[^'\n]*'|"[^"\n]*")\s*\]`;
const BARE = String.raw`[A-Za-z0-9_][A-Za-z0-9_.-]*`;
/** A dataset that a pipe follows. */
const PIPED = new RegExp(String.raw`(?:${QUOTED}|${BARE})\s*\|`, 'y');
/** Nothing but a dataset in brackets. */
const ALONE = new RegExp(String.raw`${QUOTED}\s*[;)},]`, 'y');
const BEGINNING = /(?:datatable|print|union|search|range)\b(?!\s*\()|datatable\s*\(/y;
/** A query may stand in parentheses. */
const OPEN = /(?:\(\s*)*/y;
/** With `*`, all that match. */
const NAME = /[A-Za-z0-9_*][A-Za-z0-9_.*-]*/y;

/** A text while it is read: the datasets that it names, and which names are tables. */
export class Reading implements TableNames {
  readonly parser: Parser;
  readonly datasets: DatasetName[] = [];
  readonly #tables = new Set<string>();

  constructor(parser: Parser) {
    this.parser = parser;
  }

  noteTable(name: string): void {
    this.#tables.add(name);
  }

  isTable(name: string): boolean {
    return this.#tables.has(name);
  }

  begins(): boolean {
    const { token, text } = this.parser;
    if (token.kind === 'name' && this.#tables.has(token.text)) return true;
    OPEN.lastIndex = token.at;
    const at = token.at + OPEN.exec(text)![0].length;
    return [PIPED, ALONE, BEGINNING].some((pattern) => {
      pattern.lastIndex = at;
      return pattern.test(text);
    });
  }

  dataset(text: string, at: number): DatasetName {
    const name = { text, at };
    this.datasets.push(name);
    return name;
  }
}

export function readSource(reading: Reading): SourceStep {
  const { parser } = reading;
  const { at } = parser.token;
  if (parser.accept('print')) return readPrint(parser);
  if (parser.is('range') && !isPiped(parser)) return readRange(parser);
  if (parser.accept('datatable')) return readDatatable(parser);
  if (parser.is('union') && !isPiped(parser)) {
    parser.take();
    return united(readUnion(parser), at);
  }
  if (parser.is('search') && !isPiped(parser)) {
    parser.take();
    return searchedEverywhere(reading, at);
  }
  const first = readTable(reading);
  if (!parser.accept(',')) return first;
  return united(
    {
      tables: [{ at, source: first, steps: [] } as PipelineText, ...parser.list(() => tableText(reading))],
      inner: false,
      source: undefined,
    },
    at,
  );
}

/** A dataset may be called like an operator: then a pipe follows. */
function isPiped({ text, token }: Parser): boolean {
  PIPED.lastIndex = token.at;
  return PIPED.test(text);
}

function united({ tables, inner, source }: UnionText, at: number): SourceStep {
  return (names) => {
    const [first, ...others] = tables.map((table) => names.plan!(table, names.lets));
    return unionOf(first!, others, inner, source, at);
  };
}

/** A dataset, a table of `let`, or a query in parentheses. */
export function tableText(reading: Reading): PipelineText {
  const { at } = reading.parser.token;
  return { at, source: readTable(reading), steps: [] };
}

function readTable(reading: Reading): SourceStep {
  const { parser } = reading;
  const { token, text } = parser;
  if (parser.accept('(')) {
    const pipeline: Pipeline = parser.nested(() => parser.subqueries!.read());
    parser.expect(')', 'after the query');
    return ({ lets, plan }) => plan!(pipeline, lets);
  }
  if (parser.accept('[')) {
    const name = parser.take();
    if (name.kind !== 'string') throw new AplError('syntax', name.at, "wanted the name of a dataset in quotes, such as ['my-logs']");
    parser.expect(']', 'after the name of the dataset');
    return events(reading.dataset(name.value, token.at));
  }
  NAME.lastIndex = token.at;
  const name = NAME.exec(text)?.[0];
  if (name === undefined || token.kind === 'end') throw parser.unexpected("the name of a dataset, such as ['my-logs']");
  parser.skipTo(token.at + name.length);
  return reading.isTable(name) ? readLetTable(parser, name, token.at) : events(reading.dataset(name, token.at));
}

const events =
  (name: DatasetName): SourceStep =>
  ({ eventsOf }) =>
    eventsOf!(name);

function readLetTable(parser: Parser, name: string, at: number): SourceStep {
  const isCall = parser.accept('(');
  const args: Expression[] = !isCall || parser.is(')') ? [] : parser.list(() => readExpression(parser));
  if (isCall) parser.expect(')', `after the arguments of ${name}`);
  return (names) => {
    const bound = names.lets.get(name);
    if (bound?.kind === 'table' && !isCall) return bound.tree;
    if (bound?.kind !== 'function' || !('pipeline' in bound.body) || !isCall) throw new AplError('meaning', at, `${JSON.stringify(name)} is no table here`);
    return names.plan!(bound.body.pipeline, argumentsOf(bound, name, args, at, names));
  };
} // prettier-ignore

const rowsOf = (source: Source, columns: readonly (readonly [string, Type])[]): Tree => ({
  source,
  stages: [],
  scope: closed(columns),
  weight: 1,
});

/** `print a = 1, now()`. */
function readPrint(parser: Parser): SourceStep {
  const assignments = parser.list(() => readAssignment(parser)).map((assignment, n) => ({ ...assignment, name: assignment.name ?? `print_${n}` }));
  return (names) => {
    const columns = columnsOf(assignments, { ...names, scope: closed([]) });
    const one = rowsOf({ kind: 'rows', columns: [], rows: [[]] }, []);
    return { ...one, stages: [{ kind: 'project', columns }], scope: closed(columns.map(({ name, node }) => [name, node.type])) };
  };
} // prettier-ignore

/** `range x from 1 to 10 step 2`. */
function readRange(parser: Parser): SourceStep {
  parser.take();
  const name = readColumnName(parser, 'the name of a column after range');
  const bound = (word: string): Expression => (parser.expect(word, 'in range <name> from <a> to <b> step <c>'), readExpression(parser));
  const [from, to, step] = [bound('from'), bound('to'), bound('step')] as const;
  return (names) => {
    const [first, last, by] = [from, to, step].map((each) => analyze(each, { ...names, scope: closed([]) })) as [Node, Node, Node];
    const { type } = first;
    if (type !== 'int' && type !== 'datetime' && type !== 'timespan') throw wrongType(from.at, 'an integer, a datetime or a timespan', type, 'range');
    if (last.type !== type) throw wrongType(to.at, 'the same type as from', last.type, 'range');
    const width = type === 'int' ? 'int' : 'timespan';
    if (by.type !== width || by.kind !== 'constant' || (by.constant.value as bigint) === 0n) throw new AplError('meaning', step.at, 'range wants a literal other than 0 as its step');
    return rowsOf({ kind: 'range', name, type, from: first, to: last, step: by }, [[name, type]]);
  };
} // prettier-ignore

/** `datatable(name: type, …) [value, …]`: rows one after the other. */
function readDatatable(parser: Parser): SourceStep {
  parser.expect('(', 'after datatable');
  const columns = parser.list(() => {
    const name = readColumnName(parser, 'the name of a column');
    parser.expect(':', 'and a type after the name');
    return [name, readTypeName(parser)] as const;
  });
  parser.expect(')', 'after the columns');
  parser.expect('[', 'before the values');
  const { at } = parser.token;
  const values = parser.is(']') ? [] : [readExpression(parser)];
  while (parser.accept(',') && !parser.is(']')) values.push(readExpression(parser));
  parser.expect(']', 'after the values');
  if (new Set(columns.map(([name]) => name)).size < columns.length) throw new AplError('meaning', at, 'two columns have the same name');
  if (values.length % columns.length !== 0) throw new AplError('meaning', at, `datatable has ${columns.length} columns and ${values.length} values: the last row is not whole`);
  if (values.length > SERVICE_QUERY_MADE_ROWS) throw new AplError('meaning', at, `datatable has more than ${SERVICE_QUERY_MADE_ROWS} values`);
  return (names) => {
    const constants = values.map((value, n) => cellOf(value, columns[n % columns.length]![1], names));
    const rows = Array.from({ length: values.length / columns.length }, (_, row) => constants.slice(row * columns.length, (row + 1) * columns.length));
    return rowsOf({ kind: 'rows', columns, rows }, columns);
  };
} // prettier-ignore

function cellOf(value: Expression, type: Type, names: Names): Constant {
  const node = analyze(value, { ...names, scope: closed([]) });
  if (node.kind !== 'constant') throw new AplError('meaning', value.at, 'datatable wants literals');
  const { constant } = node;
  if (constant.value === null || constant.type === type || type === 'dynamic') return constant;
  if (type === 'real' && constant.type === 'int') return { type, value: Number(constant.value) };
  throw wrongType(value.at, TYPE_WORDS[type], constant.type, 'datatable');
}

/** `search "term"`, or `search in (a, b) "term"`: over datasets, with the name of each in `$table`. */
function searchedEverywhere(reading: Reading, at: number): SourceStep {
  const { parser } = reading;
  let tables: PipelineText[];
  const casedBefore = readSearchKind(parser);
  if (parser.accept('in')) {
    parser.expect('(', 'after search in');
    tables = parser.list(() => tableText(reading));
    parser.expect(')', 'after the datasets');
  } else tables = [{ at, source: events(reading.dataset('*', at)), steps: [] }];
  const { condition, cased } = readSearch(parser);
  const wanted = { condition, cased: cased || casedBefore };
  return (names) => {
    const [first, ...others] = tables.map((table) => names.plan!(table, names.lets));
    const all = unionOf(first!, others, false, '$table', at);
    const stages = searched(wanted, { ...names, scope: all.scope });
    return { ...all, stages: [...all.stages, ...stages] };
  };
}

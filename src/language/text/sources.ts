/** The source that a query begins with, read from its text: datasets by name, tables of `let`, and the operators that begin a query. */
import { SERVICE_QUERY_MADE_ROWS } from '../limits.ts';
import { readSearch, readSearchKind, type SearchText } from '../operators/search/spec.ts';
import { readUnion, type UnionText } from '../operators/union/spec.ts';
import type { LetText } from '../plan/lets.ts';
import type { OperatorStep } from '../plan/operator.ts';
import type { DatasetName } from '../plan/tree.ts';
import { meaningError, syntaxError } from '../syntax/apl-error.ts';
import { readAssignment, readColumnName, readExpression, readTypeName } from '../syntax/expressions.ts';
import { WANTED, type Parser } from '../syntax/parser.ts';
import type { Assignment, Expression, Pipeline } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import type { TableNames } from './let-text.ts';

/** The source of a query, as read. */
export type SourceText =
  | { readonly kind: 'dataset'; readonly name: DatasetName }
  /** A table of `let`; a function of one has arguments. */
  | {
      readonly kind: 'let';
      readonly at: number;
      readonly name: string;
      readonly args: readonly Expression[] | undefined;
    }
  /** A query in parentheses. */
  | { readonly kind: 'query'; readonly pipeline: Pipeline }
  | ({ readonly kind: 'union'; readonly at: number } & UnionText)
  | {
      readonly kind: 'search';
      readonly at: number;
      readonly tables: readonly Pipeline[];
      readonly isEverywhere: boolean;
      readonly wanted: SearchText;
    }
  | { readonly kind: 'print'; readonly assignments: readonly Assignment[] }
  | {
      readonly kind: 'range';
      readonly name: string;
      readonly from: Expression;
      readonly to: Expression;
      readonly step: Expression;
    }
  | {
      readonly kind: 'datatable';
      readonly columns: readonly (readonly [name: string, type: Type])[];
      readonly values: readonly Expression[];
    }
  /** Operators without a source of their own. */
  | { readonly kind: 'none' };

/** A query as it was read: where its rows come from, and its operators. All of it is plain data. */
export interface PipelineText extends Pipeline {
  readonly source: SourceText;
  readonly steps: readonly OperatorStep[];
}

const QUOTED = String.raw`\[\s*(?:'[^'\n]*'|"[^"\n]*")\s*\]`;
const BARE = String.raw`[A-Za-z0-9_][A-Za-z0-9_.-]*`;
/** A dataset that a pipe follows. */
const PIPED = new RegExp(String.raw`(?:${QUOTED}|${BARE})\s*\|`, 'y');
/** Nothing but a dataset in brackets. */
const ALONE = new RegExp(String.raw`${QUOTED}\s*[;)},]`, 'y');
const BEGINNING = /(?:datatable|print|union|search|range)\b(?!\s*\()|(?:datatable|materialize|table)\s*\(/y;
/** A query may be in parentheses. */
const OPEN = /(?:\(\s*)*/y;
/** With `*`, all that match. */
const NAME = /[A-Za-z0-9_*][A-Za-z0-9_.*-]*/y;

/** A text while it is read: the datasets that it names, and which names are tables. */
export class QueryReading implements TableNames {
  readonly parser: Parser;
  readonly datasets: DatasetName[] = [];
  /** Options of `set`. */
  readonly options: string[] = [];
  /** The statements of `let` of the whole text. */
  readonly lets: LetText[] = [];
  /** The queries that are not read to their end yet, the innermost last. */
  readonly unfinished: PipelineText[] = [];
  readonly #tables = new Set<string>();

  constructor(parser: Parser) {
    this.parser = parser;
  }

  noteOption(name: string): void {
    this.options.push(name);
  }

  noteTable(name: string): void {
    this.#tables.add(name);
  }

  isTable(name: string): boolean {
    return this.#tables.has(name);
  }

  begins(): boolean {
    const { token, text } = this.parser;
    this.parser.could(WANTED.dataset);
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

export function readSource(reading: QueryReading): SourceText {
  const { parser } = reading;
  const { at } = parser.token;
  if (parser.accept('print')) return readPrint(parser);
  if (parser.is('range') && !isPiped(parser)) return readRange(parser);
  if (parser.accept('datatable')) return readDatatable(parser);
  if (parser.is('union') && !isPiped(parser)) {
    parser.take();
    return { kind: 'union', at, ...readUnion(parser) };
  }
  if (parser.is('search') && !isPiped(parser)) {
    parser.take();
    return readSearchEverywhere(reading, at);
  }
  const first = readTable(reading);
  if (!parser.accept(',')) return first;
  const tables = [{ at, source: first, steps: [] } as Pipeline, ...parser.list(() => tableText(reading))];
  return { kind: 'union', at, tables, inner: false, source: undefined };
}

/** A dataset may be called like an operator: then a pipe follows. */
function isPiped({ text, token }: Parser): boolean {
  PIPED.lastIndex = token.at;
  return PIPED.test(text);
}

/** A dataset, a table of `let`, or a query in parentheses. */
export function tableText(reading: QueryReading): PipelineText {
  const { at } = reading.parser.token;
  return { at, source: readTable(reading), steps: [] };
}

function readTable(reading: QueryReading): SourceText {
  const { parser } = reading;
  const { token, text } = parser;
  if (parser.accept('(')) {
    const pipeline: Pipeline = parser.nested(() => parser.subqueries!.read());
    parser.expect(')', 'after the query');
    return { kind: 'query', pipeline };
  }
  if (parser.accept('[')) {
    const name = parser.take();
    if (name.kind !== 'string')
      throw syntaxError(name.at, "wanted the name of a dataset in quotes, such as ['my-logs']");
    parser.expect(']', 'after the name of the dataset');
    return { kind: 'dataset', name: reading.dataset(name.value, token.at) };
  }
  if (token.kind === 'string')
    throw syntaxError(
      token.at,
      'a query begins with the name of a dataset',
      `to look for the text write search ${token.text}`,
    );
  NAME.lastIndex = token.at;
  const name = NAME.exec(text)?.[0];
  if (name === undefined || token.kind === 'end') throw parser.unexpected(WANTED.dataset);
  parser.skipTo(token.at + name.length);
  if (name === 'externaldata' && parser.is('('))
    throw meaningError(
      token.at,
      'externaldata is not supported',
      'ingest the file and use lookup, or write its rows as a datatable',
    );
  if (name === 'materialize' && parser.accept('(')) {
    const pipeline: Pipeline = parser.nested(() => parser.subqueries!.read());
    parser.expect(')', 'after the query of materialize');
    return { kind: 'query', pipeline };
  }
  if (name === 'table' && parser.accept('(')) {
    const wanted = parser.unexpected('the name of a dataset in quotes');
    const given = parser.take();
    if (given.kind !== 'string') throw wanted;
    parser.expect(')', 'after the name of the dataset');
    return { kind: 'dataset', name: reading.dataset(given.value, token.at) };
  }
  return reading.isTable(name)
    ? readLetTable(parser, name, token.at)
    : { kind: 'dataset', name: reading.dataset(name, token.at) };
}

function readLetTable(parser: Parser, name: string, at: number): SourceText {
  const isCall = parser.accept('(');
  const args: Expression[] = !isCall || parser.is(')') ? [] : parser.list(() => readExpression(parser));
  if (isCall) parser.expect(')', `after the arguments of ${name}`);
  return { kind: 'let', at, name, args: isCall ? args : undefined };
}

/** `print a = 1, now()`. */
function readPrint(parser: Parser): SourceText {
  const assignments = parser.list(() => readAssignment(parser));
  return { kind: 'print', assignments: assignments.map((each, n) => ({ ...each, name: each.name ?? `print_${n}` })) };
}

/** `range x from 1 to 10 step 2`. */
function readRange(parser: Parser): SourceText {
  parser.take();
  const name = readColumnName(parser, 'the name of a column after range');
  const bound = (word: string): Expression => (
    parser.expect(word, 'in range <name> from <a> to <b> step <c>'),
    readExpression(parser)
  );
  const [from, to, step] = [bound('from'), bound('to'), bound('step')] as const;
  return { kind: 'range', name, from, to, step };
}

/** `datatable(name: type, …) [value, …]`: rows one after the other. */
function readDatatable(parser: Parser): SourceText {
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
  if (new Set(columns.map(([name]) => name)).size < columns.length)
    throw meaningError(at, 'two columns have the same name');
  if (values.length % columns.length !== 0)
    throw meaningError(
      at,
      `datatable has ${columns.length} columns and ${values.length} values: the last row is not whole`,
    );
  if (values.length > SERVICE_QUERY_MADE_ROWS)
    throw meaningError(at, `datatable has more than ${SERVICE_QUERY_MADE_ROWS} values`);
  return { kind: 'datatable', columns, values };
}

/** `search "term"`, or `search in (a, b) "term"`: over datasets, with the name of each in `$table`. */
function readSearchEverywhere(reading: QueryReading, at: number): SourceText {
  const { parser } = reading;
  let tables: Pipeline[];
  const isEverywhere = !parser.is('in');
  const casedBefore = readSearchKind(parser);
  if (parser.accept('in')) {
    parser.expect('(', 'after search in');
    tables = parser.list(() => tableText(reading));
    parser.expect(')', 'after the datasets');
  } else tables = [{ at, source: { kind: 'dataset', name: reading.dataset('*', at) }, steps: [] } as Pipeline];
  const { condition, cased } = readSearch(parser);
  return { kind: 'search', at, tables, isEverywhere, wanted: { condition, cased: cased || casedBefore } };
}

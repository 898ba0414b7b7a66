/**
 * Operators that take texts apart: parse, parse-where and parse-kv. Each becomes one regular expression, and columns that are groups of it:
 * the back ends need to know nothing of them.
 */
import { analyze, applyNamed, type NameScope } from '../../plan/analysis.ts';
import { extended } from '../../plan/scope.ts';
import { constantNode, type Column, type Node, type QueryStage } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readColumnName, readExpression, readTypeName } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Expression } from '../../syntax/tree.ts';
import type { Type } from '../../types.ts';
import { operator, type Operator, type OperatorResult } from '../../plan/operator.ts';
import { countGroups, PATTERN_KINDS, patternOf, quoteRegex, type PatternKind, type PatternPart } from './pattern.ts';

const text = (value: string): Node => constantNode({ type: 'string', value });
const int = (value: number): Node => constantNode({ type: 'int', value: BigInt(value) });

const CONVERSIONS: Readonly<Record<Type, string | undefined>> = {
  string: undefined,
  int: 'toint',
  real: 'todouble',
  bool: 'tobool',
  datetime: 'todatetime',
  timespan: 'totimespan',
  dynamic: 'parse_json',
};

function converted(node: Node, type: Type, at: number): Node {
  const name = CONVERSIONS[type];
  return name === undefined ? node : applyNamed(name, at, node);
}

const group = (pattern: string, number: number, of: Node, at: number): Node =>
  applyNamed('extract', at, text(pattern), int(number), of);

interface Parse {
  readonly at: number;
  readonly kind: PatternKind;
  readonly value: Expression;
  readonly pattern: string;
  readonly captures: readonly { readonly name: string; readonly type: Type; readonly group: number }[];
}

function readParse(parser: Parser, at: number): Parse {
  let kind: PatternKind = 'simple';
  let flags = '';
  if (parser.option('kind')) {
    kind = parser.word(PATTERN_KINDS, 'a kind');
    if (parser.option('flags')) {
      const { token } = parser;
      if (!/^[imsU]+$/.test(token.text)) throw parser.unexpected('flags out of i, m, s and U');
      flags = parser.take().text;
    }
  }
  const value = readExpression(parser);
  parser.expect('with', 'after what is to be parsed');
  const parts: PatternPart[] = [];
  while (parser.token.kind !== 'end' && !parser.is('|') && !parser.is(';')) parts.push(readPart(parser, parts));
  if (parts.length === 0) throw parser.unexpected('texts in quotes, names of columns and * after with');
  let groups = 0;
  const captures = parts.flatMap((part) => {
    if (part.kind === 'text' && kind === 'regex') groups += countGroups(part.text);
    return part.kind === 'column' ? [{ name: part.name, type: part.type, group: ++groups }] : [];
  });
  if (groups > 99) throw meaningError(at, 'the pattern has more than 99 groups');
  return { at, kind, value, pattern: patternOf(parts, kind, flags), captures };
}

function readPart(parser: Parser, before: readonly PatternPart[]): PatternPart {
  const { token } = parser;
  const last = before.at(-1);
  if (parser.accept('*')) {
    if (last?.kind === 'column' && last.type === 'string')
      throw meaningError(
        token.at,
        `the column ${JSON.stringify(last.name)} would always be empty: put a text between it and *`,
      );
    return { kind: 'rest' };
  }
  if (token.kind === 'string') {
    parser.take();
    return { kind: 'text', text: token.value };
  }
  const name = readColumnName(parser, 'a text in quotes, the name of a column or *');
  if (before.some((part) => part.kind === 'column' && part.name === name))
    throw meaningError(token.at, `two columns would be called ${JSON.stringify(name)}`);
  const type = parser.accept(':') ? readTypeName(parser) : 'string';
  return { kind: 'column', name, type };
}

function parsed({ at, kind, value, pattern, captures }: Parse, names: NameScope, filter: boolean): OperatorResult {
  const of = analyze(value, names);
  const columns = captures.map(({ name, type, group: number }): Column => ({
    name,
    node: converted(group(pattern, number, of, at), type, at),
  }));
  const scope = extended(names.scope, columns);
  const found = applyNamed('isnotnull', at, group(pattern, 0, of, at));
  const stages: QueryStage[] = [
    ...(filter ? [{ kind: 'where', condition: found } as const] : []),
    { kind: 'extend', columns },
  ];
  // The pattern finds numbers and times, but a number may be too large and a time may not exist: then the text does not fit.
  const typed =
    kind === 'relaxed' ? [] : columns.filter(({ node }) => node.type !== 'string' && node.type !== 'dynamic');
  const there = typed.map(({ name, node: { type } }) => applyNamed('isnotnull', at, { kind: 'column', type, name }));
  const fits = there.length > 1 ? applyNamed('and', at, ...there) : there[0];
  if (!fits) return { stages, scope };
  if (filter) return { stages: [...stages, { kind: 'where', condition: fits }], scope };
  const kept = columns.map(({ name, node: { type } }): Column => ({
    name,
    node: applyNamed('iff', at, fits, { kind: 'column', type, name }, constantNode({ type, value: null })),
  }));
  return { stages: [...stages, { kind: 'extend', columns: kept }], scope: extended(scope, kept) };
}

interface KeyValues {
  readonly at: number;
  readonly value: Expression;
  readonly keys: readonly { readonly name: string; readonly type: Type }[];
  readonly pair: string;
  readonly kv: string;
  readonly quote: string;
}

function readKeyValues(parser: Parser, at: number): KeyValues {
  const value = readExpression(parser);
  parser.expect('as', 'after what is to be parsed');
  parser.expect('(', 'after as');
  const keys = parser.list(() => {
    const name = readColumnName(parser, 'the name of a key');
    return { name, type: parser.accept(':') ? readTypeName(parser) : ('string' as const) };
  });
  parser.expect(')', 'after the keys');
  const options: Record<string, string> = { pair_delimiter: ' ', kv_delimiter: '=', quote: '"' };
  if (parser.accept('with')) {
    parser.expect('(', 'after with');
    parser.list(() => readOption(parser, options));
    parser.expect(')', 'after the options');
  }
  return { at, value, keys, pair: options['pair_delimiter']!, kv: options['kv_delimiter']!, quote: options['quote']! };
}

function readOption(parser: Parser, options: Record<string, string>): void {
  const name = parser.word(Object.keys(options), 'an option');
  parser.expect('=', `after ${name}`);
  const given = parser.token;
  if (
    given.kind !== 'string' ||
    (given.value === '' && name !== 'quote') ||
    (name === 'quote' && Array.from(given.value).length > 1)
  )
    throw parser.unexpected(name === 'quote' ? 'one character in quotes, or none' : 'a text in quotes');
  parser.take();
  options[name] = given.value;
}

/** The pair of a key, outside of quotes: its value is in the first group when it is quoted, else in the second. */
function keyPattern(name: string, { pair, kv, quote }: KeyValues): string {
  const [pairs, values] = [quoteRegex(pair), quoteRegex(kv)];
  if (quote === '') return `(?s)^(?:.*?${pairs})??\\s*${quoteRegex(name)}${values}(\\b\\B)?(.*?)(?:${pairs}|$)`;
  const q = quoteRegex(quote);
  const inside = `(?:[^\\\\${q}]|\\\\.)*`;
  return `(?s)^(?:(?:[^${q}]|${q}${inside}${q})*?${pairs})??\\s*(?:${quoteRegex(name)}|${q}${quoteRegex(name)}${q})${values}(?:${q}(${inside})${q}|([^${q}].*?|))(?:${pairs}|$)`;
}

function keyValues(read: KeyValues, names: NameScope): OperatorResult {
  const { at } = read;
  const of = analyze(read.value, names);
  const columns = read.keys.map(({ name, type }): Column => {
    const pattern = keyPattern(name, read);
    const value = applyNamed('strcat', at, group(pattern, 1, of, at), group(pattern, 2, of, at));
    const found = applyNamed('isnotnull', at, group(pattern, 0, of, at));
    return {
      name,
      node: converted(applyNamed('iff', at, found, value, constantNode({ type: 'string', value: null })), type, at),
    };
  });
  return { stages: [{ kind: 'extend', columns }], scope: extended(names.scope, columns) };
}

export const PARSE: readonly Operator[] = [
  operator({
    names: ['parse'],
    syntax: 'parse [kind=simple | regex | relaxed] <expression> with [*] "<text>" <name>[:<type>] …',
    doc: 'Takes columns out of a text: what stands between the given texts; `*` skips. Null if the text does not fit.',
    read: readParse,
    plan: (form, names) => parsed(form, names, false),
  }),
  operator({
    names: ['parse-where'],
    syntax: 'parse-where [kind=simple | regex | relaxed] <expression> with …',
    doc: 'Does the same, and keeps only the rows whose text fits.',
    read: readParse,
    plan: (form, names) => parsed(form, names, true),
  }),
  operator({
    names: ['parse-kv'],
    syntax: 'parse-kv <expression> as (<key>[:<type>], …) [with (pair_delimiter=" ", kv_delimiter="=", quote=\'"\')]',
    doc: 'Takes columns out of pairs such as `a=1 b="two words"`; null for a key that is not there.',
    read: readKeyValues,
    plan: keyValues,
  }),
];

/** Expressions, by recursive descent; infix operators by their precedence (Pratt). Throw an `AplError`. */
import type { Constant, Type } from '../types.ts';
import { foreignFunction } from '../foreign-names.ts';
import { AplError, meaningError, syntaxError } from './apl-error.ts';
import { readDynamic, readKey, readLeastInteger, readWritten } from './constants.ts';
import { tooLarge } from './lexer.ts';
import { WANTED, type Parser } from './parser.ts';
import { fieldNameOf, reachingNameOf, type Assignment, type Expression } from './tree.ts';
import { FIELD_TERM, INFIX, LISTS, TYPE_NAMES } from './words.ts';

/** The name of a type, as in `typeof(long)` or after the name of a column. */
export function readTypeName(parser: Parser): Type {
  return TYPE_NAMES.get(parser.word([...TYPE_NAMES.keys()], 'a type'))!;
}

/** `name`, `a.b`, `['any name']`. */
export function readColumnName(parser: Parser, wanted: string = WANTED.field): string {
  const expression = readPath(parser, wanted);
  const name = fieldNameOf(expression);
  if (name === undefined) throw syntaxError(expression.at, `wanted ${wanted}`);
  return name;
}

/** The same, or `a[].b`, which reaches into the items of a list. */
export function readReachingName(parser: Parser): string {
  const expression = readPath(parser, WANTED.field);
  const name = reachingNameOf(expression);
  if (name === undefined) throw syntaxError(expression.at, 'wanted the name of a field');
  return name;
}

/** `expression` or `name = expression`; `isReaching`: the name may reach into lists. */
export function readAssignment(parser: Parser, isReaching = false): Assignment {
  const { at } = parser.token;
  const value = readExpression(parser);
  if (!parser.is('=')) return { at, name: undefined, value, text: parser.text.slice(at, parser.end) };
  const name = isReaching ? reachingNameOf(value) : (fieldNameOf(value) ?? quotedName(value));
  if (name === undefined) throw syntaxError(at, 'only a field can stand before =', 'to compare, write ==');
  parser.take();
  const from = parser.token.at;
  return { at, name, value: readExpression(parser), text: parser.text.slice(from, parser.end) };
}

/** `"User Agent" = ua`. */
const quotedName = (value: Expression): string | undefined =>
  value.kind === 'constant' && typeof value.constant.value === 'string' && value.constant.type === 'string'
    ? value.constant.value
    : undefined;

export function readExpression(parser: Parser, precedence = 0): Expression {
  return parser.nested(() => {
    let left = readOperand(parser);
    for (;;) {
      const { token } = parser;
      parser.could(WANTED.infix);
      const sign = token.kind === 'symbol' || token.kind === 'name' ? token.text : '';
      const binds = sign === FIELD_TERM && parser.hasFieldTerms ? INFIX.get('has') : INFIX.get(sign);
      if (binds === undefined || binds <= precedence) return left;
      parser.take();
      left = readInfix(parser, left, token.text, token.at, binds);
    }
  });
}

function readInfix(parser: Parser, left: Expression, sign: string, at: number, binds: number): Expression {
  if (LISTS.has(sign)) {
    parser.expect('(', `after ${sign}`);
    const items = parser.is(')')
      ? []
      : parser.subqueries?.begins()
        ? [readQuery(parser, sign, false)]
        : parser.list(() => readExpression(parser));
    parser.expect(')', `after the list of ${sign}`);
    return operation(parser, at, sign, [left, ...items]);
  }
  if (sign === 'between' || sign === '!between') {
    parser.expect('(', `after ${sign}`);
    const low = readExpression(parser);
    parser.expect('..', `between the ends of ${sign}`);
    const high = readExpression(parser);
    parser.expect(')', `after the range of ${sign}`);
    return operation(parser, at, sign, [left, low, high]);
  }
  if (sign === 'matches' || sign === '!matches') {
    if (!parser.accept('regex'))
      throw syntaxError(parser.token.at, `wanted "regex" after ${sign}`, `write ${sign} regex`);
    return operation(parser, at, `${sign} regex`, [left, readExpression(parser, binds)]);
  }
  const right = readExpression(parser, binds);
  // Long chains of and and or stay flat.
  if ((sign === 'and' || sign === 'or') && left.kind === 'call' && left.name === sign && left.operator) {
    (left.args as Expression[]).push(right);
    return left;
  }
  return operation(parser, at, sign === '<>' ? '!=' : sign, [left, right]);
}

function readOperand(parser: Parser): Expression {
  const { token } = parser;
  if (token.kind === 'symbol' && token.text === '-') {
    parser.take();
    const least = readLeastInteger(parser);
    if (least) return constantOf(parser, token.at, least);
    const operand = parser.nested(() => readOperand(parser));
    return operand.kind === 'constant' && isNegatable(operand.constant)
      ? constantOf(parser, token.at, negate(operand.constant))
      : operation(parser, token.at, '-', [operand]);
  }
  if (token.kind === 'symbol' && token.text === '+') {
    parser.take();
    return parser.nested(() => readOperand(parser));
  }
  if (token.kind === 'symbol' && token.text === '*') {
    parser.take();
    return { kind: 'star', at: token.at };
  }
  return readPath(parser, WANTED.expression);
}

/** A value and the path into it: `a.b['c'][0]`. */
function readPath(parser: Parser, wanted: string): Expression {
  let value = readPrimary(parser, wanted);
  for (;;) {
    const { token } = parser;
    if (parser.accept('.')) {
      // As in `$left.['service.name']`.
      if (parser.is('[')) continue;
      if (parser.token.kind !== 'name') throw parser.unexpected('a name after the dot');
      value = parser.node({ kind: 'member', at: token.at, object: value, name: parser.take().text });
    } else if (parser.accept('[')) {
      if (parser.accept(']')) {
        value = parser.node({ kind: 'each', at: token.at, object: value });
        continue;
      }
      const index = readExpression(parser);
      parser.expect(']', 'after the index');
      const name =
        index.kind === 'constant' && index.constant.type === 'string' ? (index.constant.value as string) : undefined;
      value = parser.node(
        name === undefined
          ? { kind: 'index', at: token.at, object: value, index }
          : { kind: 'member', at: token.at, object: value, name },
      );
    } else return value;
  }
}

function readPrimary(parser: Parser, wanted: string): Expression {
  const { token } = parser;
  switch (token.kind) {
    case 'string':
    case 'real':
    case 'timespan':
    case 'int':
      if (token.value === 2n ** 63n) throw tooLarge(token.at, token.text);
      parser.take();
      return constantOf(parser, token.at, { type: token.kind, value: token.value });
    case 'name':
      return readNamed(parser, token.at, token.text, wanted);
    case 'symbol':
      if (parser.accept('(')) {
        const inner = readExpression(parser);
        parser.expect(')', 'to close the parenthesis');
        return inner;
      }
      if (parser.accept('[')) {
        const name = parser.take();
        if (name.kind !== 'string')
          throw syntaxError(name.at, "wanted the name of a field in quotes, such as ['my-field']");
        parser.expect(']', 'after the name');
        return parser.node({ kind: 'name', at: token.at, name: name.value });
      }
      throw parser.unexpected(wanted);
    case 'end':
      throw parser.unexpected(wanted);
  }
}

function readNamed(parser: Parser, at: number, name: string, wanted: string): Expression {
  if (name === 'and' || name === 'or') throw parser.unexpected(wanted);
  parser.take();
  if (INFIX.has(name)) return readWordAsName(parser, at, name);
  if (name === 'true' || name === 'false') return constantOf(parser, at, { type: 'bool', value: name === 'true' });
  if (name === 'null') return constantOf(parser, at, { type: 'dynamic', value: null });
  if (!parser.is('(')) return parser.node({ kind: 'name', at, name });
  // The text in the parentheses is not of the language.
  if (name === 'guid') throw meaningError(at, 'guid is not supported', foreignFunction(name));
  const type = TYPE_NAMES.get(name);
  if (type !== undefined) return readTyped(parser, at, type, name);
  parser.take();
  if (name === 'toscalar') {
    const query = readQuery(parser, name, true);
    parser.expect(')', `after the query of ${name}`);
    return query;
  }
  parser.calls.push(name);
  const args = parser.is(')') ? [] : parser.list(() => readArgument(parser));
  parser.expect(')', `after the arguments of ${name}`);
  parser.calls.pop();
  return parser.node({ kind: 'call', at, name, args, operator: false });
}

/** An operator where a value has to be is a field of that name, unless its right side follows. */
function readWordAsName(parser: Parser, at: number, name: string): Expression {
  const isOperator =
    name.startsWith('!') ||
    name.endsWith('~') ||
    parser.is('(') ||
    !['symbol', 'name', 'end'].includes(parser.token.kind);
  if (isOperator)
    throw syntaxError(
      at,
      `found ${JSON.stringify(name)} without a value before it`,
      `for a field of this name write ['${name}']`,
    );
  return parser.node({ kind: 'name', at, name });
}

/** A query in parentheses, of which the first is taken already. */
function readQuery(parser: Parser, name: string, scalar: boolean): Expression {
  const { at } = parser.token;
  if (!parser.subqueries) throw meaningError(at, `${name} of a query works in queries only`);
  if (scalar && parser.token.kind !== 'name' && parser.token.kind !== 'symbol')
    throw meaningError(at, `${name} takes a query`, `such as ${name}(logs | count)`);
  return parser.node({ kind: 'query', at, pipeline: parser.nested(() => parser.subqueries!.read()), scalar });
}

function readArgument(parser: Parser): Expression {
  const { at, name, value } = readAssignment(parser);
  return name === undefined ? value : parser.node({ kind: 'named', at, name, value });
}

/** `datetime(2026-01-02)`, `timespan(2d)`, `dynamic([1, 2])`, `long(5)`, `real(null)`: the type, then the contents of the parentheses. */
function readTyped(parser: Parser, at: number, type: Type, name: string): Expression {
  if (type === 'datetime' || type === 'timespan') return constantOf(parser, at, readWritten(parser, type, name));
  parser.take();
  if (type === 'dynamic') return readDynamicOrFields(parser, at);
  const value = readScalar(parser, type, name);
  parser.expect(')', `after ${name}(…`);
  return constantOf(parser, at, value);
}

/** JSON, or an array or object with other expressions in it, which is made by pack_array and bag_pack. */
function readDynamicOrFields(parser: Parser, at: number): Expression {
  const from = parser.token;
  try {
    const value = readDynamic(parser);
    parser.expect(')', 'after dynamic(…');
    return constantOf(parser, at, value);
  } catch (error) {
    if (!(error instanceof AplError) || (from.text !== '[' && from.text !== '{')) throw error;
  }
  parser.skipTo(from.at);
  const made = readPacked(parser);
  parser.expect(')', 'after dynamic(…');
  return made;
}

/** `['name']` is a field here, as elsewhere in an expression. */
const FIELD_IN_BRACKETS = /\[\s*(?:'[^'\n]*'|"[^"\n]*")\s*\]/y;

function readPacked(parser: Parser): Expression {
  const { token, text } = parser;
  FIELD_IN_BRACKETS.lastIndex = token.at;
  const isField = token.text === '[' && FIELD_IN_BRACKETS.test(text);
  const pack = (name: string, args: readonly Expression[]): Expression =>
    parser.node({ kind: 'call', at: token.at, name, args, operator: false });
  if (!isField && parser.accept('[')) {
    const items = parser.is(']') ? [] : parser.list(() => parser.nested(() => readPacked(parser)));
    parser.expect(']', 'to close the array');
    return items.length === 0
      ? constantOf(parser, token.at, { type: 'dynamic', value: '[]' })
      : pack('pack_array', items);
  }
  if (!parser.accept('{')) return readExpression(parser);
  const pairs = parser.is('}')
    ? []
    : parser.list(() => [
        constantOf(parser, parser.token.at, { type: 'string', value: readKey(parser) }),
        parser.nested(() => readPacked(parser)),
      ]);
  parser.expect('}', 'to close the object');
  return pairs.length === 0
    ? constantOf(parser, token.at, { type: 'dynamic', value: '{}' })
    : pack('bag_pack', pairs.flat());
}

function readScalar(parser: Parser, type: Type, name: string): Constant {
  const { at } = parser.token;
  const literal = readExpression(parser);
  const constant = literal.kind === 'constant' ? literal.constant : undefined;
  if (constant?.value === null) return { type, value: null };
  if (constant?.type === type) return constant;
  if (constant?.type === 'int' && type === 'real') return { type, value: Number(constant.value) };
  if (constant?.type === 'int' && type === 'bool') return { type, value: constant.value !== 0n };
  throw syntaxError(at, `wanted a literal in ${name}(…)`, `to convert a value, use to${name}()`);
}

function operation(parser: Parser, at: number, name: string, args: readonly Expression[]): Expression {
  return parser.node({ kind: 'call', at, name, args, operator: true });
}

function constantOf(parser: Parser, at: number, constant: Constant): Expression {
  return parser.node({ kind: 'constant', at, constant });
}

const isNegatable = ({ type, value }: Constant): boolean =>
  value !== null && value !== -(2n ** 63n) && (type === 'int' || type === 'real' || type === 'timespan');
const negate = ({ type, value }: Constant): Constant => ({ type, value: -(value as bigint | number) });

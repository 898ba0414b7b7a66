/**
 * Reads a query's text: what every operator's syntax is made of (names, lists, expressions), by recursive descent; infix operators by
 * their precedence (Pratt). The length of the text, the number of its parts and their nesting are bounded. Throws an `AplError`.
 */
import { SERVICE_QUERY_DEPTH, SERVICE_QUERY_NODES } from '../../../core/limits.ts';
import type { Constant, Type } from '../types.ts';
import { AplError } from './apl-error.ts';
import { tokenAt, tooLarge, type Token } from './lexer.ts';
import { readDatetime, readSpanText } from './literals.ts';
import type { Assignment, Expression } from './tree.ts';

/** Infix operators by precedence; the higher binds tighter. */
const INFIX: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ...['==', '!=', '<>', '=~', '!~', '<', '<=', '>', '>='].map((sign) => [sign, 3] as const),
  ...['contains', 'contains_cs', 'startswith', 'startswith_cs', 'endswith', 'endswith_cs', 'has', 'has_cs', 'hasprefix', 'hasprefix_cs', 'hassuffix', 'hassuffix_cs']
    .flatMap((word) => [word, `!${word}`]).map((word) => [word, 3] as const),
  ...['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all', 'between', '!between', 'matches', '!matches'].map((word) => [word, 3] as const),
  ['+', 4],
  ['-', 4],
  ['*', 5],
  ['/', 5],
  ['%', 5],
]); // prettier-ignore
/** Those with a list in parentheses on their right. */
const LISTS = new Set(['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all']);

const TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ['bool', 'bool'], ['boolean', 'bool'], ['int', 'int'], ['long', 'int'], ['real', 'real'], ['double', 'real'], ['string', 'string'],
  ['datetime', 'datetime'], ['date', 'datetime'], ['timespan', 'timespan'], ['time', 'timespan'], ['dynamic', 'dynamic'],
]); // prettier-ignore

export class Parser {
  readonly text: string;
  token: Token;
  /** Where the token before ended. */
  #end = 0;
  #nodes = 0;
  #depth = 0;
  readonly #depths = new WeakMap<Expression, number>();

  constructor(text: string) {
    this.text = text;
    this.token = tokenAt(text, 0);
  }

  /** Takes the current token and goes on to the next. */
  take(): Token {
    const { token } = this;
    this.#end = token.end;
    this.token = tokenAt(this.text, token.end);
    return token;
  }

  /** True, and taken, when the current token is this sign or word. */
  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.take();
    return true;
  }

  is(text: string): boolean {
    return (this.token.kind === 'symbol' || this.token.kind === 'name') && this.token.text === text;
  }

  expect(text: string, where: string): Token {
    if (!this.is(text)) throw this.unexpected(`${JSON.stringify(text)} ${where}`);
    return this.take();
  }

  /** The error for the current token. */
  unexpected(wanted: string): AplError {
    const { token } = this;
    const found = token.kind === 'end' ? 'the query ends here' : `found ${quoteToken(token.text)}`;
    return new AplError('syntax', token.at, `${found}; wanted ${wanted}`);
  }

  /** Goes on behind what was read in another way than by tokens. */
  skipTo(offset: number): void {
    this.#end = offset;
    this.token = tokenAt(this.text, offset);
  }

  /** One or more of what `item` reads, with commas between. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(',')) items.push(item());
    return items;
  }

  /** A whole number of zero or more. */
  count(wanted: string): number {
    const { token } = this;
    if (token.kind !== 'int' || token.value > 9_007_199_254_740_991n) throw this.unexpected(wanted);
    this.take();
    return Number(token.value);
  }

  /** `name`, `a.b`, `['any name']`. */
  columnName(wanted = 'the name of a field'): string {
    const expression = this.#path(wanted);
    const name = nameOf(expression);
    if (name === undefined) throw new AplError('syntax', expression.at, `wanted ${wanted}`);
    return name;
  }

  /** `expression` or `name = expression`. */
  assignment(): Assignment {
    const { at } = this.token;
    const value = this.expression();
    if (!this.is('=')) return { at, name: undefined, value, text: this.text.slice(at, this.#end) };
    const name = nameOf(value);
    if (name === undefined) throw new AplError('syntax', at, 'only a field can stand before =; to compare, write ==');
    this.take();
    const from = this.token.at;
    return { at, name, value: this.expression(), text: this.text.slice(from, this.#end) };
  }

  expression(precedence = 0): Expression {
    return this.#nested(() => {
      let left = this.#operand();
      for (;;) {
        const { token } = this;
        const binds = token.kind === 'symbol' || token.kind === 'name' ? INFIX.get(token.text) : undefined;
        if (binds === undefined || binds <= precedence) return left;
        this.take();
        left = this.#infix(left, token.text, token.at, binds);
      }
    });
  }

  #infix(left: Expression, sign: string, at: number, binds: number): Expression {
    if (LISTS.has(sign)) {
      this.expect('(', `after ${sign}`);
      const items = this.is(')') ? [] : this.list(() => this.expression());
      this.expect(')', `after the list of ${sign}`);
      return this.#call(at, sign, [left, ...items]);
    }
    if (sign === 'between' || sign === '!between') {
      this.expect('(', `after ${sign}`);
      const low = this.expression();
      this.expect('..', `between the ends of ${sign}`);
      const high = this.expression();
      this.expect(')', `after the range of ${sign}`);
      return this.#call(at, sign, [left, low, high]);
    }
    if (sign === 'matches' || sign === '!matches') {
      this.expect('regex', `after ${sign}`);
      return this.#call(at, `${sign} regex`, [left, this.expression(binds)]);
    }
    const right = this.expression(binds);
    // Long chains of and and or stay flat.
    if ((sign === 'and' || sign === 'or') && left.kind === 'call' && left.name === sign && left.operator) {
      (left.args as Expression[]).push(right);
      return left;
    }
    return this.#call(at, sign === '<>' ? '!=' : sign, [left, right]);
  }

  #operand(): Expression {
    const { token } = this;
    if (token.kind === 'symbol' && token.text === '-') {
      this.take();
      const least = this.#leastInteger();
      if (least) return this.#constant(token.at, least);
      const operand = this.#nested(() => this.#operand());
      return operand.kind === 'constant' && isNegatable(operand.constant)
        ? this.#constant(token.at, negate(operand.constant))
        : this.#call(token.at, '-', [operand]);
    }
    if (token.kind === 'symbol' && token.text === '+') {
      this.take();
      return this.#nested(() => this.#operand());
    }
    if (token.kind === 'symbol' && token.text === '*') {
      this.take();
      return { kind: 'star', at: token.at };
    }
    return this.#path('an expression');
  }

  /** -2^63 behind its minus: without it, it is no integer. */
  #leastInteger(): (Constant & { readonly value: bigint }) | undefined {
    const { token } = this;
    if (token.kind !== 'int' || token.value !== 2n ** 63n) return undefined;
    this.take();
    return { type: 'int', value: -(2n ** 63n) };
  }

  /** A value with what is taken out of it: `a.b['c'][0]`. */
  #path(wanted: string): Expression {
    let value = this.#primary(wanted);
    for (;;) {
      const { token } = this;
      if (this.accept('.')) {
        if (this.token.kind !== 'name') throw this.unexpected('a name after the dot');
        value = this.#node({ kind: 'member', at: token.at, object: value, name: this.take().text });
      } else if (this.accept('[')) {
        const index = this.expression();
        this.expect(']', 'after the index');
        const name = index.kind === 'constant' && index.constant.type === 'string' ? (index.constant.value as string) : undefined;
        value = this.#node(
          name === undefined
            ? { kind: 'index', at: token.at, object: value, index }
            : { kind: 'member', at: token.at, object: value, name },
        );
      } else return value;
    }
  }

  #primary(wanted: string): Expression {
    const { token } = this;
    switch (token.kind) {
      case 'string':
      case 'real':
      case 'timespan':
      case 'int':
        if (token.value === 2n ** 63n) throw tooLarge(token.at, token.text);
        this.take();
        return this.#constant(token.at, { type: token.kind, value: token.value });
      case 'name':
        return this.#named(token.at, token.text, wanted);
      case 'symbol':
        if (this.accept('(')) {
          const inner = this.expression();
          this.expect(')', 'to close the parenthesis');
          return inner;
        }
        if (this.accept('[')) {
          const name = this.take();
          if (name.kind !== 'string') throw new AplError('syntax', name.at, "wanted the name of a field in quotes, such as ['my-field']");
          this.expect(']', 'after the name');
          return this.#node({ kind: 'name', at: token.at, name: name.value });
        }
        throw this.unexpected(wanted);
      case 'end':
        throw this.unexpected(wanted);
    }
  }

  #named(at: number, name: string, wanted: string): Expression {
    if (INFIX.has(name)) throw this.unexpected(wanted);
    this.take();
    if (name === 'true' || name === 'false') return this.#constant(at, { type: 'bool', value: name === 'true' });
    if (name === 'null') return this.#constant(at, { type: 'dynamic', value: null });
    if (!this.is('(')) return this.#node({ kind: 'name', at, name });
    const type = TYPE_NAMES.get(name);
    if (type !== undefined) return this.#typed(at, type, name);
    this.take();
    const args = this.is(')') ? [] : this.list(() => this.#argument());
    this.expect(')', `after the arguments of ${name}`);
    return this.#node({ kind: 'call', at, name, args, operator: false });
  }

  #argument(): Expression {
    const { at, name, value } = this.assignment();
    return name === undefined ? value : this.#node({ kind: 'named', at, name, value });
  }

  /** `datetime(2026-01-02)`, `timespan(2d)`, `dynamic([1, 2])`, `long(5)`, `real(null)`: the type, then what stands in the parentheses. */
  #typed(at: number, type: Type, name: string): Expression {
    const open = this.token.at + 1;
    if (type === 'datetime' || type === 'timespan') {
      const close = this.text.indexOf(')', open);
      const inside = this.text.slice(open, close < 0 ? this.text.length : close).trim();
      const text = /^(['"])(.*)\1$/s.exec(inside)?.[2] ?? inside;
      if (close < 0 || text === '') throw new AplError('syntax', open, `wanted a literal in ${name}(…)`);
      const value = text === 'null' ? null : type === 'datetime' ? readDatetime(text) : readSpanText(text);
      const example = type === 'datetime' ? 'datetime(2019-11-30 23:59:59)' : 'timespan(1h30m)';
      if (value === undefined)
        throw new AplError('syntax', open, `${quoteToken(text)} cannot be read as a ${type}; wanted such as ${example}`);
      this.skipTo(close + 1);
      return this.#constant(at, { type, value });
    }
    this.take();
    const value = type === 'dynamic' ? this.#dynamic() : this.#scalar(type, name);
    this.expect(')', `after ${name}(…`);
    return this.#constant(at, value);
  }

  #scalar(type: Type, name: string): Constant {
    const { at } = this.token;
    const literal = this.expression();
    const constant = literal.kind === 'constant' ? literal.constant : undefined;
    if (constant?.value === null) return { type, value: null };
    if (constant?.type === type) return constant;
    if (constant?.type === 'int' && type === 'real') return { type, value: Number(constant.value) };
    if (constant?.type === 'int' && type === 'bool') return { type, value: constant.value !== 0n };
    throw new AplError('syntax', at, `wanted a literal in ${name}(…); to convert a value, use to${name}()`);
  }

  /** JSON, with either quotes. Scalars keep their type; arrays and objects become JSON text. */
  #dynamic(): Constant {
    const literal = this.#nested(() => this.#operandOfJson());
    if (typeof literal === 'object') return { type: 'dynamic', value: literal === null ? null : literal.json };
    if (typeof literal === 'bigint') return { type: 'int', value: literal };
    if (typeof literal === 'number') return { type: 'real', value: literal };
    return typeof literal === 'boolean' ? { type: 'bool', value: literal } : { type: 'string', value: literal };
  }

  #operandOfJson(): { readonly json: string } | string | bigint | number | boolean | null {
    this.#grow(this.token.at);
    const { token } = this;
    if (this.accept('[')) {
      const items = this.is(']') ? [] : this.list(() => this.#json());
      this.expect(']', 'to close the array');
      return { json: `[${items.join(',')}]` };
    }
    if (this.accept('{')) {
      const items = this.is('}') ? [] : this.list(() => this.#jsonEntry());
      this.expect('}', 'to close the object');
      return { json: `{${items.join(',')}}` };
    }
    const negative = this.accept('-');
    const least = negative && this.#leastInteger();
    if (least) return least.value;
    const value = this.take();
    if (value.kind === 'int' && value.value === 2n ** 63n) throw tooLarge(value.at, value.text);
    if (value.kind === 'int' || value.kind === 'real') return negative ? -value.value : value.value;
    if (!negative && value.kind === 'string') return value.value;
    if (!negative && value.kind === 'name' && (value.text === 'true' || value.text === 'false')) return value.text === 'true';
    if (!negative && value.kind === 'name' && value.text === 'null') return null;
    throw new AplError('syntax', token.at, 'wanted JSON in dynamic(…)');
  }

  #jsonEntry(): string {
    const { token } = this;
    if (token.kind !== 'string') throw this.unexpected('a key in quotes');
    this.take();
    this.expect(':', 'after the key');
    return `${JSON.stringify(token.value)}:${this.#json()}`;
  }

  #json(): string {
    const value = this.#nested(() => this.#operandOfJson());
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'object' && value !== null ? value.json : JSON.stringify(value);
  }

  #call(at: number, name: string, args: readonly Expression[]): Expression {
    return this.#node({ kind: 'call', at, name, args, operator: true });
  }

  #constant(at: number, constant: Constant): Expression {
    return this.#node({ kind: 'constant', at, constant });
  }

  #node(node: Expression): Expression {
    this.#grow(node.at);
    const depth = 1 + Math.max(0, ...partsOf(node).map((part) => this.#depths.get(part) ?? 1));
    if (depth > SERVICE_QUERY_DEPTH) throw this.#tooDeep(node.at);
    this.#depths.set(node, depth);
    return node;
  }

  #grow(at: number): void {
    if (++this.#nodes > SERVICE_QUERY_NODES) throw new AplError('syntax', at, `the query has more than ${SERVICE_QUERY_NODES} parts`);
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > SERVICE_QUERY_DEPTH) throw this.#tooDeep(this.token.at);
    const result = read();
    this.#depth--;
    return result;
  }

  #tooDeep(at: number): AplError {
    return new AplError('syntax', at, `the query is nested deeper than ${SERVICE_QUERY_DEPTH}`);
  }
}

function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'member':
      return [node.object];
    case 'index':
      return [node.object, node.index];
    case 'call':
      return node.args;
    case 'named':
      return [node.value];
    case 'constant':
    case 'name':
    case 'star':
      return [];
  }
}

/** The field that an expression is nothing but: `a`, `a.b`, `['a']`. */
export function nameOf(expression: Expression): string | undefined {
  if (expression.kind === 'name') return expression.name;
  if (expression.kind !== 'member') return undefined;
  const object = nameOf(expression.object);
  return object === undefined ? undefined : `${object}.${expression.name}`;
}

const isNegatable = ({ type, value }: Constant): boolean =>
  value !== null && value !== -(2n ** 63n) && (type === 'int' || type === 'real' || type === 'timespan');
const negate = ({ type, value }: Constant): Constant => ({ type, value: -(value as bigint | number) });
const quoteToken = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

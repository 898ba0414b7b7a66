/**
 * A query's text while it is read: the current token, what every syntax is made of (signs, lists, counts), and the bounds on the number of its
 * parts and their nesting. Throws an `AplError`.
 */
import { SERVICE_QUERY_DEPTH, SERVICE_QUERY_NODES } from '../limits.ts';
import { foreignSign } from '../foreign-names.ts';
import { AplError, attempt, syntaxError } from './apl-error.ts';
import { tokenAt, type SyntaxToken } from './lexer.ts';
import { readSpanText } from './literals.ts';
import { fieldNameOf, subexpressionsOf, type Expression, type Pipeline } from './tree.ts';

/** How queries inside of expressions are read; transforms have none. */
export interface Subqueries {
  /** Whether a query begins at the current token. */
  begins(): boolean;
  read(): Pipeline;
  /** A dataset, a table of `let`, or a query in parentheses. */
  table(): Pipeline;
  /** Operators without a source. */
  steps(): Pipeline;
}

/** The elements that may come at a place, in the words of messages; whoever completes a text knows them. */
export const WANTED = {
  expression: 'an expression',
  field: 'the name of a field',
  infix: 'an operator between values',
  operator: 'an operator such as where or summarize after |',
  dataset: "the name of a dataset, such as ['my-logs']",
} as const;

export class Parser {
  readonly text: string;
  subqueries: Subqueries | undefined;
  /** In search, `field: "term"` is an expression. */
  hasFieldTerms = false;
  token: SyntaxToken;
  /** Where the token before ended. */
  end = 0;
  /** Names that were read as those of fields, with their first place; and the prefixes of `name*`. */
  readonly fields = new Map<string, number>();
  readonly prefixes: string[] = [];
  /** Words, signs and `WANTED` that readers asked for at the end of the text: how it may go on. */
  readonly wanted = new Set<string>();
  /** Names that the text gave to values and tables. */
  readonly made = new Set<string>();
  /** An aggregation is read, and the calls that are open: what a text that breaks off was in. */
  inAggregation = false;
  readonly calls: string[] = [];
  #nodes = 0;
  #depth = 0;
  readonly #depths = new WeakMap<Expression, number>();

  constructor(text: string) {
    this.text = text;
    this.token = tokenAt(text, 0);
  }

  /** Takes the current token and goes on to the next. */
  take(): SyntaxToken {
    const { token } = this;
    this.end = token.end;
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
    this.could(text);
    return (this.token.kind === 'symbol' || this.token.kind === 'name') && this.token.text === text;
  }

  /** Notes an element that may follow if the text ends here. */
  could(follow: string): void {
    if (this.token.kind === 'end') this.wanted.add(follow);
  }

  /** One of these words, taken. */
  word<Word extends string>(words: readonly Word[], wanted: string): Word {
    for (const word of words) if (this.accept(word)) return word;
    throw this.unexpected(`${wanted} out of ${[...words].join(', ')}`);
  }

  expect(text: string, where: string): SyntaxToken {
    if (!this.is(text)) throw this.unexpected(`${JSON.stringify(text)} ${where}`);
    return this.take();
  }

  /** True, and taken, when `name=` is next. */
  option(name: string): boolean {
    if (this.token.kind === 'end') return (this.could(`${name}=`), false);
    return this.accept(name) && this.expect('=', `after ${name}`) !== undefined;
  }

  unexpected(wanted: string): AplError {
    const { token } = this;
    this.could(wanted);
    const found = token.kind === 'end' ? 'the query ends here' : `found ${quoteToken(token.text)}`;
    // `not` without parentheses was read as a field.
    const isNegated = /(?<![\p{L}\p{N}_$.])not$/iu.test(this.text.slice(Math.max(0, this.end - 4), this.end));
    const other = foreignSign(token.text) ?? (isNegated && token.kind !== 'end' ? 'write not(…)' : this.#spanFix());
    return syntaxError(token.at, found, other ?? `wanted ${wanted}`);
  }

  /** For `5 min`, the same without the blank. */
  #spanFix(): string | undefined {
    const { token } = this;
    const number = /(?<![\w.])\d+(?:\.\d+)?$/.exec(this.text.slice(Math.max(0, this.end - 20), this.end))?.[0];
    const span = token.kind === 'name' && number !== undefined ? `${number}${token.text}` : undefined;
    return span !== undefined && readSpanText(span) !== undefined ? `write ${span}, without the blank` : undefined;
  }

  /** Goes on after a part that was not read by tokens. */
  skipTo(offset: number): void {
    this.end = offset;
    this.token = tokenAt(this.text, offset);
  }

  /** Goes on to the first of these signs at or after the offset where the text is wrong, or to the end. */
  recover(wrongAt: number, signs: readonly string[]): void {
    const isThere = (): boolean => this.token.kind === 'end' || signs.some((sign) => this.is(sign));
    if (isThere() && this.token.at >= wrongAt) return;
    for (let from = wrongAt; ;) {
      const wrong = attempt(() => {
        this.skipTo(from);
        while (!isThere()) this.take();
      });
      if (!(wrong instanceof AplError)) return;
      // A quote without its other one: the rest of the line may be text.
      const lineEnd = this.text.indexOf('\n', wrong.at);
      from = lineEnd < 0 ? this.text.length : lineEnd;
    }
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

  /** Counts an expression and how deep it is. */
  node(node: Expression): Expression {
    this.grow(node.at);
    const name = fieldNameOf(node) ?? askedFor(node);
    if (name !== undefined && !this.fields.has(name)) this.fields.set(name, node.at);
    const depth = 1 + Math.max(0, ...subexpressionsOf(node).map((part) => this.#depths.get(part) ?? 1));
    if (depth > SERVICE_QUERY_DEPTH) throw this.#tooDeep(node.at);
    this.#depths.set(node, depth);
    return node;
  }

  /** Counts one more part. */
  grow(at: number): void {
    if (++this.#nodes > SERVICE_QUERY_NODES)
      throw syntaxError(at, `the query has more than ${SERVICE_QUERY_NODES} parts`);
  }

  /** Reads one level deeper. */
  nested<T>(read: () => T): T {
    try {
      if (++this.#depth > SERVICE_QUERY_DEPTH) throw this.#tooDeep(this.token.at);
      return read();
    } finally {
      // Behind a mistake the next step is read with the same parser.
      this.#depth--;
    }
  }

  #tooDeep(at: number): AplError {
    return syntaxError(at, `the query is nested deeper than ${SERVICE_QUERY_DEPTH}`);
  }
}

/** The field that `column_ifexists` or `ensure_field` asks for. */
function askedFor(node: Expression): string | undefined {
  if (node.kind !== 'call' || (node.name !== 'column_ifexists' && node.name !== 'ensure_field')) return undefined;
  const [name] = node.args;
  return name?.kind === 'constant' && typeof name.constant.value === 'string' ? name.constant.value : undefined;
}

/** A token as messages show it. */
export const quoteToken = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/**
 * Constants of more than one token: the contents of `datetime(…)`, `timespan(…)` and `dynamic(…)`, and the least integer. Throw an
 * `AplError`.
 */
import type { Constant } from '../types.ts';
import { syntaxError } from './apl-error.ts';
import { tooLarge } from './lexer.ts';
import { readDatetime, readSpanText } from './literals.ts';
import { quoteToken, type Parser } from './parser.ts';

/** -2^63 after its minus: without it, it is not an integer. */
export function readLeastInteger(parser: Parser): (Constant & { readonly value: bigint }) | undefined {
  const { token } = parser;
  if (token.kind !== 'int' || token.value !== 2n ** 63n) return undefined;
  parser.take();
  return { type: 'int', value: -(2n ** 63n) };
}

/** JSON, with either quotes. Scalars keep their type; arrays and objects become JSON text. */
export function readDynamic(parser: Parser): Constant {
  const literal = parser.nested(() => jsonOperand(parser));
  if (typeof literal === 'object') return { type: 'dynamic', value: literal === null ? null : literal.json };
  if (typeof literal === 'bigint') return { type: 'int', value: literal };
  if (typeof literal === 'number') return { type: 'real', value: literal };
  return typeof literal === 'boolean' ? { type: 'bool', value: literal } : { type: 'string', value: literal };
}

function jsonOperand(parser: Parser): { readonly json: string } | string | bigint | number | boolean | null {
  parser.grow(parser.token.at);
  const { token } = parser;
  if (parser.accept('[')) {
    const items = parser.is(']') ? [] : parser.list(() => readJson(parser));
    parser.expect(']', 'to close the array');
    return { json: `[${items.join(',')}]` };
  }
  if (parser.accept('{')) {
    const items = parser.is('}') ? [] : parser.list(() => jsonEntry(parser));
    parser.expect('}', 'to close the object');
    return { json: `{${items.join(',')}}` };
  }
  const negative = parser.accept('-');
  const least = negative && readLeastInteger(parser);
  if (least) return least.value;
  const value = parser.take();
  if (value.kind === 'int' && value.value === 2n ** 63n) throw tooLarge(value.at, value.text);
  if (value.kind === 'int' || value.kind === 'real') return negative ? -value.value : value.value;
  if (!negative && value.kind === 'string') return value.value;
  if (!negative && value.kind === 'name' && (value.text === 'true' || value.text === 'false'))
    return value.text === 'true';
  if (!negative && value.kind === 'name' && value.text === 'null') return null;
  throw syntaxError(token.at, 'wanted JSON in dynamic(…)');
}

/** `"key":`. */
export function readKey(parser: Parser): string {
  const { token } = parser;
  if (token.kind !== 'string') throw parser.unexpected('a key in quotes');
  parser.take();
  parser.expect(':', 'after the key');
  return token.value;
}

function jsonEntry(parser: Parser): string {
  const key = readKey(parser);
  return `${JSON.stringify(key)}:${readJson(parser)}`;
}

function readJson(parser: Parser): string {
  const value = parser.nested(() => jsonOperand(parser));
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'object' && value !== null ? value.json : JSON.stringify(value);
}

function writtenFix(text: string, type: 'datetime' | 'timespan', example: string): string {
  if (type === 'datetime' && /^\d+\s*,/.test(text)) return `write make_datetime(${text})`;
  const year = type === 'datetime' ? /^(\d{4})-\d\d/.exec(text)?.[1] : undefined;
  return year !== undefined && (year < '1900' || year > '2261')
    ? 'datetimes are of the years 1900 to 2262'
    : `wanted such as ${example}`;
}

/** `(2026-01-02 03:04)`, `(1h30m)`: no tokens, but everything up to the parenthesis. */
export function readWritten(parser: Parser, type: 'datetime' | 'timespan', name: string): Constant {
  const open = parser.token.at + 1;
  const close = parser.text.indexOf(')', open);
  const inside = parser.text.slice(open, close < 0 ? parser.text.length : close).trim();
  const text = /^(['"])(.*)\1$/s.exec(inside)?.[2] ?? inside;
  if (close < 0 || text === '') throw syntaxError(open, `wanted a literal in ${name}(…)`);
  const value = text === 'null' ? null : type === 'datetime' ? readDatetime(text) : readSpanText(text);
  const example = type === 'datetime' ? 'datetime(2019-11-30 23:59:59)' : 'timespan(1h30m)';
  if (value === undefined)
    throw syntaxError(open, `${quoteToken(text)} cannot be read as a ${type}`, writtenFix(text, type, example));
  parser.skipTo(close + 1);
  return { type, value };
}

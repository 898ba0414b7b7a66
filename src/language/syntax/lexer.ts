/**
 * A query's text as tokens, one at a time from a given offset: the contents of `datetime(…)` are not a token; whoever expects them reads
 * them.
 */
import { foreignSign } from '../foreign-names.ts';
import type { AplError } from './apl-error.ts';
import { syntaxError } from './apl-error.ts';
import { readSpanText } from './literals.ts';

export type SyntaxToken =
  | { readonly kind: 'name'; readonly text: string; readonly at: number; readonly end: number }
  | {
      readonly kind: 'string';
      readonly value: string;
      readonly text: string;
      readonly at: number;
      readonly end: number;
    }
  | { readonly kind: 'int'; readonly value: bigint; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: 'real'; readonly value: number; readonly text: string; readonly at: number; readonly end: number }
  | {
      readonly kind: 'timespan';
      readonly value: bigint;
      readonly text: string;
      readonly at: number;
      readonly end: number;
    }
  | { readonly kind: 'symbol'; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number; readonly end: number };

const BLANK = /(?:\s|\/\/[^\n]*(?:\n|$))*/y;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /0[xX][0-9a-fA-F]+|\d+(?:\.\d+|\.(?![\w.\s'"[]))?(?:[eE][+-]?\d+)?/y;
const UNIT = /[A-Za-zµμ]+/y;
/** `1h30m`: more units after the first. */
const SPAN = /(?:\d+(?:\.\d+)?[A-Za-zµμ]+)+(?![\d.]*\d)/y;
/** A `!` directly before a word makes the opposite of it: !contains. */
const NEGATABLE = /!(?=[a-z])/y;
/** `===` and `!==`, which mean nothing here, are one sign, so that their refusal can say what to write. */
const SYMBOL = /[=!]==|==|!=|<>|<=|>=|=~|!~|\.\.|[=<>+\-*/%(),;|:[\]{}.?!]/y;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/** The token at `from`, or the first after blanks and comments. Throws an `AplError`. */
export function tokenAt(text: string, from: number): SyntaxToken {
  const at = from + (match(BLANK, text, from)?.length ?? 0);
  if (at >= text.length) return { kind: 'end', text: '', at, end: at };

  const quoted = stringAt(text, at);
  if (quoted) return { kind: 'string', text: text.slice(at, quoted.end), at, ...quoted };
  const number = match(NUMBER, text, at);
  if (number !== undefined) return numberAt(text, at, number);
  const negated = match(NEGATABLE, text, at);
  const name = match(NAME, text, at + (negated?.length ?? 0));
  if (name !== undefined) {
    const end = at + (negated?.length ?? 0) + name.length;
    const tilde = name === 'in' && text[end] === '~' ? 1 : 0;
    return { kind: 'name', text: text.slice(at, end + tilde), at, end: end + tilde };
  }
  const symbol = match(SYMBOL, text, at);
  if (symbol !== undefined) return { kind: 'symbol', text: symbol, at, end: at + symbol.length };
  const character = String.fromCodePoint(text.codePointAt(at)!);
  throw syntaxError(at, `the character ${JSON.stringify(character)} has no meaning here`, foreignSign(character));
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function numberAt(text: string, at: number, number: string): SyntaxToken {
  const end = at + number.length;
  const unit = number.startsWith('0x') || number.startsWith('0X') ? undefined : match(UNIT, text, end);
  if (unit !== undefined) {
    const span = match(SPAN, text, at) ?? number + unit;
    const value = readSpanText(span);
    if (value === undefined)
      throw syntaxError(at, `${span.slice(0, 40)} is no number and no timespan`, 'wanted such as 5, 1.5h or 30m');
    return { kind: 'timespan', value, text: span, at, end: at + span.length };
  }
  if (/^(?:0[xX][0-9a-fA-F]+|\d+)$/.test(number)) {
    const value = BigInt(number);
    // 2^63 itself fits only after a minus: the parser says so.
    if (value > 2n ** 63n) throw tooLarge(at, number);
    return { kind: 'int', value, text: number, at, end };
  }
  const value = Number(number);
  if (!Number.isFinite(value)) throw syntaxError(at, `the number ${number.slice(0, 40)} is too large`);
  return { kind: 'real', value, text: number, at, end };
}

export const tooLarge = (at: number, number: string): AplError =>
  syntaxError(at, `the integer ${number.slice(0, 40)} does not fit into 64 bits`);

/** A string in any of its forms: '…' and "…" with escapes, @'…' and @"…" without, ```…``` over several lines. */
function stringAt(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  if (text.startsWith('```', at)) {
    const end = text.indexOf('```', at + 3);
    if (end < 0) throw syntaxError(at, 'the string has no end', 'wanted ```');
    return { value: text.slice(at + 3, end), end: end + 3 };
  }
  // h'…' hides the text from logs in some dialects; here it is a string.
  const prefix = /h?@?(?=['"])/y;
  const raw = match(prefix, text, at);
  if (raw === undefined) return undefined;
  const quote = text[at + raw.length]!;
  let value = '';
  for (let n = at + raw.length + 1; n < text.length; n++) {
    const char = text[n]!;
    if (char === quote) {
      if (!raw.includes('@') || text[n + 1] !== quote) return { value, end: n + 1 };
      n++;
    } else if (char === '\n' && !raw.includes('@')) break;
    else if (char === '\\' && !raw.includes('@')) {
      const [escaped, length] = escapeAt(text, n);
      value += escaped;
      n += length - 1;
      continue;
    }
    value += char;
  }
  throw syntaxError(at, 'the string has no end', `wanted ${quote}`);
}

function escapeAt(text: string, at: number): [string, number] {
  const next = text[at + 1] ?? '';
  const plain = ESCAPES[next];
  if (plain !== undefined) return [plain, 2];
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(text.slice(at, at + 10));
  const point = code && Number.parseInt(code[1] ?? code[2] ?? code[3]!, 16);
  if (!code || point === null || point > 0x10_ff_ff)
    throw syntaxError(
      at,
      `the escape \\${next} is not known`,
      `wanted \\n \\t \\r \\\\ \\' \\" \\xHH or \\uHHHH, or a raw string @'…'`,
    );
  return [String.fromCodePoint(point), code[0].length];
}

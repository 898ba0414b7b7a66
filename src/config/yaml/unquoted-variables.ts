/**
 * `${NAME}` without quotes between `{ }` or `[ ]`, where YAML takes its braces for a mapping of its own and the rest of the text for
 * broken. Promises: each is found, and the rest of the text can be read with its places as they are.
 */
import { Lexer } from 'yaml';

export interface UnquotedVariables {
  /** As long as the text, with each variable as a plain word. */
  readonly text: string;
  /** Offsets where the variables begin and end in both. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
}

/** Tokens that the lexer adds to those of the text: marks of a document, of the end of a flow, of a scalar. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001F']);
const SCALAR = '\u001F';
const VARIABLE = /\$\{[^{}\n]*\}/y;

export function findUnquotedVariables(text: string): UnquotedVariables {
  const ranges: { from: number; to: number }[] = [];
  let at = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token)) {
      isScalar = token === SCALAR;
      continue;
    }
    if (!text.startsWith(token, at)) break;
    at += token.length;
    VARIABLE.lastIndex = at - 1;
    const variable = isScalar && token.endsWith('$') ? VARIABLE.exec(text) : null;
    if (variable) ranges.push({ from: at - 1, to: at - 1 + variable[0].length });
    isScalar = false;
  }
  let plain = '';
  let end = 0;
  for (const { from, to } of ranges) {
    plain += `${text.slice(end, from)}$${'_'.repeat(to - from - 1)}`;
    end = to;
  }
  return { text: plain + text.slice(end), ranges };
}

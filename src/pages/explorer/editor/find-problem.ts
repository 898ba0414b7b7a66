/** What the compiler has against a query's text, and where. Runs in the page: a keystroke never waits for the service. */
import { planOf, readQuery } from '../../../language/text/query-text.ts';
import { AplError, attempt } from '../../../language/syntax/apl-error.ts';

export interface QueryProblem {
  readonly message: string;
  /** Offsets in the text. */
  readonly at: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}_$-]+|[^]/uy;

/** Undefined for a text without a fault, or without anything. Datasets and fields are the service's to judge. */
export function findProblem(text: string): QueryProblem | undefined {
  if (text.trim() === '') return undefined;
  const found = attempt(() => planOf(readQuery(text), new Map()));
  return found instanceof AplError ? { message: found.message, ...placeAt(text, found.at) } : undefined;
}

/** The place of a fault that the service found: a line and a column from 1, columns in characters. */
export function placeIn(text: string, line: number, column: number): { readonly at: number; readonly end: number } {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  const inLine = Array.from(lines[line - 1] ?? '')
    .slice(0, column - 1)
    .join('').length;
  return placeAt(text, before + inLine);
}

/** The word there; at the end of the text the one before it, as nothing cannot be underlined. */
function placeAt(text: string, offset: number): { readonly at: number; readonly end: number } {
  const kept = text.trimEnd();
  if (offset >= kept.length) {
    const at = kept.length - (/[\p{L}\p{N}_$-]{1,200}$|[^]$/u.exec(kept)?.[0].length ?? 0);
    return { at, end: kept.length };
  }
  WORD.lastIndex = offset;
  return { at: offset, end: offset + (WORD.exec(text)?.[0].length ?? 1) };
}

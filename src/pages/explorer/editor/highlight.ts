/** A query's text cut into pieces of one kind each, by the compiler's own lexer and tables. Any text can be cut, also one that is half written. */
import { findAggregate, FUNCTIONS, OPERATORS } from '../../../language/functions/table.ts';
import { OPERATORS_BY_NAME } from '../../../language/operators/table.ts';
import { AplError } from '../../../language/syntax/apl-error.ts';
import { tokenAt } from '../../../language/syntax/lexer.ts';
import { operatorWordAt } from '../../../language/text/query-text.ts';

export type PieceKind = 'plain' | 'comment' | 'string' | 'number' | 'operator' | 'function' | 'keyword';

export interface Piece {
  readonly kind: PieceKind;
  readonly at: number;
  readonly end: number;
}

const KEYWORDS = new Set([
  'by',
  'asc',
  'desc',
  'let',
  'on',
  'kind',
  'with',
  'from',
  'to',
  'step',
  'of',
  'true',
  'false',
  'null',
  'nulls',
  'first',
  'last',
]);
/** What makes rows of its own at the beginning of a query. */
const SOURCES = new Set(['print', 'range', 'datatable', 'let']);
const CALL = /\s*\(/y;

export function highlight(text: string): Piece[] {
  const pieces: Piece[] = [];
  // A query may begin with an operator, too: union, search.
  let followsPipe = true;
  for (let from = 0; from < text.length;) {
    const next = pieceAt(text, from, followsPipe);
    if (next.at > from)
      pieces.push({ kind: text.slice(from, next.at).includes('//') ? 'comment' : 'plain', at: from, end: next.at });
    if (next.end > next.at) pieces.push(next);
    followsPipe = next.end === next.at ? followsPipe : /^[|;]$/.test(text.slice(next.at, next.end));
    from = Math.max(next.end, from + 1);
  }
  return pieces;
}

function pieceAt(text: string, from: number, followsPipe: boolean): Piece {
  try {
    const { kind, at, end } = tokenAt(text, from);
    if (kind === 'end') return { kind: 'plain', at, end: at };
    if (kind === 'string') return { kind, at, end };
    if (kind === 'int' || kind === 'real' || kind === 'timespan') return { kind: 'number', at, end };
    return kind === 'name' ? nameAt(text, at, end, followsPipe) : { kind: 'plain', at, end };
  } catch (error) {
    if (!(error instanceof AplError)) throw error;
    // An unfinished string goes on to the end of its line; any other character is its own token.
    const isQuote = /['"`@]/.test(text[error.at] ?? '');
    const lineEnd = text.indexOf('\n', error.at);
    const end = isQuote ? (lineEnd < 0 ? text.length : lineEnd) : error.at + 1;
    return {
      kind: isQuote ? 'string' : 'plain',
      at: error.at,
      end: Math.min(text.length, Math.max(end, error.at + 1)),
    };
  }
}

function nameAt(text: string, at: number, end: number, followsPipe: boolean): Piece {
  const whole = followsPipe ? operatorWordAt({ text, token: { kind: 'name', text: '', at, end } }) : undefined;
  if (whole !== undefined && OPERATORS_BY_NAME.has(whole)) return { kind: 'operator', at, end: at + whole.length };
  const name = text.slice(at, end);
  if (followsPipe && OPERATORS_BY_NAME.has(name)) return { kind: 'operator', at, end };
  if (followsPipe && SOURCES.has(name)) return { kind: 'operator', at, end };
  CALL.lastIndex = end;
  if (CALL.test(text) && (FUNCTIONS.has(name) || findAggregate(name))) return { kind: 'function', at, end };
  return { kind: KEYWORDS.has(name) || OPERATORS.has(name) ? 'keyword' : 'plain', at, end };
}

/** Words and signs of expressions: infix operators with their precedence, and the names of types. */
import type { Type } from '../types.ts';

/** Infix operators by precedence; the higher binds tighter. */
export const INFIX: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ...['==', '!=', '<>', '=~', '!~', '<', '<=', '>', '>='].map((sign) => [sign, 3] as const),
  ...[
    'contains',
    'contains_cs',
    'startswith',
    'startswith_cs',
    'endswith',
    'endswith_cs',
    'has',
    'has_cs',
    'hasprefix',
    'hasprefix_cs',
    'hassuffix',
    'hassuffix_cs',
  ]
    .flatMap((word) => [word, `!${word}`])
    .map((word) => [word, 3] as const),
  ...['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all', 'between', '!between', 'matches', '!matches'].map(
    (word) => [word, 3] as const,
  ),
  ['+', 4],
  ['-', 4],
  ['*', 5],
  ['/', 5],
  ['%', 5],
]);
/** Those with a list in parentheses on their right. */
export const LISTS = new Set(['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all']);

/** Between a field and a term of search. */
export const FIELD_TERM = ':';

export const TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ['bool', 'bool'],
  ['boolean', 'bool'],
  ['int', 'int'],
  ['long', 'int'],
  ['real', 'real'],
  ['double', 'real'],
  ['string', 'string'],
  ['datetime', 'datetime'],
  ['date', 'datetime'],
  ['timespan', 'timespan'],
  ['time', 'timespan'],
  ['dynamic', 'dynamic'],
]);

/** Values on their way into an engine and rows on their way out. */
import type { Cell, Param } from './engine.ts';

/** The engine takes UTF-8: half of a surrogate pair becomes U+FFFD, as it does in what is stored. */
export function wellFormed(params: Readonly<Record<string, Param>>): Record<string, Param> {
  const clean = (value: Param): Param => (typeof value === 'string' ? value.toWellFormed() : value);
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'object' ? value.map((item) => clean(item)) : clean(value)]),
  ) as Record<string, Param>;
}

/** Rows of the format JSONCompactEachRow: one array a line, and no newline inside one, so that one parse does for all. */
export function readRows(text: string): Cell[][] {
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Cell[][]);
}

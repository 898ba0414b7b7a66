/** Transforms run over events that are written as JSON. */
import type { RowContext } from '../../../src/shaping/rows/call/context.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { compileRows, type RowProgram } from '../../../src/shaping/rows/program.ts';
import { parseJson, type EventRow, type RowValue } from '../../../src/shaping/rows/values/value.ts';

export const READ_AT_MS = Date.UTC(2026, 10, 22, 16, 8, 49);

export const context: RowContext = {
  readAtMs: READ_AT_MS,
  stream: 'f'.repeat(32),
  offset: 0,
  sub: 0,
  random: () => 0.5,
  env: (name) => ({ NAME: 'value', KEY: 'secret' })[name],
};

export const rowOf = (json: string): EventRow => new Map(Object.entries(parseJson(json) as Record<string, RowValue>));
export const textOf = (row: EventRow): string => writeJson(Object.fromEntries(row));

/** The events that a transform makes of one, as JSON. */
export function shape(transform: string | RowProgram, json: string, more: Partial<RowContext> = {}): string[] {
  const program = typeof transform === 'string' ? compileRows(transform, { from: 'test' }) : transform;
  return program.run(rowOf(json), { ...context, ...more }).map(textOf);
}

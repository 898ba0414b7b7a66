/** Runs a program in at most three statements: the totals of a series, the rows, and the number of matching events where the rows do not tell it. */
import { SERVICE_QUERY_MAX_EVENTS, SERVICE_TOLD_WAIT_MS } from '../../limits.ts';
import type { Engine, EngineQueryOptions, EngineResult, EngineRow, Param, ResultRows } from '../../engine/engine.ts';
import type { Program, QueryTable } from '../plan/program.ts';
import type { Sql } from '../values/sql.ts';
import { rowIdOf, writeValue } from './cells.ts';

export interface Message {
  readonly priority: 'warn' | 'info';
  readonly count: number;
  readonly code: string;
  readonly msg: string;
}

/** Of an option that `set` gave. */
export const ignoredOption = (name: string): Message => ({
  priority: 'warn',
  count: 1,
  code: 'option_ignored',
  msg: `set ${name} does nothing here`,
});

/** Of a query that waited so long for its turn: none where that is short. */
export function waitedFor(ms: number): Message[] {
  if (ms <= SERVICE_TOLD_WAIT_MS) return [];
  const msg = `the query waited ${(ms / 1000).toFixed(1)} s of elapsedTime for its turn: others ran`;
  return [{ priority: 'warn', count: 1, code: 'query_waited', msg }];
}

export type QueryAnswer = Awaited<ReturnType<typeof answerOf>>;

/** Throws an `ApiError` 400 when a limit is reached. */
export async function answerOf(
  program: Program,
  engine: Engine,
  params: Readonly<Record<string, Param>>,
  options: EngineQueryOptions,
  /** Events of the dataset. */
  stored: number,
) {
  const { rows: table, series } = program;
  let rowsExamined = 0;
  let bytesRead = 0;
  const ask = async (sql: Sql): Promise<EngineResult> => {
    const result = await engine.query(sql, params, options);
    rowsExamined = Math.max(rowsExamined, result.rowsRead);
    bytesRead += result.bytesRead;
    return result;
  };

  const totals = series && (await ask(series.totals.sql)).rows;
  const wanted = series?.groups ?? SERVICE_QUERY_MAX_EVENTS;
  const { rows: found } = await ask(table.sql);
  const rows = found.take(table.wanted);
  const kept = totals && totals.length > wanted ? inGroups(program, rows, totals.take(wanted)) : rows;

  const first = found.at(0);
  const more = found.length > rows.length;
  const counted =
    table.matchedAt !== undefined && first !== undefined
      ? Number(first[table.matchedAt])
      : program.isWhole && !more
        ? found.length
        : undefined;
  const rowsMatched = counted ?? Number((await ask(program.count)).rows.at(0)?.[0] ?? 0);
  return {
    table,
    rows: kept,
    /** Of a series. */
    totals: totals?.take(wanted),
    /** There are more rows than were wanted. */
    more,
    /** The service's own bound left groups out. */
    cut:
      program.aggregated &&
      (more || (totals?.length ?? 0) > wanted) &&
      Math.max(found.length, totals?.length ?? 0) > SERVICE_QUERY_MAX_EVENTS,
    rowsMatched,
    // Count an event once, however many steps of a statement read it.
    rowsExamined: Math.max(Math.min(rowsExamined, stored), rowsMatched),
    /** What all statements read, uncompressed. */
    bytesRead,
    ...cursorsOf(table, kept),
  };
}

/** Rows of a series whose group is among the totals. */
function inGroups(program: Program, rows: ResultRows, totals: ResultRows): ResultRows {
  const groups = new Set<string>();
  for (const row of totals) groups.add(groupKey(program.series!.totals, row));
  return rows.filter((row) => groups.has(groupKey(program.rows, row, program.series!.key)));
}

/** Rows of the same group have the same text. */
export const groupKey = ({ columns }: QueryTable, row: EngineRow, except?: string): string =>
  JSON.stringify(
    columns.filter(({ role, name }) => role === 'key' && name !== except).map((column) => writeValue(column, row)),
  );

/** Ids of the oldest and the newest event among the rows; empty without events. */
function cursorsOf(table: QueryTable, rows: ResultRows): { minCursor: string; maxCursor: string } {
  if (table.eventAt === undefined || rows.length === 0) return { minCursor: '', maxCursor: '' };
  let minCursor: string | undefined;
  let maxCursor = '';
  const ends = table.byTime === undefined ? rows : [rows.at(0)!, rows.at(-1)!];
  for (const row of ends) {
    const id = rowIdOf(table, row);
    if (minCursor === undefined || id < minCursor) minCursor = id;
    if (id > maxCursor) maxCursor = id;
  }
  return { minCursor: minCursor ?? '', maxCursor };
}

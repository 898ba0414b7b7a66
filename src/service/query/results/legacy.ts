/** `format=legacy`: events as matches, groups as buckets, put together as JSON text. */
import { formatTime, NO_TIME } from '../../../core/time/time-text.ts';
import type { EngineRow, ResultRows } from '../../engine/engine.ts';
import { SERVICE_QUERY_BUCKETS } from '../../limits.ts';
import type { OutputColumn, Program, QueryTable } from '../plan/program.ts';
import { groupKey, type QueryAnswer } from './answer.ts';
import { eachField, rowIdOf, timeJson, writeValue } from './cells.ts';
import { ReplyText } from './reply-text.ts';

/** Adds the members `matches` and `buckets`. */
export function writeLegacy(text: ReplyText, answer: QueryAnswer, program: Program): void {
  const { table, rows, totals } = answer;
  if (!program.aggregated) {
    text.add('"matches":[');
    addAll(text, rows, (row) => match(table, row));
    text.add('],"buckets":{"series":[],"totals":[]}');
    return;
  }
  const { series } = program;
  const ids = new Map<string, number>();
  const idOf = (key: string): number => {
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  };
  const group = (of: QueryTable, row: EngineRow, except?: string): string => {
    const keys = of.columns.filter(({ role, name }) => role === 'key' && name !== except);
    const values = of.columns.filter(({ role }) => role !== 'key');
    const aggregations = values.map(
      (column) => `{"op":${JSON.stringify(column.name)},"value":${writeValue(column, row)}}`,
    );
    return `{"id":${idOf(groupKey(of, row, except))},"group":{${entries(keys, row, true)}},"aggregations":[${aggregations.join(',')}]}`;
  };
  // Groups are numbered in the order of the totals.
  const written = new ReplyText(text.budget);
  if (series && totals) addAll(written, totals, (row) => group(series.totals, row));
  else addAll(written, rows, (row) => group(table, row));
  text.add('"matches":[],"buckets":{"series":[');
  if (series) writeSeries(text, table, rows, series, (row) => group(table, row, series.key));
  text.add('],"totals":[');
  text.join(written);
  text.add(']}');
}

function addAll(text: ReplyText, rows: ResultRows, write: (row: EngineRow) => string): void {
  let comma = '';
  for (const row of rows) {
    text.add(comma + write(row));
    comma = ',';
  }
}

function entries(columns: readonly OutputColumn[], row: EngineRow, withNulls: boolean): string {
  return columns
    .map((column) => [column.name, writeValue(column, row)] as const)
    .filter(([, json]) => withNulls || json !== 'null')
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',');
}

/** Members beside `data`, which does not repeat them. */
const OWN = new Set(['_time', '_sysTime', '_rowId', '_cursor']);

function match(table: QueryTable, row: EngineRow): string {
  const fields: string[] = [];
  if (table.mapsAt !== undefined)
    eachField(
      table,
      row,
      (name, json) => void (table.hasField(name) && fields.push(`${JSON.stringify(name)}:${json}`)),
    );
  const made = entries(
    table.columns.filter(({ name }) => !OWN.has(name)),
    row,
    false,
  );
  if (made !== '') fields.push(made);
  const at = table.eventAt;
  const own = table.columns.find((column) => column.name === '_time')?.facets.find(([kind]) => kind === 'datetime');
  const known = own && row[own[1]] !== null ? timeJson(row[own[1]]) : `"${NO_TIME}"`;
  const [time, sysTime, id] =
    at === undefined ? [known, `"${NO_TIME}"`, ''] : [timeJson(row[at]), timeJson(row[at + 1]), rowIdOf(table, row)];
  return `{"_time":${time},"_sysTime":${sysTime},"_rowId":"${id}","data":{${fields.join(',')}}}`;
}

/** Intervals in the order of time. Rows without a time are in none: the totals have them. */
function writeSeries(
  text: ReplyText,
  table: QueryTable,
  rows: ResultRows,
  { key, width }: Program['series'] & object,
  group: (row: EngineRow) => string,
): void {
  const at = table.columns.find(({ name }) => name === key)!.facets[0]?.[1];
  const intervals = new Map<string, ReplyText>();
  if (at !== undefined)
    for (const row of rows) {
      if (row[at] === null) continue;
      const start = String(row[at]);
      const groups = intervals.get(start);
      if (groups) groups.add(`,${group(row)}`);
      else {
        const first = new ReplyText(text.budget, SERVICE_QUERY_BUCKETS);
        first.add(group(row));
        intervals.set(start, first);
      }
    }
  let comma = '';
  for (const [start, groups] of [...intervals].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))) {
    const from = BigInt(start);
    text.add(`${comma}{"startTime":"${formatTime(from)}","endTime":"${formatTime(from + width)}","groups":[`);
    text.join(groups);
    text.add(']}');
    comma = ',';
  }
}

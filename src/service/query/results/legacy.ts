/** `format=legacy`: events as matches, groups as buckets, put together as JSON text. */
import { formatTime, NO_TIME } from '../../../core/time/time-text.ts';
import type { OutputColumn, Program, Table } from '../plan/program.ts';
import { groupKey, type Answer } from './answer.ts';
import { eachField, rowIdOf, timeJson, writeValue, type Row } from './cells.ts';

/** The members `matches` and `buckets` as JSON text. */
export function writeLegacy(answer: Answer, program: Program): string {
  const { table, rows, totals } = answer;
  if (!program.aggregated) {
    return `"matches":[${rows.map((row) => match(table, row)).join(',')}],"buckets":{"series":[],"totals":[]}`;
  }
  const { series } = program;
  const ids = new Map<string, number>();
  const idOf = (key: string): number => {
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  };
  const group = (of: Table, row: Row, except?: string): string => {
    const keys = of.columns.filter(({ role, name }) => role === 'key' && name !== except);
    const values = of.columns.filter(({ role }) => role !== 'key');
    const aggregations = values.map((column) => `{"op":${JSON.stringify(column.name)},"value":${writeValue(column, row)}}`);
    return `{"id":${idOf(groupKey(of, row, except))},"group":{${entries(keys, row, true)}},"aggregations":[${aggregations.join(',')}]}`;
  };
  const written = series ? totals.map((row) => group(series.totals, row)) : rows.map((row) => group(table, row));
  const intervals = series ? writeSeries(table, rows, series, (row) => group(table, row, series.key)) : [];
  return `"matches":[],"buckets":{"series":[${intervals.join(',')}],"totals":[${written.join(',')}]}`;
}

function entries(columns: readonly OutputColumn[], row: Row, withNulls: boolean): string {
  return columns
    .map((column) => [column.name, writeValue(column, row)] as const)
    .filter(([, json]) => withNulls || json !== 'null')
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',');
}

/** Members beside `data`, which does not repeat them. */
const OWN = new Set(['_time', '_sysTime', '_rowId', '_cursor']);

function match(table: Table, row: Row): string {
  const fields: string[] = [];
  if (table.mapsAt !== undefined)
    eachField(table, row, (name, json) => void (table.hasField(name) && fields.push(`${JSON.stringify(name)}:${json}`)));
  const made = entries(table.columns.filter(({ name }) => !OWN.has(name)), row, false); // prettier-ignore
  if (made !== '') fields.push(made);
  const at = table.eventAt;
  const own = table.columns.find((column) => column.name === '_time')?.facets.find(([kind]) => kind === 'datetime');
  const known = own && row[own[1]] !== null ? timeJson(row[own[1]]) : `"${NO_TIME}"`;
  const [time, sysTime, id] = at === undefined ? [known, `"${NO_TIME}"`, ''] : [timeJson(row[at]), timeJson(row[at + 1]), rowIdOf(table, row)];
  return `{"_time":${time},"_sysTime":${sysTime},"_rowId":"${id}","data":{${fields.join(',')}}}`;
} // prettier-ignore

/** Intervals in the order of the rows, which is that of time. */
function writeSeries(table: Table, rows: readonly Row[], { key, width }: Program['series'] & object, group: (row: Row) => string): string[] {
  const at = table.columns.find(({ name }) => name === key)!.facets[0]![1];
  const intervals = new Map<string, string[]>();
  for (const row of rows) {
    const start = String(row[at]);
    const groups = intervals.get(start);
    if (groups) groups.push(group(row));
    else intervals.set(start, [group(row)]);
  }
  return [...intervals].sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1)).map(([start, groups]) => {
    const from = BigInt(start);
    return `{"startTime":"${formatTime(from)}","endTime":"${formatTime(from + width)}","groups":[${groups.join(',')}]}`;
  });
} // prettier-ignore

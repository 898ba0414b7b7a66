/** Query results as rows under columns, whatever form they came in. Pure. */
import type { GroupResult, LegacyResult, Table, TabularResult } from '../../../client/api-types.ts';

export interface OutputRows {
  /** Of a table, where a result has several. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Values by column. */
  readonly rows: readonly (readonly unknown[])[];
}

/** Every table of a result in the tabular form. */
export function rowsOfTables({ tables }: TabularResult): OutputRows[] {
  return tables.map(rowsOfTable);
}

function rowsOfTable({ name, fields, columns }: Table): OutputRows {
  const count = columns[0]?.length ?? 0;
  const rows = Array.from({ length: count }, (_, row) => columns.map((column) => column[row]));
  return { name, columns: fields.map((field) => field.name), rows };
}

/** The events, or the groups of a summary; `isSeries` for the groups of each time. */
export function rowsOfLegacy({ matches, buckets, fieldsMeta }: LegacyResult, isSeries: boolean): OutputRows {
  const groups = isSeries
    ? (buckets.series ?? []).flatMap(({ startTime, endTime, groups }) =>
        (groups ?? []).map((group) => ({ startTime, endTime, ...recordOf(group) })),
      )
    : (buckets.totals ?? []).map(recordOf);
  if ((matches ?? []).length === 0 && groups.length > 0) return { name: '', ...columnsOf(groups, []) };
  const events = (matches ?? []).map(({ _time, _sysTime, _rowId, data }) => ({ ...data, _time, _sysTime, _rowId }));
  const known = (fieldsMeta ?? []).map(({ name }) => name);
  const fields = new Set(
    [...known, ...events.flatMap((event) => Object.keys(event))].filter((name) => !SYSTEM.includes(name)),
  );
  // The service's own columns come last, where a narrow terminal cuts them off.
  return { name: '', ...columnsOf(events, ['_time', ...[...fields].sort(), '_sysTime', '_rowId']) };
}

const SYSTEM = ['_time', '_sysTime', '_rowId'];

function columnsOf(
  records: readonly Record<string, unknown>[],
  named: readonly string[],
): Pick<OutputRows, 'columns' | 'rows'> {
  const columns = named.length > 0 ? named : [...new Set(records.flatMap((record) => Object.keys(record)))];
  return { columns, rows: records.map((record) => columns.map((column) => record[column])) };
}

function recordOf({ group, aggregations }: GroupResult): Record<string, unknown> {
  return { ...group, ...Object.fromEntries((aggregations ?? []).map(({ op, value }) => [op, value])) };
}

/** `format=tabular`: columns with one value per row, put together as JSON text. */
import { SERVICE_QUERY_CELLS } from '../../limits.ts';
import { typeName, type Dataset } from '../../datasets/catalog.ts';
import type { AggregationInfo } from '../../../language/plan/tree.ts';
import type { Program, Table } from '../plan/program.ts';
import type { Answer } from './answer.ts';
import { eachField, rowIdOf, timeJson, writeValue, type Row } from './cells.ts';

export interface TableFrame {
  /** Names of the datasets that were read. */
  readonly sources: readonly string[];
  /** RFC 3339 of the query's range. */
  readonly start: string;
  readonly end: string;
  /** Adds `_cursor`, the id of each row. */
  readonly withCursors: boolean;
}

/** A finished column: its field and the JSON text of its values. */
interface Written {
  readonly field: object;
  readonly values: string;
}

const aggregationJson = ({ name, fields, args }: AggregationInfo): object => ({
  name,
  ...(fields.length > 0 && { fields }),
  ...(args.length > 0 && { args }),
});

/** The `tables` of the result as JSON text. */
export function writeTables({ table, rows, totals }: Answer, { series, aggregated, dataset }: Program, frame: TableFrame): string {
  const tables = [
    writeTable('0', table, rows, { ...frame, dataset }, series && { field: series.key, size: Number(series.width) }, aggregated),
  ];
  if (series) tables.push(writeTable('_totals', series.totals, totals, { ...frame, dataset }, undefined, aggregated));
  return `[${tables.join(',')}]`;
}

function writeTable(
  name: string,
  table: Table,
  rows: readonly Row[],
  frame: TableFrame & Pick<Program, 'dataset'>,
  buckets: object | undefined,
  aggregated: boolean,
): string {
  const { columns } = table;
  const written: Written[] = table.mapsAt === undefined ? [] : eventColumns(table, rows, frame.dataset);
  for (const column of columns) {
    const field = { name: column.name, type: column.type, ...(column.info && { agg: aggregationJson(column.info) }) };
    written.push({ field, values: rows.map((row) => writeValue(column, row)).join(',') });
  }
  if (frame.withCursors && table.eventAt !== undefined)
    written.push({ field: { name: '_cursor', type: 'string' }, values: rows.map((row) => `"${rowIdOf(table, row)}"`).join(',') });
  const groups = aggregated ? columns.filter(({ role }) => role === 'key').map((column) => ({ name: column.name })) : [];
  const head = {
    name,
    sources: frame.sources.map((source) => ({ name: source })),
    fields: written.map(({ field }) => field),
    order: table.order,
    groups,
    range: { field: '_time', start: frame.start, end: frame.end },
    ...(buckets && { buckets }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"columns":[${written.map(({ values }) => `[${values}]`).join(',')}]}`;
}

/** `_sysTime`, `_time`, then the fields of the dataset by name. */
function eventColumns(table: Table, rows: readonly Row[], dataset: Dataset): Written[] {
  const at = table.eventAt!;
  const times = ([['_sysTime', at + 1], ['_time', at]] as const).filter(([name]) => table.hasField(name)).map(([name, cell]) => ({
    field: { name, type: 'datetime' }, values: rows.map((row) => timeJson(row[cell])).join(','),
  })); // prettier-ignore

  const values = new Map<string, string[]>();
  for (const [n, row] of rows.entries())
    eachField(table, row, (name, json) => {
      let column = values.get(name);
      if (!column) values.set(name, (column = Array<string>(rows.length).fill('null')));
      if (column[n] === 'null') column[n] = json;
    });
  const known = new Set([...dataset.fields.keys(), ...values.keys()]);
  const nulls = Array<string>(rows.length).fill('null').join(',');
  // A large grid is mostly empty: leave out fields that no row has.
  const sparse = rows.length * known.size > SERVICE_QUERY_CELLS;
  const fields = [...known].filter((name) => table.hasField(name) && (!sparse || values.has(name))).sort((a, b) => (a < b ? -1 : 1));
  return [
    ...times,
    ...fields.map((name) => ({
      field: { name, type: typeName(dataset.fields.get(name) ?? 0) || 'null' },
      values: values.get(name)?.join(',') ?? nulls,
    })),
  ];
}

/** `format=tabular`: columns with one value per row, put together as JSON text. */
import { SERVICE_QUERY_CELLS } from '../../limits.ts';
import type { DatasetRecord } from '../../datasets/catalog.ts';
import { shownFields, typeName } from '../../datasets/field-types.ts';
import type { AggregationInfo } from '../../../language/plan/tree.ts';
import type { Program, QueryTable } from '../plan/program.ts';
import type { QueryAnswer } from './answer.ts';
import type { ResultRows } from '../../engine/engine.ts';
import { eachField, rowIdOf, timeJson, writeValue } from './cells.ts';
import { type ReplyBudget, ReplyText } from './reply-text.ts';

export interface TableFrame {
  /** Names of the datasets that were read. */
  readonly sources: readonly string[];
  /** RFC 3339 of the query's range. */
  readonly start: string;
  readonly end: string;
  /** Adds `_cursor`, the id of each row. */
  readonly withCursors: boolean;
}

/** A column: its field and the JSON text of its values. */
interface Written {
  readonly field: object;
  readonly values: ReplyText;
}

const aggregationJson = ({ name, fields, args }: AggregationInfo): object => ({
  name,
  ...(fields.length > 0 && { fields }),
  ...(args.length > 0 && { args }),
});

/** Adds the `tables` of the result. */
export function writeTables(
  text: ReplyText,
  { table, rows, totals }: QueryAnswer,
  { series, aggregated, dataset }: Program,
  frame: TableFrame,
): void {
  const of = { ...frame, dataset };
  text.add('[');
  writeTable(text, '0', table, rows, of, series && { field: series.key, size: Number(series.width) }, aggregated);
  if (series && totals) {
    text.add(',');
    writeTable(text, '_totals', series.totals, totals, of, undefined, aggregated);
  }
  text.add(']');
}

function writeTable(
  text: ReplyText,
  name: string,
  table: QueryTable,
  rows: ResultRows,
  frame: TableFrame & Pick<Program, 'dataset'>,
  buckets: object | undefined,
  aggregated: boolean,
): void {
  const { columns } = table;
  const written = table.mapsAt === undefined ? [] : eventColumns(text.budget, table, rows, frame.dataset);
  const count = columns.length + 1;
  const values = columns.map(() => new ReplyText(text.budget, count));
  const cursors = new ReplyText(text.budget, count);
  const withCursors = frame.withCursors && table.eventAt !== undefined;
  let comma = '';
  for (const row of rows) {
    for (const [n, column] of columns.entries()) values[n]!.add(comma + writeValue(column, row));
    if (withCursors) cursors.add(`${comma}"${rowIdOf(table, row)}"`);
    comma = ',';
  }
  for (const [n, column] of columns.entries()) {
    const field = { name: column.name, type: column.type, ...(column.info && { agg: aggregationJson(column.info) }) };
    written.push({ field, values: values[n]! });
  }
  if (withCursors) written.push({ field: { name: '_cursor', type: 'string' }, values: cursors });
  const groups = aggregated
    ? columns.filter(({ role }) => role === 'key').map((column) => ({ name: column.name }))
    : [];
  const head = {
    name,
    sources: frame.sources.map((source) => ({ name: source })),
    fields: written.map(({ field }) => field),
    order: table.order,
    groups,
    range: { field: '_time', start: frame.start, end: frame.end },
    ...(buckets && { buckets }),
  };
  text.add(`${JSON.stringify(head).slice(0, -1)},"columns":[`);
  for (const [n, column] of written.entries()) {
    text.add(n === 0 ? '[' : '],[');
    text.join(column.values);
  }
  text.add(written.length > 0 ? ']]}' : ']}');
}

/** Values of one field, of which some rows have none. */
class SparseColumn {
  readonly text: ReplyText;
  /** Rows that have a value or null. */
  #rows = 0;

  constructor(text: ReplyText) {
    this.text = text;
  }

  put(row: number, json: string): void {
    this.fill(row);
    this.text.add(row === 0 ? json : `,${json}`);
    this.#rows = row + 1;
  }

  /** Nulls up to this row. */
  fill(row: number): void {
    if (row === this.#rows) return;
    this.text.add(`${this.#rows === 0 ? '' : ','}null${',null'.repeat(row - this.#rows - 1)}`);
    this.#rows = row;
  }
}

/** `_sysTime`, `_time`, then the fields of the dataset by name. */
function eventColumns(budget: ReplyBudget, table: QueryTable, rows: ResultRows, dataset: DatasetRecord): Written[] {
  const at = table.eventAt!;
  const times = (
    [
      ['_sysTime', at + 1],
      ['_time', at],
    ] as const
  )
    .filter(([name]) => table.hasField(name))
    .map(([name, cell]) => ({
      field: { name, type: 'datetime' },
      cell,
      values: new ReplyText(budget),
    }));

  const count = Math.max(1, dataset.fields.size);
  const columns = new Map<string, SparseColumn>();
  let n = 0;
  for (const row of rows) {
    for (const { values, cell } of times) values.add(n === 0 ? timeJson(row[cell]) : `,${timeJson(row[cell])}`);
    const fields = new Map<string, string>();
    eachField(table, row, (name, json) => {
      if ((fields.get(name) ?? 'null') === 'null') fields.set(name, json);
    });
    for (const [name, json] of fields) {
      let column = columns.get(name);
      if (!column) columns.set(name, (column = new SparseColumn(new ReplyText(budget, count))));
      column.put(n, json);
    }
    n++;
  }
  const nulls = new SparseColumn(new ReplyText(budget));
  nulls.fill(n);
  const known = new Set([...shownFields(dataset.fields).map(([name]) => name), ...columns.keys()]);
  // A large grid is mostly empty: leave out fields that no row has.
  const sparse = rows.length * known.size > SERVICE_QUERY_CELLS;
  const names = [...known]
    .filter((name) => table.hasField(name) && (!sparse || columns.has(name)))
    .sort((a, b) => (a < b ? -1 : 1));
  return [
    ...times,
    ...names.map((name) => {
      const column = columns.get(name);
      column?.fill(n);
      return {
        field: { name, type: typeName(dataset.fields.get(name) ?? 0) || 'null' },
        values: (column ?? nulls).text,
      };
    }),
  ];
}

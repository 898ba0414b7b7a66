/** SQL of the legacy form's aggregations, and how their cells become JSON. */
import { TYPE_BITS, type Dataset } from '../../datasets/catalog.ts';
import type { Cell } from '../../engine/engine.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { formatTime } from '../../ingest/timestamps.ts';
import { fieldSql, type Params } from '../fields.ts';
import type { Aggregation } from './request.ts';

export interface AggregationSql {
  readonly name: string;
  readonly op: string;
  readonly sql: string;
  /** JSON text of a cell of the column. */
  readonly write: (cell: Cell) => string;
}

/** 64-bit integers and sums come as text of digits, which is what JSON writes. */
const writeNumber = (cell: Cell): string =>
  typeof cell === 'string' && /^-?\d+$/.test(cell) ? cell : typeof cell === 'number' ? JSON.stringify(cell) : 'null';
const writeText = (cell: Cell): string => JSON.stringify(cell);
const writeTime = (cell: Cell): string => (cell === null ? 'null' : JSON.stringify(formatTime(BigInt(String(cell)))));

export function aggregationSql(aggregation: Aggregation, dataset: Dataset, params: Params): AggregationSql {
  const { op, field, name } = aggregation;
  const numeric = (sql: string) => ({ name, op, sql, write: writeNumber });
  if (op === 'count' && (field === '' || field === '*' || field === '_time')) return numeric('count()');
  if (field === '' || field === '*') throw badRequest(`the aggregation ${quote(op)} wants a field`);
  if (field === '_time' || field === '_sysTime') return timeAggregation(aggregation);

  const sql = fieldSql(dataset, field, params);
  switch (op) {
    case 'count':
      return numeric(`countIf(${sql.exists})`);
    case 'distinct':
      return numeric(`uniqExact(${sql.bits === TYPE_BITS.integer ? sql.number : sql.json})`);
    case 'sum':
      // In 128 bits: a sum of 64-bit integers would wrap around without a word.
      return numeric(sql.onlyIntegers ? `sum(toInt128(${sql.number}))` : `sum(${sql.number})`);
    case 'avg':
      return numeric(`avg(${sql.number})`);
    case 'min':
    case 'max':
      // A field that never held a number is compared as text.
      if (sql.bits !== 0 && (sql.bits & (TYPE_BITS.integer | TYPE_BITS.float)) === 0)
        return { name, op, sql: `${op}(${sql.string})`, write: writeText };
      return numeric(`${op}(${sql.number})`);
  }
  throw badRequest(`the aggregation ${quote(op)} is not available yet`);
}

function timeAggregation({ op, field, name }: Aggregation): AggregationSql {
  if (op === 'min' || op === 'max')
    return { name, op, sql: `if(count() = 0, null, toUnixTimestamp64Nano(${op}(${field})))`, write: writeTime };
  if (op === 'distinct') return { name, op, sql: `uniqExact(${field})`, write: writeNumber };
  if (op === 'count') return { name, op, sql: 'count()', write: writeNumber };
  throw badRequest(`the aggregation ${quote(op)} cannot be made of ${field}`);
}

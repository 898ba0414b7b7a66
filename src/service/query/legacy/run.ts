/**
 * Runs a legacy query and writes its result. Three statements at most: the counters of the range, then either the matching events, or
 * the totals and the series by time. The result is JSON text, put together by hand: 64-bit integers stay exact that way.
 */
import { SERVICE_QUERY_BUCKETS, SERVICE_QUERY_MAX_EVENTS } from '../../../core/limits.ts';
import { typeName, type Dataset } from '../../datasets/catalog.ts';
import type { Cell, Engine } from '../../engine/engine.ts';
import { MAPS } from '../../engine/tables.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { formatTime } from '../../ingest/timestamps.ts';
import { fieldSql, Params } from '../fields.ts';
import { autoStep } from '../times.ts';
import { aggregationSql, type AggregationSql } from './aggregations.ts';
import { filterSql } from './filter.ts';
import type { LegacyQuery } from './request.ts';

const NO_TIME = '0001-01-01T00:00:00Z';

interface Range {
  readonly rows: number;
  readonly min: bigint;
  readonly max: bigint;
}

/** The result as JSON text. `startedAt` is the `performance.now()` of the request. Throws an `ApiError` 400. */
export async function runLegacyQuery(engine: Engine, dataset: Dataset, query: LegacyQuery, startedAt: number): Promise<string> {
  const params = new Params();
  const where = whereSql(query, dataset, params);
  let examined = 0;
  const select = async (sql: string): Promise<readonly (readonly Cell[])[]> => {
    const result = await engine.query(sql, params.values);
    examined += result.rowsRead;
    return result.rows;
  };

  const [counted] = await select(
    `select count(), toUnixTimestamp64Nano(min(_time)), toUnixTimestamp64Nano(max(_time)) from ${dataset.table} where ${where}`,
  );
  const range: Range = { rows: Number(counted?.[0] ?? 0), min: BigInt(String(counted?.[1] ?? 0)), max: BigInt(String(counted?.[2] ?? 0)) };

  let matches: string[] = [];
  let groups: Groups = { totals: [], series: [], count: 0, cut: false };
  if (query.aggregations.length === 0) matches = await readMatches(query, dataset, where, params, range, select);
  else groups = await readGroups(query, dataset, where, params, range, select);

  const status = {
    elapsedTime: Math.max(1, Math.round((performance.now() - startedAt) * 1000)),
    blocksExamined: examined > 0 ? 1 : 0,
    rowsExamined: Math.max(examined, range.rows),
    rowsMatched: range.rows,
    numGroups: groups.count,
    isPartial: groups.cut,
    isEstimate: false,
    cacheStatus: 0,
    continuationToken: '',
    minBlockTime: range.rows > 0 ? formatTime(range.min) : NO_TIME,
    maxBlockTime: range.rows > 0 ? formatTime(range.max) : NO_TIME,
    messages: groups.cut
      ? [{ code: 'too_many_groups', count: 1, msg: `only the first ${SERVICE_QUERY_MAX_EVENTS} groups are listed`, priority: 'warn' }]
      : [],
  };
  return `{"status":${JSON.stringify(status)},"matches":[${matches.join(',')}],"buckets":{"series":[${groups.series.join(',')}],"totals":[${groups.totals.join(
    ',',
  )}]},"fieldsMeta":${JSON.stringify(fieldsMeta(dataset))}}`;
}

type Select = (sql: string) => Promise<readonly (readonly Cell[])[]>;

function whereSql(query: LegacyQuery, dataset: Dataset, params: Params): string {
  const at = (ns: bigint): string => `fromUnixTimestamp64Nano(${params.bind('Int64', ns)}, 'UTC')`;
  const parts = [`_time < ${at(query.end)}`];
  if (query.start !== undefined) parts.push(`_time >= ${at(query.start)}`);
  if (query.filter) parts.push(filterSql(query.filter, dataset, params));
  return parts.join(' and ');
}

const TIMES = 'toUnixTimestamp64Nano(_time), toUnixTimestamp64Nano(_sysTime), _rowId';

async function readMatches(
  query: LegacyQuery,
  dataset: Dataset,
  where: string,
  params: Params,
  range: Range,
  select: Select,
): Promise<string[]> {
  if (range.rows === 0) return [];
  const projected = query.project.map(({ field, alias }) => ({ alias, sql: columnSql(field, dataset, params) }));
  const columns =
    projected.length > 0 ? projected.map(({ sql }) => sql) : MAPS.flatMap(({ column }) => [`mapKeys(${column})`, `mapValues(${column})`]);
  const order = query.order.length > 0 ? query.order : [{ field: '_time', desc: true }];
  const keys = order.flatMap(({ field, desc }) =>
    sortKeys(field, dataset, params).map((key) => `${key} ${desc ? 'desc' : 'asc'} nulls last`),
  );
  // Row ids make the order total.
  keys.push(`_rowId ${order[0]?.desc ? 'desc' : 'asc'}`);
  const rows = await select(
    `select ${TIMES}, ${columns.join(', ')} from ${dataset.table} where ${where} order by ${keys.join(', ')} limit ${query.limit}`,
  );
  return rows.map(([time, sysTime, rowId, ...cells]) => {
    const data = projected.length > 0 ? projected.map(({ alias }, n) => entry(alias, cells[n] as string | null)) : mapEntries(cells);
    return `{"_time":"${formatTime(BigInt(String(time)))}","_sysTime":"${formatTime(BigInt(String(sysTime)))}","_rowId":"${writeRowId(rowId)}","data":{${data
      .filter((text) => text !== '')
      .join(',')}}}`;
  });
}

/** 16 hex digits, so that ids sort as text, too. */
export const writeRowId = (cell: Cell | undefined): string => BigInt(String(cell)).toString(16).padStart(16, '0');

const entry = (name: string, json: string | null): string => (json === null ? '' : `${JSON.stringify(name)}:${json}`);

/** A projected field as JSON text. */
function columnSql(field: string, dataset: Dataset, params: Params): string {
  if (field === '_time' || field === '_sysTime') return `concat('"', formatDateTime(${field}, '%Y-%m-%dT%H:%i:%S.%f'), 'Z"')`;
  return fieldSql(dataset, field, params).json;
}

function sortKeys(field: string, dataset: Dataset, params: Params): string[] {
  if (field === '_time' || field === '_sysTime' || field === '_rowId') return [field];
  const sql = fieldSql(dataset, field, params);
  return [sql.number, sql.string, sql.boolean];
}

function mapEntries(cells: readonly Cell[]): string[] {
  return MAPS.flatMap(({ column }, map) => {
    const names = cells[map * 2] as string[];
    const values = cells[map * 2 + 1] as Cell[];
    return names.map((name, n) => {
      const value = values[n]!;
      return `${JSON.stringify(name)}:${column === 'i' || column === 'j' ? String(value) : JSON.stringify(value)}`;
    });
  });
}

interface Groups {
  readonly totals: string[];
  readonly series: string[];
  readonly count: number;
  readonly cut: boolean;
}

async function readGroups(
  query: LegacyQuery,
  dataset: Dataset,
  where: string,
  params: Params,
  range: Range,
  select: Select,
): Promise<Groups> {
  const aggregations = query.aggregations.map((aggregation) => aggregationSql(aggregation, dataset, params));
  const by = query.groupBy.map((field) => {
    if (field === '_time' || field === '_sysTime') throw badRequest(`groupBy ${field} is not available: use resolution`);
    return fieldSql(dataset, field, params).json;
  });
  const names = by.map((_, n) => `g${n}`);
  const columns = [...by.map((sql, n) => `${sql} as g${n}`), ...aggregations.map(({ sql }, n) => `${sql} as a${n}`)].join(', ');
  const rows = await select(
    `select ${columns} from ${dataset.table} where ${where} ${names.length > 0 ? `group by ${names.join(', ')}` : ''} order by ${groupOrder(query, aggregations)} limit ${
      SERVICE_QUERY_MAX_EVENTS + 1
    }`,
  );
  const cut = rows.length > SERVICE_QUERY_MAX_EVENTS;
  const ids = new Map<string, number>();
  const groupOf = (cells: readonly Cell[]): string => {
    const key = JSON.stringify(cells.slice(0, by.length));
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    const group = query.groupBy.map((field, n) => `${JSON.stringify(field)}:${String(cells[n] ?? null)}`).join(',');
    const values = aggregations
      .map(({ name, write }, n) => `{"op":${JSON.stringify(name)},"value":${write(cells[by.length + n] ?? null)}}`)
      .join(',');
    return `{"id":${id},"group":{${group}},"aggregations":[${values}]}`;
  };
  const totals = rows.slice(0, SERVICE_QUERY_MAX_EVENTS).map(groupOf);
  if (range.rows === 0) return { totals, series: [], count: totals.length, cut };

  const from = query.start !== undefined && query.start > range.min ? query.start : range.min;
  const step = query.step ?? autoStep(range.max - from + 1n);
  const origin = (from / step - (from < 0n && from % step !== 0n ? 1n : 0n)) * step;
  if ((range.max - origin) / step >= BigInt(SERVICE_QUERY_BUCKETS))
    throw badRequest(`resolution ${step}ns makes more than ${SERVICE_QUERY_BUCKETS} buckets: use a coarser one`);
  const bucket = `intDiv(toInt128(toUnixTimestamp64Nano(_time)) - ${params.bind('Int64', origin)}, ${params.bind('Int64', step)})`;
  const series = await select(
    `select ${columns}, toInt64(${bucket}) as t from ${dataset.table} where ${where} group by ${[...names, 't'].join(', ')} order by t, ${groupOrder(query, aggregations)} limit ${
      SERVICE_QUERY_MAX_EVENTS * 4
    }`,
  );
  return { totals, series: writeSeries(series, groupOf, origin, step), count: totals.length, cut };
}

/** Asked for by alias, operation or grouped field; else the first aggregation, largest first. */
function groupOrder(query: LegacyQuery, aggregations: readonly AggregationSql[]): string {
  const keys = query.order
    .filter(({ field }) => field !== '_time')
    .map(({ field, desc }) => {
      const aggregation = aggregations.findIndex(({ name, op }) => field === name || field === op);
      const group = query.groupBy.indexOf(field);
      if (aggregation < 0 && group < 0) throw badRequest(`order by ${quote(field)}: wanted an aggregation or a field of groupBy`);
      return `${aggregation >= 0 ? `a${aggregation}` : `g${group}`} ${desc ? 'desc' : 'asc'} nulls last`;
    });
  if (keys.length === 0) keys.push('a0 desc nulls last');
  return [...keys, ...query.groupBy.map((_, n) => `g${n}`)].join(', ');
}

function writeSeries(
  rows: readonly (readonly Cell[])[],
  groupOf: (cells: readonly Cell[]) => string,
  origin: bigint,
  step: bigint,
): string[] {
  const buckets = new Map<string, string[]>();
  for (const row of rows) {
    const bucket = String(row.at(-1));
    const groups = buckets.get(bucket) ?? [];
    buckets.set(bucket, groups);
    groups.push(groupOf(row));
  }
  return [...buckets].map(([bucket, groups]) => {
    const start = origin + BigInt(bucket) * step;
    return `{"startTime":"${formatTime(start)}","endTime":"${formatTime(start + step)}","groups":[${groups.join(',')}]}`;
  });
}

const meta = (name: string, type: string) => ({ name, type, unit: '', hidden: false, description: '' });

function fieldsMeta(dataset: Dataset): object[] {
  const fields = [...dataset.fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, bits]) => meta(name, typeName(bits)));
  return [meta('_sysTime', 'datetime'), meta('_time', 'datetime'), ...fields];
}

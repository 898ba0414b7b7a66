/** Compiles a typed tree to statements for the rows, the totals of a series and the number of matching events, with the columns of each result. */
import { SERVICE_QUERY_DEFAULT_EVENTS, SERVICE_QUERY_MAX_EVENTS, SERVICE_QUERY_SQL } from '../../limits.ts';
import type { DatasetRecord } from '../../datasets/catalog.ts';
import { typeName } from '../../datasets/field-types.ts';
import type { QueryEnvironment } from '../values/call.ts';
import type { OwnMap } from '../../engine/own-columns.ts';
import { OWN_KINDS, type EventSql } from '../sql/field.ts';
import type { RelationColumn } from '../sql/relation-parts.ts';
import { Relation } from '../sql/relation/relation.ts';
import { join } from '../sql/relation/join.ts';
import { redact } from '../sql/relation/redact.ts';
import { constantRows, rangeRows, schemaRows } from '../sql/relation/literal-rows.ts';
import { union } from '../sql/relation/union.ts';
import type { ValueKind } from '../values/kind.ts';
import { sql, type Sql } from '../values/sql.ts';
import { makeSeries } from '../sql/relation/series.ts';
import { fold, summarize } from '../sql/relation/summarize.ts';
import { topNested } from '../sql/relation/top-nested.ts';
import { facetsOf } from '../values/value.ts';
import { AplError, meaningError } from '../../../language/syntax/apl-error.ts';
import type { Type } from '../../../language/types.ts';
import { comparedIn } from './never-true.ts';
import { groupLimit, seriesOf, totalsOf } from './series.ts';
import {
  matchesPattern,
  shown,
  type AggregationInfo,
  type Column,
  type DatasetName,
  type QuerySource,
  type QueryStage,
  type Tree,
  type TreeRows,
} from '../../../language/plan/tree.ts';
import { truth } from '../../../language/plan/truth.ts';
import { VirtualFieldError } from '../../../language/plan/virtual.ts';

export interface ProgramOptions {
  /** The datasets that a name or pattern of the query matches. */
  readonly datasetsOf: (name: DatasetName) => readonly DatasetRecord[];
  readonly environment: QueryEnvironment;
  readonly bounds: Bounds;
  /** The request's own limit. */
  readonly limit: number | undefined;
  readonly cursor: QueryCursor | undefined;
}

/** [start, end) of `_time`, ns; a bound that need not be checked is undefined. */
export interface Bounds {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

export interface QueryCursor {
  readonly time: bigint;
  readonly rowId: bigint;
  readonly include: boolean;
}

export interface OutputColumn {
  readonly name: string;
  /** As results name the type. */
  readonly type: string;
  readonly role: RelationColumn['role'];
  readonly info: AggregationInfo | undefined;
  /** Kind of each facet and the cell that it is in; at most one of those is not null. */
  readonly facets: readonly (readonly [ValueKind, number])[];
}

export interface QueryTable {
  readonly sql: Sql;
  readonly columns: readonly OutputColumn[];
  /** Cells of `_time`, `_sysTime` (ns) and the row id, when rows are events. */
  readonly eventAt: number | undefined;
  /** Cells of the maps s, i, f, b and j, when the fields of the events are columns, which come before the others. */
  readonly mapsAt: number | undefined;
  /** Cells of own columns beside those maps, with their fields. */
  readonly own: readonly (readonly [field: string, kind: ValueKind, at: number])[];
  /** Whether a field of the dataset is one of those columns. */
  readonly hasField: (name: string) => boolean;
  readonly matchedAt: number | undefined;
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  /** The order that a cursor can go on in. */
  readonly byTime: 'asc' | 'desc' | undefined;
  /** Rows that the statement gives at most, and how many of those are wanted: one more shows that there are more. */
  readonly atMost: number;
  readonly wanted: number;
}

export interface Program {
  /** What the rows are of: one dataset, or one with the fields of all. */
  readonly dataset: DatasetRecord;
  readonly rows: QueryTable;
  readonly count: Sql;
  /** Of a series by time: the key that is the time, its width, the same groups without time, and how many of those are wanted. */
  readonly series:
    | { readonly key: string; readonly width: bigint; readonly totals: QueryTable; readonly groups: number | undefined }
    | undefined;
  readonly aggregated: boolean;
  /** The rows are all events that matched, unless there are more of them. */
  readonly isWhole: boolean;
  /** Fields that the dataset never had. */
  readonly missing: ReadonlySet<string>;
  /** Fields that others are compared with. */
  readonly compared: ReadonlySet<string>;
  /** A where lets everything through. */
  readonly alwaysTrue: boolean;
}

/** Throws an `AplError`. */
export function programOf({ source, stages }: TreeRows, options: ProgramOptions): Program {
  const missing = new Set<string>();
  const { environment, cursor, bounds } = options;
  const { params } = environment;
  const range = [
    ...(bounds.end === undefined ? [] : [sql`_time < ${params.time(bounds.end)}`]),
    ...(bounds.start === undefined ? [] : [sql`_time >= ${params.time(bounds.start)}`]),
  ];
  const build = (where: readonly Sql[], tree: readonly QueryStage[]): Relation => {
    const window = environment.end - environment.start;
    const frame = {
      environment,
      missing: (name: string) => void missing.add(name),
      relationOf: (inner: Tree): Relation =>
        inner.stages.reduce(
          (relation, stage) => advance(relation, stage, window),
          rowsOf(inner.source, frame, range, options),
        ),
    };
    return tree
      .reduce((relation, stage) => advance(relation, stage, window), rowsOf(source, frame, where, options))
      .ordered();
  };
  const aggregated = stages.some(({ kind }) => kind === 'summarize');
  const series = seriesOf(stages);
  const tree =
    series === undefined || series.alone
      ? stages
      : stages.filter((stage, n) => n <= series.at || stage.kind !== 'limit' || stage.exactly);
  const plain = build(range, tree);
  const rows = cursor ? build([...range, cursorSql(cursor, plain, params)], tree) : plain;

  const limited = stages.some(({ kind }) => kind === 'limit');
  const atMost = Math.min(
    options.limit ?? (limited || aggregated ? SERVICE_QUERY_MAX_EVENTS : SERVICE_QUERY_DEFAULT_EVENTS),
    SERVICE_QUERY_MAX_EVENTS,
  );
  const result = {
    dataset: plain.parts.dataset,
    count: checked(plain.countMatching()),
    aggregated,
    isWhole: cursor === undefined && rows.parts.level === 0,
    missing,
    compared: comparedIn(stages),
    alwaysTrue: stages.some((stage) => stage.kind === 'where' && truth(stage.condition) === true),
  };
  if (!series) return { ...result, rows: tableOf(rows, atMost), series: undefined };

  const totals = build(range, totalsOf(stages, series));
  const groups = series.alone ? undefined : groupLimit(stages, series, options.limit);
  return {
    ...result,
    rows: tableOf(rows, series.alone ? atMost : SERIES_ROWS),
    series: {
      key: series.key.name,
      width: series.width(environment),
      totals: tableOf(totals, groups ?? SERVICE_QUERY_MAX_EVENTS),
      groups,
    },
  };
}

const SERIES_ROWS = SERVICE_QUERY_MAX_EVENTS * 4;

/** The first rows of a query. */
function rowsOf(
  source: QuerySource,
  frame: Parameters<typeof Relation.events>[1],
  where: readonly Sql[],
  { datasetsOf }: ProgramOptions,
): Relation {
  switch (source.kind) {
    case 'datasets': {
      const datasets = source.names.flatMap(datasetsOf);
      if (datasets.length === 0) return constantRows(frame, [], []);
      return union(
        datasets.map((dataset) => Relation.events(dataset, frame, where)),
        { inner: false, source: undefined },
      );
    }
    case 'rows':
      return constantRows(frame, source.columns, source.rows);
    case 'range':
      return rangeRows(frame, source);
  }
}

const innerOf = ({ parts }: Relation, tree: Tree): Relation => new Relation(parts.relationOf(tree).parts);

/** How each stage goes on from the rows before it. `window`: ns that the query looks at. */
const STAGES: {
  readonly [Kind in QueryStage['kind']]: (
    rows: Relation,
    stage: QueryStage & { readonly kind: Kind },
    window: bigint,
  ) => Relation;
} = {
  where: (rows, { condition }) => rows.where(condition),
  extend: (rows, { isVirtual, columns }) => (isVirtual ? virtual(rows, columns) : rows.extend(columns)),
  project: (rows, { columns }) => rows.project(columns),
  remove: (rows, { names }) => rows.remove(names),
  keep: (rows, { names }) => rows.keep(names),
  rename: (rows, { pairs }) => rows.rename(pairs),
  label: (rows, { name }) => rows.labelled(name),
  expand: (rows, stage) => rows.expand(stage),
  summarize: (rows, { aggregations, keys }, window) => summarize(rows, aggregations, keys, window),
  fold: (rows, { aggregations, keys }, window) => fold(rows, aggregations, keys, window),
  sort: (rows, { keys }) => rows.sort(keys),
  limit: (rows, { count }) => rows.take(count),
  join: (rows, stage) => join(rows, innerOf(rows, stage.right), stage),
  union: (rows, stage) => union([rows, ...stage.others.map((tree) => innerOf(rows, tree))], stage),
  series: makeSeries,
  nested: (rows, { levels }, window) => topNested(rows, levels, window),
  redact,
  reorder: (rows, { names }) => rows.reorder(names),
  schema: schemaRows,
  render: (rows) => rows,
  sample: refuse,
  throttle: refuse,
  dedupe: refuse,
  route: refuse,
};

function refuse(_rows: Relation, { kind }: QueryStage): never {
  throw new RangeError(`the stage ${kind} is for transforms`);
}

const advance = (rows: Relation, stage: QueryStage, window: bigint): Relation =>
  (STAGES[stage.kind] as (rows: Relation, stage: QueryStage, window: bigint) => Relation)(rows, stage, window);

/** Errors in a virtual field point into its own expression. */
function virtual(relation: Relation, columns: readonly Column[]): Relation {
  try {
    return relation.extend(columns);
  } catch (error) {
    const [{ name, text = '' }] = columns as readonly [Column];
    throw error instanceof AplError ? new VirtualFieldError({ name, expression: text }, error) : error;
  }
}

function cursorSql(
  { time, rowId, include }: QueryCursor,
  { parts }: Relation,
  params: QueryEnvironment['params'],
): Sql {
  const direction = parts.order?.byTime;
  if (direction === undefined) throw meaningError(0, 'a cursor needs events that are sorted by _time alone');
  const at = params.time(time);
  const id = params.bind('UInt64', rowId);
  return direction === 'desc'
    ? sql`_time <= ${at} and (_time < ${at} or _rowId ${include ? sql`<=` : sql`<`} ${id})`
    : sql`_time >= ${at} and (_time > ${at} or _rowId ${include ? sql`>=` : sql`>`} ${id})`;
}

function tableOf(relation: Relation, most: number): QueryTable {
  const { event, open, removed, columns, matched, order, limit } = relation.parts;
  const wanted = Math.min(limit ?? most, most);
  // Read one row more: a page of events has a token for the next one, also when the text sets the limit.
  const atMost = event || limit === undefined || limit > most ? wanted + 1 : wanted;
  const select: Sql[] = [];
  const add = (cell: Sql): number => select.push(cell) - 1;
  const nanos = (time: Sql): Sql => sql`toUnixTimestamp64Nano(${time})`;
  const eventAt = event && add(nanos(event.time));
  if (event) select.push(nanos(event.sysTime), event.rowId);
  const maps = event && open ? mapsOf(event) : undefined;
  const mapsAt = maps && select.push(...maps) - maps.length;
  const own = maps ? ownOf(event!).map(([field, kind, cell]) => [field, kind, add(cell)] as const) : [];
  const matchedAt = matched && add(matched);
  const outputs = [...columns].map(([name, column]): OutputColumn => {
    const facets = facetsOf(column.value).map(
      ([kind, facet]) => [kind, add(kind === 'datetime' ? nanos(facet) : facet)] as const,
    );
    return { name: shown(name), type: typeOf(column), role: column.role, info: column.info, facets };
  });
  if (select.length === 0) add(sql`1`);
  return {
    sql: checked(relation.select(select, atMost)),
    columns: outputs,
    eventAt,
    mapsAt,
    own,
    matchedAt,
    atMost,
    wanted,
    hasField: (name) => !columns.has(name) && !removed.some((pattern) => matchesPattern(pattern, name)),
    order: (order?.info ?? []).map(({ field, desc }) => ({ field: shown(field), desc })),
    byTime: event && order?.byTime,
  };
}

const mapsOf = ({ s, i, f, b, j }: EventSql): Sql[] => [s, i, f, b, j];
const ownOf = ({ own }: EventSql): (readonly [field: string, kind: ValueKind, cell: Sql])[] =>
  [...own].flatMap(([field, columns]) =>
    Object.entries(columns).map(([map, cell]) => [field, OWN_KINDS[map as OwnMap], cell] as const),
  );

const KIND_NAMES: Readonly<Record<ValueKind, string>> = {
  int: 'integer',
  real: 'float',
  string: 'string',
  bool: 'boolean',
  datetime: 'datetime',
  timespan: 'timespan',
  json: 'array',
};
const TYPE_NAMES: Readonly<Record<Type, string>> = {
  int: 'integer',
  real: 'float',
  string: 'string',
  bool: 'boolean',
  datetime: 'datetime',
  timespan: 'timespan',
  dynamic: 'null',
};

function typeOf({ value, type, bits }: RelationColumn): string {
  if (bits !== undefined) return typeName(bits);
  const names = facetsOf(value).map(([kind]) => KIND_NAMES[kind]);
  // A value from JSON may have any type.
  if (names.length > 3) return 'dynamic';
  return names.length > 0 ? names.join('|') : TYPE_NAMES[type];
}

function checked(statement: Sql): Sql {
  if (statement.length > SERVICE_QUERY_SQL) throw meaningError(0, 'the query is too complex; make it shorter');
  return statement;
}

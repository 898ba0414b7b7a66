/** The state of rows at one point of a query, and the SQL clauses of it. */
import { SERVICE_QUERY_NESTING } from '../../limits.ts';
import type { DatasetRecord } from '../../datasets/catalog.ts';
import type { QueryEnvironment } from '../values/call.ts';
import type { AggregationInfo, NamePattern, Tree } from '../../../language/plan/tree.ts';
import { meaningError } from '../../../language/syntax/apl-error.ts';
import type { Type } from '../../../language/types.ts';
import type { EventSql } from './field.ts';
import { joinSql, NOTHING, sql, type Sql } from '../values/sql.ts';
import type { SqlValue } from '../values/value.ts';

/** A column that a stage made. */
export interface RelationColumn {
  readonly value: SqlValue;
  readonly type: Type;
  readonly role: 'row' | 'key' | 'aggregation';
  readonly info?: AggregationInfo;
  /** A key that is a bin of `_time`. */
  readonly timeBin?: boolean;
  /** Types that the field has had, when the column is nothing but a field. */
  readonly bits?: number;
}

export interface Ordering {
  /** Each with its direction. */
  readonly keys: readonly { readonly sql: Sql; readonly desc: boolean }[];
  readonly info: readonly { readonly field: string; readonly desc: boolean }[];
  /** True when the order is that of time, and of row ids within the same time: a cursor can go on in it. */
  readonly byTime: 'asc' | 'desc' | undefined;
}

/** The rows of a query inside another, as expressions see them. */
export interface InnerRows {
  readonly parts: RelationParts;
  ordered(): InnerRows;
  nest(): InnerRows;
  select(columns: readonly Sql[], atMost: number): Sql;
}

export interface RelationParts {
  readonly dataset: DatasetRecord;
  readonly environment: QueryEnvironment;
  readonly missing: (name: string) => void;
  /** The rows of another query, and no rows of this one. */
  readonly relationOf: (tree: Tree) => InnerRows;
  readonly from: Sql;
  readonly where: readonly Sql[];
  readonly level: number;
  readonly columns: ReadonlyMap<string, RelationColumn>;
  /** Where rows are events: the SQL of each one's own values. */
  readonly event: EventSql | undefined;
  /** Fields that no stage has named are columns, too. */
  readonly open: boolean;
  readonly removed: readonly NamePattern[];
  readonly order: Ordering | undefined;
  /** The number of the item of mv-expand, by which otherwise equal rows sort. */
  readonly item: Sql | undefined;
  /** The name of the dataset that each row is of, where there are several. */
  readonly label?: Sql | undefined;
  readonly limit: number | undefined;
  /** The matching rows, before any stage groups or limits them. */
  readonly matching: Sql | undefined;
  /** A column that says how many those are. */
  readonly matched: Sql | undefined;
}

/** The order of rows that are no events any more: the newest first, where they have a time. */
export function orderOf(columns: ReadonlyMap<string, RelationColumn>): Ordering | undefined {
  const time = columns.get('_time')?.value.facets.datetime;
  return time && { keys: [{ sql: time, desc: true }], info: [{ field: '_time', desc: true }], byTime: undefined };
}

export const whereSql = (where: readonly Sql[]): Sql =>
  where.length === 0 ? NOTHING : sql` where ${where.length === 1 ? where[0]! : joinSql(where, sql` and `)}`;

export function checkedLevel(level: number): number {
  if (level > SERVICE_QUERY_NESTING)
    throw meaningError(
      0,
      `the query needs more than ${SERVICE_QUERY_NESTING} steps inside each other; make it shorter`,
    );
  return level;
}

/** How many rows meet the conditions, as a statement. */
export const countSql = ({ from, where }: RelationParts): Sql => sql`select count() from ${from}${whereSql(where)}`;

/** Rows that no dataset has: datatable, print, range, and the schema of other rows. */
import { SERVICE_QUERY_MADE_ROWS } from '../../../../language/limits.ts';
import type { QuerySource } from '../../../../language/plan/tree.ts';
import type { Constant, Type } from '../../../../language/types.ts';
import { newDataset } from '../../../datasets/catalog.ts';
import { compile } from '../expressions.ts';
import type { RelationColumn, RelationParts } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { alias, list, sql, type Sql } from '../../values/sql.ts';
import { asInt, asTime, constantValue, facetsOf, oneRequired, type SqlValue } from '../../values/value.ts';
import type { ValueKind } from '../../values/kind.ts';

type LiteralContext = Pick<RelationParts, 'environment' | 'missing' | 'relationOf'>;

/** Used where there is no dataset. */
const NO_DATASET = newDataset(0, { name: '', description: '', created: '', who: '' });

const literalRelation = (
  frame: LiteralContext,
  from: Sql,
  columns: ReadonlyMap<string, RelationColumn>,
  item: Sql | undefined,
): Relation =>
  new Relation({
    environment: frame.environment,
    missing: frame.missing,
    relationOf: frame.relationOf,
    dataset: NO_DATASET,
    where: [],
    from,
    level: 1,
    columns,
    event: undefined,
    open: false,
    removed: [],
    order: undefined,
    item,
    limit: undefined,
    matching: undefined,
    matched: undefined,
  });

const NUMBER = sql`number`;

/** Values in arrays, one for each column and kind: a row takes its items. */
export function constantRows(
  frame: LiteralContext,
  columns: readonly (readonly [string, Type])[],
  rows: readonly (readonly Constant[])[],
): Relation {
  const { params } = frame.environment;
  const arrays: Sql[] = [];
  const computed = columns.map(([name, type], n): [string, RelationColumn] => {
    const values = rows.map((row): SqlValue => constantValue(row[n]!, params));
    const kinds = new Set(values.flatMap((value) => facetsOf(value).map(([kind]) => kind)));
    const facets: Partial<Record<ValueKind, Sql>> = {};
    for (const kind of kinds) {
      const cell = alias('ca', arrays.length);
      arrays.push(sql`[${list(values.map((value) => value.facets[kind] ?? sql`null`))}][${NUMBER} + 1] as ${cell}`);
      facets[kind] = cell;
    }
    return [name, { value: { facets }, type, role: 'row' }];
  });
  const select = list([...arrays, NUMBER]);
  return literalRelation(
    frame,
    sql`(select ${select} from numbers(${rows.length}))`,
    new Map(computed),
    columns.length > 0 ? NUMBER : undefined,
  );
}

/** From, from + step, … up to and with `to`. */
export function rangeRows(
  frame: LiteralContext,
  { name, type, from, to, step }: QuerySource & { readonly kind: 'range' },
): Relation {
  const context = {
    environment: frame.environment,
    missing: frame.missing,
    relationOf: frame.relationOf,
    column: () => undefined,
    columns: () => [],
    everything: () => sql`''`,
    windowOrder: () => sql``,
  };
  const width = step.kind === 'constant' ? (step.constant.value as bigint) : 1n;
  const count = (value: SqlValue): Sql =>
    type === 'datetime'
      ? sql`toUnixTimestamp64Nano(${asTime(value)})`
      : type === 'timespan'
        ? value.facets.timespan!
        : asInt(value);
  const [first, last] = [count(compile(from, context)), count(compile(to, context))];
  const by = frame.environment.params.int(width);
  const rows = sql`least(${SERVICE_QUERY_MADE_ROWS}, greatest(0, intDiv(toInt128(${last}) - toInt128(${first}), ${by}) + if((toInt128(${last}) - toInt128(${first})) * ${by} >= 0, 1, 0)))`;
  const cell = sql`toInt64(assumeNotNull(${first}) + toInt128(${by}) * ${NUMBER})`;
  const value =
    type === 'datetime'
      ? oneRequired('datetime', sql`fromUnixTimestamp64Nano(${cell}, 'UTC')`)
      : oneRequired(type === 'int' ? 'int' : 'timespan', cell);
  const [[kind, facet]] = facetsOf(value) as [[ValueKind, Sql]];
  // Behind a limit the engine computes rand() for each row, not once before they are taken apart.
  const source = sql`(select arrayJoin(range(toUInt64(${rows}))) as number limit ${SERVICE_QUERY_MADE_ROWS})`;
  const column: RelationColumn = { value: oneRequired(kind, sql`ca0`), type, role: 'row' };
  return literalRelation(
    frame,
    sql`(select ${facet} as ca0, number from ${source})`,
    new Map([[name, column]]),
    NUMBER,
  );
}

const DATA_TYPES: Readonly<Record<ValueKind, string>> = {
  int: 'long',
  real: 'real',
  string: 'string',
  bool: 'bool',
  datetime: 'datetime',
  timespan: 'timespan',
  json: 'dynamic',
};

/** A row for each column of the rows. */
export function schemaRows(relation: Relation): Relation {
  const text = (value: string): Constant => ({ type: 'string', value });
  const rows = [...relation.allColumns()].map(([name, { value, type }], n): Constant[] => {
    const kinds = facetsOf(value).map(([kind]) => DATA_TYPES[kind]);
    const found = kinds.length === 1 ? kinds[0]! : kinds.length === 0 ? (type === 'int' ? 'long' : type) : 'dynamic';
    return [text(name), { type: 'int', value: BigInt(n) }, text(found), text(found)];
  });
  const columns = [
    ['ColumnName', 'string'],
    ['ColumnOrdinal', 'int'],
    ['DataType', 'string'],
    ['ColumnType', 'string'],
  ] as const;
  return constantRows(relation.parts, columns, rows);
}

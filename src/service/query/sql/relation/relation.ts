/**
 * Rows at one point of a query, as an unfinished select: each stage returns the next. A stage joins the same select where SQL allows it, and else
 * wraps it: where the order would change (a where behind a limit) or an expression has grown long. Users' names never become names in
 * SQL: columns are numbered.
 */
import type { DatasetRecord } from '../../../datasets/catalog.ts';
import { shownFields } from '../../../datasets/field-types.ts';
import { EVENTS, typeOf } from '../../../../language/plan/scope.ts';
import {
  matchesPattern,
  numberedName,
  type Column,
  type NamePattern,
  type Node,
  type QueryStage,
  type Renamed,
  type SortKey,
} from '../../../../language/plan/tree.ts';
import { compile, compileCondition, type ExpressionContext } from '../expressions.ts';
import { eventText, mapEvent, namedValue, ownSql, rowIdText, TABLE_EVENT } from '../field.ts';
import { arrayOf, itemOrSelf, withItems } from './items.ts';
import { SelectNames } from './select-names.ts';
import { refuseWindows, usesWindow } from './windows.ts';
import { defaultOrder, orderSql, sortKeys } from './order.ts';
import { checkedLevel, countSql, whereSql, type RelationColumn, type RelationParts } from '../relation-parts.ts';
import { list, NOTHING, sql, tableSql, type Sql } from '../../values/sql.ts';
import { asString, oneRequired, sizeOf, type SqlValue } from '../../values/value.ts';

type Expand = QueryStage & { readonly kind: 'expand' };
/** Users' names hold no NUL. */
const NUMBER = '\0number';

/** SQL of a value longer than this is computed in a select of its own instead of being repeated. */
const LONG_SQL = 1500;

export class Relation {
  readonly parts: RelationParts;

  constructor(parts: RelationParts) {
    this.parts = parts;
  }

  /** The events of a dataset within the conditions. */
  static events(
    dataset: DatasetRecord,
    frame: Pick<RelationParts, 'environment' | 'missing' | 'relationOf'>,
    where: readonly Sql[],
  ): Relation {
    return new Relation({
      ...frame,
      dataset,
      where,
      from: tableSql(dataset.table),
      level: 0,
      columns: new Map(),
      event: { ...TABLE_EVENT, own: ownSql(dataset.own) },
      open: true,
      removed: [],
      order: undefined,
      item: undefined,
      limit: undefined,
      matching: undefined,
      matched: undefined,
    });
  }

  #with(parts: Partial<RelationParts>): Relation {
    return new Relation({ ...this.parts, ...parts });
  }

  get context(): ExpressionContext {
    const { environment, missing, relationOf } = this.parts;
    return {
      environment,
      missing,
      relationOf,
      windowOrder: () => orderSql(this.ordered().parts),
      column: (name) => this.column(name),
      everything: () => this.#everything(),
      columns: () => [...this.allColumns().keys()],
    };
  }

  /** The value under the name; undefined for a field that no event ever had. */
  column(name: string): SqlValue | undefined {
    const column = this.parts.columns.get(name);
    if (column) return column.value;
    const { event, open, removed } = this.parts;
    if (!open || !event || removed.some((pattern) => matchesPattern(pattern, name))) return undefined;
    if (name === '_time') return oneRequired('datetime', event.time);
    if (name === '_sysTime') return oneRequired('datetime', event.sysTime);
    if (name === '_rowId' || name === '_cursor') return oneRequired('string', rowIdText(event));
    return namedValue(event, this.parts.dataset.fields, name, this.parts.environment.params);
  }

  #everything(): Sql {
    const { event } = this.parts;
    if (!event)
      return sql`arrayStringConcat([${list([...this.parts.columns.values()].map(({ value }) => sql`ifNull(${asString(value)}, '')`))}], '\\x01')`;
    return eventText(event);
  }

  labelled(name: string): Relation {
    return this.#with({ label: this.parts.environment.params.string(name) });
  }

  where(condition: Node): Relation {
    refuseWindows([condition], 'where');
    if (this.parts.limit !== undefined) return this.nest().where(condition);
    return this.#with({ where: [...this.parts.where, compileCondition(condition, this.context)] });
  }

  extend(columns: readonly Column[]): Relation {
    return this.#forColumns(columns, (rows) => {
      const computed = rows.#make(columns);
      const kept = [...rows.parts.columns].filter(([name]) => !computed.has(name));
      return rows.#with({ columns: new Map([...kept, ...computed]) }).#shortened();
    });
  }

  project(columns: readonly Column[]): Relation {
    return this.#forColumns(columns, (rows) => rows.#with({ columns: rows.#make(columns), open: false }).#shortened());
  }

  /** Functions that look at other rows see the remaining rows in their order; later stages see the result. */
  #forColumns(columns: readonly Column[], work: (rows: Relation) => Relation): Relation {
    if (!columns.some(({ node }) => usesWindow(node))) return work(this);
    const rows = this.parts.limit === undefined ? this : this.nest();
    return work(rows.ordered()).nest();
  }

  remove(names: readonly NamePattern[]): Relation {
    const columns = new Map(
      [...this.parts.columns].filter(([name]) => !names.some((pattern) => matchesPattern(pattern, name))),
    );
    return this.#with({ columns, removed: [...this.parts.removed, ...names] });
  }

  /** Keeps the fields that events have, in the order of the dataset. */
  keep(names: readonly NamePattern[]): Relation {
    const matches = (name: string): boolean => names.some((pattern) => matchesPattern(pattern, name));
    const { parts } = this;
    const computed = new Map([...parts.columns].filter(([name]) => matches(name)));
    if (!parts.open || !parts.event) return this.#with({ columns: computed });
    return this.#with({ columns: new Map([...this.#unnamed(matches), ...computed]), open: false }).#shortened();
  }

  /** The column under the name. */
  columnFor(name: string): RelationColumn {
    return this.#make([{ name, node: { kind: 'column', type: 'dynamic', name } }]).get(name)!;
  }

  /** Every column by name, with the fields of events that no stage has named. */
  allColumns(): Map<string, RelationColumn> {
    const { parts } = this;
    if (!parts.open || !parts.event) return new Map(parts.columns);
    return new Map([...this.#unnamed(), ...parts.columns]);
  }

  /** The fields of events that no stage has named, `_time` first. */
  #unnamed(matches: (name: string) => boolean = () => true): Map<string, RelationColumn> {
    const { dataset, columns, removed } = this.parts;
    const fields = [
      '_time',
      ...shownFields(dataset.fields)
        .map(([name]) => name)
        .sort((a, b) => (a < b ? -1 : 1)),
    ].filter(
      (name) => matches(name) && !columns.has(name) && !removed.some((pattern) => matchesPattern(pattern, name)),
    );
    return this.#make(fields.map((name) => ({ name, node: { kind: 'column', type: typeOf(EVENTS, name)!, name } })));
  }

  /** Columns that match first; of events the fields that there are. */
  reorder(patterns: readonly NamePattern[]): Relation {
    const all = this.allColumns();
    const first = new Set(
      patterns.flatMap((pattern) => [...all.keys()].filter((name) => matchesPattern(pattern, name))),
    );
    const names = [...first, ...[...all.keys()].filter((name) => !first.has(name))];
    return this.#with({ columns: new Map(names.map((name) => [name, all.get(name)!])), open: false });
  }

  rename(pairs: readonly Renamed[]): Relation {
    const { parts } = this;
    const computed = this.#make(
      pairs.map(({ from, to, type }) => ({ name: to, node: { kind: 'column', type, name: from } })),
    );
    const newName = new Map(pairs.map(({ from, to }) => [from, to]));
    const columns = new Map<string, RelationColumn>();
    for (const [name, before] of parts.columns) {
      const to = newName.get(name);
      if (to !== undefined) columns.set(to, computed.get(to)!);
      else if (!computed.has(name)) columns.set(name, before);
    }
    for (const [name, value] of computed) if (!columns.has(name)) columns.set(name, value);
    const left = pairs.filter(({ from }) => !computed.has(from)).map(({ from }) => ({ text: from, prefix: false }));
    return this.#with({ columns, removed: [...parts.removed, ...left] }).#shortened();
  }

  /** A row for each item: the number of the item is a column of its own, in a select around the rows. */
  expand(stage: Expand): Relation {
    if (this.parts.limit !== undefined) return this.nest().expand(stage);
    const { columns, index, limit, items } = stage;
    const plain = this.#make(columns.map(({ name, node }) => ({ name: numberedName(name, 1), node })));
    const given = new Map(
      [...plain].map(([name, column]) => [name, { ...column, value: withItems(column.value, items) }] as const),
    );
    const most = limit === undefined ? NOTHING : sql`least(${limit}, `;
    const lengths = [...given.values()].flatMap(({ value }) =>
      value.facets.json ? [sql`ifNull(toInt64(JSONLength(${arrayOf(value.facets.json)})), 0)`] : [],
    );
    const count = sql`${most}greatest(1, ${list([...lengths, sql`1`])})${limit === undefined ? NOTHING : sql`)`}`;
    const number: RelationColumn = {
      value: oneRequired('int', sql`arrayJoin(range(toInt64(0), toInt64(${count})))`),
      type: 'int',
      role: 'row',
    };
    const wide = this.#with({ columns: new Map([...this.parts.columns, ...given, [NUMBER, number]]) }).nest();
    const { columns: inside } = wide.parts;
    const at = inside.get(NUMBER)!.value.facets.int!;
    const kept = [...inside].filter(
      ([name]) => name !== NUMBER && !given.has(name) && !columns.some((column) => column.name === name),
    );
    const computed = columns.map(({ name }): [string, RelationColumn] => {
      const { value } = inside.get(numberedName(name, 1))!;
      return [name, { value: itemOrSelf(value, at), type: 'dynamic', role: 'row' }];
    });
    const numbered: [string, RelationColumn][] =
      index === undefined ? [] : [[index, { value: oneRequired('int', at), type: 'int', role: 'row' }]];
    return wide.#with({ columns: new Map([...kept, ...computed, ...numbered]), item: at }).#shortened();
  }

  #make(columns: readonly Column[]): Map<string, RelationColumn> {
    const { context, parts } = this;
    return new Map(
      columns.map(({ name, node }): [string, RelationColumn] => {
        const before = node.kind === 'column' ? parts.columns.get(node.name) : undefined;
        if (before) return [name, before];
        const bits = node.kind === 'column' && parts.open ? parts.dataset.fields.get(node.name) : undefined;
        return [
          name,
          { value: compile(node, context), type: node.type, role: 'row', ...(bits !== undefined && { bits }) },
        ];
      }),
    );
  }

  #shortened(): Relation {
    return [...this.parts.columns.values()].some(({ value }) => sizeOf(value) > LONG_SQL) ? this.nest() : this;
  }

  sort(keys: readonly SortKey[]): Relation {
    refuseWindows(
      keys.map(({ node }) => node),
      'sort',
    );
    if (this.parts.limit !== undefined) return this.nest().sort(keys);
    const { context, parts } = this;
    const [first] = keys;
    const value = first && compile(first.node, context);
    const byTime =
      value !== undefined && parts.event !== undefined && value.facets.datetime === parts.event.time
        ? first!.desc
          ? 'desc'
          : 'asc'
        : undefined;
    return this.#with({
      order: {
        keys: keys.flatMap(({ node, desc, nullsFirst }) => sortKeys(compile(node, context), desc, nullsFirst)),
        info: keys.flatMap(({ name, desc }) => (name === '' ? [] : [{ field: name, desc }])),
        byTime: keys.length === 1 ? byTime : undefined,
      },
    });
  }

  take(count: number): Relation {
    const sorted = this.ordered();
    return sorted.#with({
      limit: Math.min(count, sorted.parts.limit ?? count),
      matching: this.parts.matching ?? countSql(this.parts),
    });
  }

  /** In the default order: events the newest first, groups by their first aggregation, the largest first, a series by time. */
  ordered(): Relation {
    const { order, event, columns, limit } = this.parts;
    if (order || limit !== undefined) return this;
    if (event)
      return this.#with({
        order: { keys: [{ sql: event.time, desc: true }], info: [{ field: '_time', desc: true }], byTime: 'desc' },
      });
    return this.sort(defaultOrder(columns));
  }

  /** A select around the rows as they are. */
  nest(): Relation {
    const { parts } = this;
    const level = parts.level + 1;
    const names = new SelectNames(level);
    const columns = new Map(
      [...parts.columns].map(([name, column]) => [name, { ...column, value: names.take('c', column.value) }] as const),
    );
    const event = parts.event && mapEvent(parts.event, (part) => names.add('e', part));
    const order = parts.order && {
      ...parts.order,
      keys: parts.order.keys.map((key) => ({
        ...key,
        sql: parts.event && key.sql === parts.event.time ? event!.time : names.add('o', key.sql),
      })),
    };
    const item = parts.item && names.add('i', parts.item);
    const label = parts.label && names.add('u', parts.label);
    const matched = parts.matched && names.add('m', parts.matched);
    const limit = parts.limit === undefined ? NOTHING : sql`${orderSql(this.parts)} limit ${parts.limit}`;
    return this.#with({
      from: sql`(select ${names.columns.length === 0 ? sql`1` : list(names.columns)} from ${parts.from}${whereSql(parts.where)}${limit})`,
      where: [],
      level: checkedLevel(level),
      columns,
      event,
      order,
      item,
      label,
      limit: undefined,
      matched,
    });
  }

  /** The statement with these columns of the rows, `atMost` of them whatever their limit. */
  select(columns: readonly Sql[], atMost: number): Sql {
    const { from, where } = this.parts;
    return sql`select ${list(columns)} from ${from}${whereSql(where)}${orderSql(this.parts)} limit ${atMost}`;
  }

  /** How many rows matched, as a statement. */
  countMatching(): Sql {
    return this.parts.matching ?? countSql(this.parts);
  }
}

/**
 * Rows at one point of a query, as a select in the making: each stage gives the next. Stages are put into the same select as long as SQL
 * allows, and into one around it where the order of things would change (a where behind a limit) or an expression has grown long.
 * User's names never become names in SQL: columns are numbered.
 */
import { SERVICE_QUERY_NESTING } from '../../../core/limits.ts';
import type { Dataset } from '../../datasets/catalog.ts';
import type { Environment } from '../functions/spec.ts';
import {
  matchesPattern,
  type Aggregation,
  type AggregationInfo,
  type Column,
  type Key,
  type NamePattern,
  type Node,
  type SortKey,
} from '../plan/tree.ts';
import { AplError } from '../syntax/apl-error.ts';
import { alias, joinSql, list, NOTHING, sql, tableSql, type Sql } from './sql.ts';
import { compile, compileAggregation, compileCondition, type ExpressionContext } from './expressions.ts';
import { fieldValue, rowIdText, TABLE_EVENT, type EventSql } from './field.ts';
import { asNumber, exists, facetsOf, oneRequired, sizeOf, type Value } from './value.ts';
import type { Type } from '../types.ts';

/** A column that a stage made. */
export interface Made {
  readonly value: Value;
  readonly type: Type;
  readonly role: 'row' | 'key' | 'aggregation';
  readonly info?: AggregationInfo;
  /** A key that is a bin of `_time`. */
  readonly timeBin?: boolean;
  /** Types that the field has had, when the column is nothing but a field. */
  readonly bits?: number;
}

interface Ordering {
  /** Each with its direction. */
  readonly keys: readonly { readonly sql: Sql; readonly desc: boolean }[];
  readonly info: readonly { readonly field: string; readonly desc: boolean }[];
  /** True when the order is that of time, and of row ids within the same time: a cursor can go on in it. */
  readonly byTime: 'asc' | 'desc' | undefined;
}

interface Parts {
  readonly dataset: Dataset;
  readonly environment: Environment;
  readonly missing: (name: string) => void;
  readonly from: Sql;
  readonly where: readonly Sql[];
  readonly level: number;
  readonly columns: ReadonlyMap<string, Made>;
  /** Where rows are events: what is known of each. */
  readonly event: EventSql | undefined;
  /** Fields that no stage has named are columns, too. */
  readonly open: boolean;
  readonly removed: readonly NamePattern[];
  readonly order: Ordering | undefined;
  readonly limit: number | undefined;
  /** The rows that matched, before anything put them together or left some out. */
  readonly matching: Sql | undefined;
  /** A column that says how many those are. */
  readonly matched: Sql | undefined;
}

/** SQL of a value longer than this is computed in a select of its own instead of being repeated. */
const LONG_SQL = 1500;

export class Relation {
  readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** The events of a dataset within the conditions. */
  static events(dataset: Dataset, environment: Environment, where: readonly Sql[], missing: (name: string) => void): Relation {
    return new Relation({
      dataset, environment, missing, where, from: tableSql(dataset.table), level: 0, columns: new Map(), event: TABLE_EVENT, open: true, removed: [],
      order: undefined, limit: undefined, matching: undefined, matched: undefined,
    }); // prettier-ignore
  }

  #with(parts: Partial<Parts>): Relation {
    return new Relation({ ...this.parts, ...parts });
  }

  get context(): ExpressionContext {
    const { environment, missing } = this.parts;
    return { environment, missing, column: (name) => this.column(name), everything: () => this.#everything() };
  }

  /** What stands under the name; undefined for a field that never was. */
  column(name: string): Value | undefined {
    const made = this.parts.columns.get(name);
    if (made) return made.value;
    const { event, open, removed } = this.parts;
    if (!open || !event || removed.some((pattern) => matchesPattern(pattern, name))) return undefined;
    if (name === '_time') return oneRequired('datetime', event.time);
    if (name === '_sysTime') return oneRequired('datetime', event.sysTime);
    if (name === '_rowId' || name === '_cursor') return oneRequired('string', rowIdText(event));
    const bits = this.parts.dataset.fields.get(name);
    return bits === undefined ? undefined : fieldValue(event, name, bits, this.parts.environment.params);
  }

  #everything(): Sql {
    const { event } = this.parts;
    if (!event) return sql`''`;
    const texts = sql`arrayConcat(mapValues(${event.s}), arrayMap(e -> toString(e), mapValues(${event.i})), arrayMap(e -> toString(e), mapValues(${event.f})), mapValues(${event.j}))`;
    return sql`arrayStringConcat(${texts}, '\\x01')`;
  }

  where(condition: Node): Relation {
    if (this.parts.limit !== undefined) return this.nest().where(condition);
    return this.#with({ where: [...this.parts.where, compileCondition(condition, this.context)] });
  }

  extend(columns: readonly Column[]): Relation {
    const made = this.#make(columns);
    const kept = [...this.parts.columns].filter(([name]) => !made.has(name));
    return this.#with({ columns: new Map([...kept, ...made]) }).#shortened();
  }

  project(columns: readonly Column[]): Relation {
    return this.#with({ columns: this.#make(columns), open: false }).#shortened();
  }

  remove(names: readonly NamePattern[]): Relation {
    const columns = new Map([...this.parts.columns].filter(([name]) => !names.some((pattern) => matchesPattern(pattern, name))));
    return this.#with({ columns, removed: [...this.parts.removed, ...names] });
  }

  #make(columns: readonly Column[]): Map<string, Made> {
    const { context, parts } = this;
    return new Map(
      columns.map(({ name, node }): [string, Made] => {
        const before = node.kind === 'column' ? parts.columns.get(node.name) : undefined;
        if (before) return [name, before];
        const bits = node.kind === 'column' && parts.open ? parts.dataset.fields.get(node.name) : undefined;
        return [name, { value: compile(node, context), type: node.type, role: 'row', ...(bits !== undefined && { bits }) }];
      }),
    );
  }

  #shortened(): Relation {
    return [...this.parts.columns.values()].some(({ value }) => sizeOf(value) > LONG_SQL) ? this.nest() : this;
  }

  sort(keys: readonly SortKey[]): Relation {
    if (this.parts.limit !== undefined) return this.nest().sort(keys);
    const { context, parts } = this;
    const [first] = keys;
    const value = first && compile(first.node, context);
    const byTime = value !== undefined && parts.event !== undefined && value.facets.datetime === parts.event.time ? (first!.desc ? 'desc' : 'asc') : undefined;
    return this.#with({
      order: {
        keys: keys.flatMap(({ node, desc, nullsFirst }) => sortKeys(compile(node, context), desc, nullsFirst)),
        info: keys.flatMap(({ name, desc }) => (name === '' ? [] : [{ field: name, desc }])),
        byTime: keys.length === 1 ? byTime : undefined,
      },
    });
  } // prettier-ignore

  take(count: number): Relation {
    const sorted = this.ordered();
    return sorted.#with({ limit: Math.min(count, sorted.parts.limit ?? count), matching: this.parts.matching ?? this.#matching() });
  }

  /** With the order that rows have when none is asked for: events the newest first, groups with the largest first aggregation first, a series in the order of time. */
  ordered(): Relation {
    const { order, event, columns, limit } = this.parts;
    if (order || limit !== undefined) return this;
    if (event)
      return this.#with({ order: { keys: [{ sql: event.time, desc: true }], info: [{ field: '_time', desc: true }], byTime: 'desc' } });
    const made = [...columns];
    const bin = made.find(([, { timeBin }]) => timeBin === true);
    const largest = made.find(([, { role, type, value }]) => role === 'aggregation' && type !== 'bool' && !value.facets.json);
    const chosen = [...(bin ? [[bin[0], false] as const] : []), ...(largest ? [[largest[0], true] as const] : [])];
    const names = chosen.length > 0 ? chosen : made.flatMap(([name, { role }]) => (role === 'key' ? [[name, false] as const] : []));
    return this.sort(
      names.map(([name, desc]) => ({ node: { kind: 'column', type: columns.get(name)!.type, name }, name, desc, nullsFirst: false })),
    );
  }

  /** One row for each group. `window`: ns that a row stands for when no key is a bin of time. */
  summarize(aggregations: readonly Aggregation[], keys: readonly Key[], window: bigint): Relation {
    if (this.parts.limit !== undefined) return this.nest().summarize(aggregations, keys, window);
    const { context } = this;
    const level = this.parts.level + 1;
    const names = new Names(level);
    const columns = new Map<string, Made>();
    const grouped = keys.map(({ name, node, binOfTime }) => {
      const value = compile(node, context);
        columns.set(name, { ...this.#origin(node), value: names.take('k', value), type: node.type, role: 'key', timeBin: binOfTime !== undefined });
      return value;
    });
    const groupBy = grouped.flatMap((value) => facetsOf(value).map(([, facet]) => facet));
    const bin = keys.find(({ binOfTime }) => binOfTime !== undefined)?.binOfTime;
    const span = bin === undefined ? window : bin === 'auto' ? this.parts.environment.step : bin;
    let event: EventSql | undefined;
    for (const aggregation of aggregations) {
      if (aggregation.kind === 'row') event = this.#row(aggregation, names, columns) ?? event;
      else {
        const value = aggregation.kind === 'value' ? compileAggregation(aggregation, context, span) : this.#computed(aggregation, span);
        const { type } = aggregation.kind === 'value' ? aggregation : aggregation.node;
        columns.set(aggregation.name, { value: names.take('a', value), type, role: 'aggregation', info: aggregation.info });
      }
    }
    const { matching } = this.parts;
    const matched = matching === undefined ? sql`sum(count()) over ()` : undefined;
    const select = [...names.columns, sql`${matched ?? sql`count()`} as ${alias('m', level)}`];
    // Groups of what is null everywhere are still groups: an empty input has none.
    const by = keys.length === 0 ? NOTHING : sql` group by ${groupBy.length === 0 ? sql`'x'` : list(groupBy)}`;
    return this.#with({
      from: sql`(select ${list(select)} from ${this.parts.from}${whereSql(this.parts.where)}${by})`,
      where: [], level: checked(level), columns, event, open: event !== undefined, removed: [], order: undefined, limit: undefined,
      matching: matching ?? this.#matching(),
      matched: matched && alias('m', level),
    });
  } // prettier-ignore

  #origin(node: Node): { bits?: number } {
    if (node.kind !== 'column') return {};
    const { columns, open, dataset } = this.parts;
    const bits = columns.get(node.name)?.bits ?? (open && !columns.has(node.name) ? dataset.fields.get(node.name) : undefined);
    return bits === undefined ? {} : { bits };
  }

  /** Aggregations first, then the expression of them. */
  #computed(aggregation: Aggregation & { readonly kind: 'computed' }, window: bigint): Value {
    const parts = new Map(
      aggregation.parts.flatMap((part) =>
        part.kind === 'value' ? [[part.name, compileAggregation(part, this.context, window)] as const] : [],
      ),
    );
    return compile(aggregation.node, { ...this.context, column: (name) => parts.get(name) });
  }

  /** arg_max and arg_min: of equal rows the later. Returns the event when all of it is taken. */
  #row(aggregation: Aggregation & { readonly kind: 'row' }, names: Names, columns: Map<string, Made>): EventSql | undefined {
    const { greatest, by, take, info } = aggregation;
    const { context, parts } = this;
    const compared = compile(by.node, context);
    const engine = greatest ? sql`argMaxIf` : sql`argMinIf`;
    const { int, real } = compared.facets;
    const facet = int || real ? asNumber(compared).sql : facetsOf(compared)[0]?.[1];
    if (!facet) context.missing(by.name);
    const there = facet ? sql`isNotNull(${facet})` : sql`false`;
    // What is compared comes first, then what makes it unique, so that all columns are of the same row.
    const order = list([facet ? sql`assumeNotNull(${facet})` : sql`0`, ...(parts.event ? [parts.event.time, parts.event.rowId] : [])]);
    const from = (value: Sql): Sql => sql`${engine}(tuple(${value}), tuple(${order}), ${there}).1`;
    const add = ({ name, node }: Column, value: Value): void => {
      const facets = Object.fromEntries(facetsOf(value).map(([kind, taken]) => [kind, sql`if(countIf(${there}) = 0, null, ${from(taken)})`]));
      columns.set(name, { ...this.#origin(node), value: names.take('a', { facets }), type: node.type, role: 'aggregation', info });
    };
    add(by, compared);
    if (take !== '*') {
      for (const column of take) add(column, compile(column.node, context));
      return undefined;
    }
    if (!parts.event) return undefined;
    return Object.fromEntries(Object.entries(parts.event).map(([key, value]) => [key, names.add('e', from(value as Sql))])) as unknown as EventSql;
  } // prettier-ignore

  /** A select around the rows as they are. */
  nest(): Relation {
    const { parts } = this;
    const level = parts.level + 1;
    const names = new Names(level);
    const columns = new Map([...parts.columns].map(([name, made]) => [name, { ...made, value: names.take('c', made.value) }] as const));
    const event = parts.event && (Object.fromEntries(Object.entries(parts.event).map(([key, value]) => [key, names.add('e', value as Sql)])) as unknown as EventSql);
    const order = parts.order && {
      ...parts.order,
      keys: parts.order.keys.map((key) => ({ ...key, sql: parts.event && key.sql === parts.event.time ? event!.time : names.add('o', key.sql) })),
    };
    const matched = parts.matched && names.add('m', parts.matched);
    const limit = parts.limit === undefined ? NOTHING : sql`${this.#orderSql()} limit ${parts.limit}`;
    return this.#with({
      from: sql`(select ${names.columns.length === 0 ? sql`1` : list(names.columns)} from ${parts.from}${whereSql(parts.where)}${limit})`,
      where: [], level: checked(level), columns, event, order, limit: undefined, matched,
    });
  } // prettier-ignore

  /** ` order by …` with what makes the order total, or nothing. */
  #orderSql(): Sql {
    const { order, event, columns } = this.parts;
    const keys = [...(order?.keys ?? [])];
    if (event) {
      if (!keys.some((key) => key.sql === event.time)) keys.push({ sql: event.time, desc: true });
      keys.push({ sql: event.rowId, desc: order?.byTime !== 'asc' });
    } else {
      const groups = [...columns.values()].filter(({ role }) => role === 'key');
      for (const { value } of groups) for (const [, facet] of facetsOf(value)) if (!keys.some((key) => key.sql === facet)) keys.push({ sql: facet, desc: false });
    }
    return keys.length === 0 ? NOTHING : sql` order by ${list(keys.map((key) => (key.desc ? sql`${key.sql} desc` : key.sql)))}`;
  } // prettier-ignore

  /** The statement with these columns of the rows, `atMost` of them whatever their limit. */
  select(columns: readonly Sql[], atMost: number): Sql {
    const { from, where } = this.parts;
    return sql`select ${list(columns)} from ${from}${whereSql(where)}${this.#orderSql()} limit ${atMost}`;
  }

  /** How many rows matched, as a statement. */
  countMatching(): Sql {
    return this.parts.matching ?? this.#matching();
  }

  #matching(): Sql {
    return sql`select count() from ${this.parts.from}${whereSql(this.parts.where)}`;
  }
}

export const whereSql = (where: readonly Sql[]): Sql =>
  where.length === 0 ? NOTHING : sql` where ${where.length === 1 ? where[0]! : joinSql(where, sql` and `)}`;

function checked(level: number): number {
  if (level > SERVICE_QUERY_NESTING)
    throw new AplError('meaning', 0, `the query needs more than ${SERVICE_QUERY_NESTING} steps inside each other; make it shorter`);
  return level;
}

/** Numbers sort before texts, those before the rest; what is missing comes last, unless told otherwise. */
function sortKeys(value: Value, desc: boolean, nullsFirst: boolean): { sql: Sql; desc: boolean }[] {
  const { int, real, ...others } = value.facets;
  const number = int && real ? [sql`coalesce(${real}, toFloat64(${int}))`, int] : [int ?? real ?? []].flat();
  const rest = Object.values(others);
  const keys = [...number, ...rest].map((key) => ({ sql: key, desc }));
  return nullsFirst ? [{ sql: exists(value), desc: false }, ...keys] : keys;
}

/** Gives out the columns of one select. */
class Names {
  readonly columns: Sql[] = [];
  readonly #level: number;
  readonly #given = new Map<Sql, Sql>();

  constructor(level: number) {
    this.#level = level;
  }

  add(letter: string, value: Sql): Sql {
    const given = this.#given.get(value);
    if (given) return given;
    const name = alias(letter + String.fromCharCode(96 + this.#level), this.#given.size);
    this.#given.set(value, name);
    this.columns.push(sql`${value} as ${name}`);
    return name;
  }

  /** The value's facets as columns, and the value made of those. */
  take(letter: string, value: Value): Value {
    const facets = Object.fromEntries(facetsOf(value).map(([kind, facet]) => [kind, this.add(letter, facet)]));
    return { facets, ...(value.required && { required: true }), ...(value.constant && { constant: value.constant }) };
  }
}

/** Rows of two tables side by side, as one select around both. */
import { freeName } from '../../../../language/plan/scope.ts';
import type { JoinKey, JoinKind, Node } from '../../../../language/plan/tree.ts';
import { compile } from '../expressions.ts';
import { flat } from './flat.ts';
import { keyText } from '../key-text.ts';
import { SelectNames } from './select-names.ts';
import { checkedLevel, countSql, orderOf, whereSql, type RelationColumn } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { joinSql, list, NOTHING, sql, type Sql } from '../../values/sql.ts';
import { facetsOf, type SqlValue } from '../../values/value.ts';

const WORDS: Readonly<Record<JoinKind, Sql>> = {
  inner: sql`inner join`,
  innerunique: sql`inner join`,
  leftouter: sql`left join`,
  rightouter: sql`right join`,
  fullouter: sql`full join`,
  leftsemi: sql`left semi join`,
  leftanti: sql`left anti join`,
  rightsemi: sql`right semi join`,
  rightanti: sql`right anti join`,
};

/** One side: its select, its columns by name, its keys, and the item that tells its rows apart. */
interface Side {
  readonly select: Sql;
  readonly columns: ReadonlyMap<string, RelationColumn>;
  readonly keys: readonly Sql[];
  readonly item: Sql | undefined;
  /** The name of the dataset that each row is of, where there are several. */
  readonly label: Sql | undefined;
}

/** A key of one type joins as it is; a key whose type differs from row to row joins as text. */
function keySql(own: SqlValue, other: SqlValue, side: 'left' | 'right'): Sql {
  const [facet, ...more] = facetsOf(own);
  const [theirs, ...others] = facetsOf(other);
  // Null equals nothing. The engine cannot join by a constant, so each row gets a key of its own.
  if (!facet || !theirs) return sql`concat(${side === 'left' ? sql`'l'` : sql`'r'`}, toString(rowNumberInAllBlocks()))`;
  const isPlain = more.length === 0 && others.length === 0 && facet[0] === theirs[0];
  return isPlain ? sql`toNullable(${facet[1]})` : keyText(own);
}

/** Keeps the engine from merging this join with one inside it: a constant key would then belong to no side. */
const BARRIER = sql` limit 9223372036854775807`;

function sideOf(relation: Relation, keys: readonly Sql[], level: number, unique: boolean): Side {
  const { parts } = relation;
  const names = new SelectNames(checkedLevel(level));
  // The engine needs columns as keys, also where a key is the same for every row.
  const keyNames = keys.map((key) => names.add('k', sql`materialize(${key})`));
  const columns = new Map(
    [...parts.columns].map(([name, column]): [string, RelationColumn] => {
      const facets = Object.fromEntries(
        facetsOf(column.value).map(([kind, facet]) => [kind, names.add('c', sql`toNullable(${facet})`)]),
      );
      return [
        name,
        { value: { facets }, type: column.type, role: 'row', ...(column.bits !== undefined && { bits: column.bits }) },
      ];
    }),
  );
  const item = parts.item && names.add('i', parts.item);
  const label = parts.label && names.add('u', parts.label);
  const end = unique
    ? sql`${item ? sql` order by ${item}` : NOTHING} limit 1 by ${list(keyNames)}`
    : parts.level > 0
      ? BARRIER
      : NOTHING;
  return {
    select: sql`(select ${list(names.columns)} from ${parts.from}${whereSql(parts.where)}${end})`,
    columns,
    keys: keyNames,
    item,
    label,
  };
}

const valuesOf = (nodes: readonly Node[], { context }: Relation): SqlValue[] =>
  nodes.map((node) => compile(node, context));

export interface JoinOptions {
  readonly how: JoinKind;
  readonly keys: readonly JoinKey[];
  readonly dropped: readonly string[];
}

/** `right` must begin at a deeper level than `left`. */
export function join(left: Relation, right: Relation, { how, keys, dropped }: JoinOptions): Relation {
  const [a, b] = [flat(left), flat(right)];
  const [values, others] = [
    valuesOf(
      keys.map((key) => key.left),
      a,
    ),
    valuesOf(
      keys.map((key) => key.right),
      b,
    ),
  ];
  const level = Math.max(a.parts.level, b.parts.level) + 1;
  const here = sideOf(
    a,
    values.map((value, n) => keySql(value, others[n]!, 'left')),
    level,
    false,
  );
  const there = sideOf(
    b,
    others.map((value, n) => keySql(value, values[n]!, 'right')),
    level + 1,
    how === 'innerunique',
  );
  const on = joinSql(
    here.keys.map((key, n) => sql`${key} = ${there.keys[n]!}`),
    sql` and `,
  );
  const columns = sidesOf(how, here, there, dropped);
  const items = [
    how.startsWith('right') && how !== 'rightouter' ? undefined : here.item,
    how.startsWith('left') && how !== 'leftouter' ? undefined : there.item,
  ].flatMap((item) => item ?? []);
  return new Relation({
    ...a.parts,
    from: sql`(select * from ${here.select} as l ${WORDS[how]} ${there.select} as r on ${on})`,
    where: [],
    level: checkedLevel(level + 2),
    columns,
    order: orderOf(columns),
    limit: undefined,
    item: items.length === 2 ? sql`tuple(${list(items)})` : items[0],
    label: how === 'rightsemi' || how === 'rightanti' ? there.label : here.label,
    matching: a.parts.matching ?? countSql(a.parts),
    matched: undefined,
  });
}

function sidesOf(
  how: JoinKind,
  left: Side,
  right: Side,
  dropped: readonly string[],
): ReadonlyMap<string, RelationColumn> {
  if (how === 'leftsemi' || how === 'leftanti') return left.columns;
  if (how === 'rightsemi' || how === 'rightanti') return right.columns;
  const columns = new Map(left.columns);
  for (const [name, column] of right.columns) if (!dropped.includes(name)) columns.set(freeName(name, columns), column);
  return columns;
}

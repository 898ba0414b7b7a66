/** Queries inside of expressions: `toscalar(…)` and `in (…)`. */
import type { Node } from '../../../language/plan/tree.ts';
import { keyText } from './key-text.ts';
import { whereSql, type InnerRows } from './relation-parts.ts';
import { sql, type Sql } from '../values/sql.ts';
import { facetsOf, NULL_VALUE, oneRequired, type Value } from '../values/value.ts';

const firstColumn = ({ parts }: InnerRows): Value => [...parts.columns.values()][0]?.value ?? NULL_VALUE;

/** The first column of the first row; null where there is none. */
export function scalar(relation: InnerRows): Value {
  const rows = relation.ordered();
  const facets = facetsOf(firstColumn(rows)).map(([kind, facet]) => [kind, sql`(${rows.select([sql`toNullable(${facet})`], Math.min(1, rows.parts.limit ?? 1))})`] as const);
  return { facets: Object.fromEntries(facets) };
} // prettier-ignore

const lower = (text: Sql, caseless: boolean): Sql => (caseless ? sql`lowerUTF8(${text})` : text);

/** Whether the value is in the first column. Null is in no list. */
export function among(value: Value, relation: InnerRows, { negated, caseless }: Node & { readonly kind: 'among' }): Value {
  const rows = relation.parts.limit === undefined ? relation : relation.nest();
  const { from, where } = rows.parts;
  const key = lower(keyText(firstColumn(rows)), caseless);
  const found = sql`ifNull(${lower(keyText(value), caseless)} global in (select ${key} from ${from}${whereSql(where)}), false)`;
  return oneRequired('bool', negated ? sql`not ${found}` : found);
}

/** Functions that look at other rows. */
import type { WINDOWS } from './spec.ts';
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import {
  asNumber,
  choose,
  facetsOf,
  NULL_VALUE,
  one,
  oneRequired,
  type SqlValue,
} from '../../../service/query/values/value.ts';
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const ALL_ROWS = sql` rows between unbounded preceding and unbounded following`;

/** The rows of the part that the second argument numbers, in their order. */
const partOf = (call: SqlCall): Sql =>
  call.count > 1 ? sql`partition by ${call.int(1)}${call.order()}` : call.order();

const numberOf = (call: SqlCall): Sql => sql`toInt64(row_number() over (${partOf(call)}))`;

/** The first argument, that many rows away. */
function shifted(call: SqlCall, direction: 'lagInFrame' | 'leadInFrame'): SqlValue {
  const away = call.count > 1 ? (call.constant(1).value as bigint) : 1n;
  if (away < 0n) throw call.fail(1, 'wanted how many rows away, 0 or more');
  const engine = direction === 'lagInFrame' ? sql`lagInFrame` : sql`leadInFrame`;
  const value = call.value(0);
  const facets = facetsOf(value).map(([kind, facet]) => [
    kind,
    sql`${engine}(toNullable(${facet}), ${Number(away)}) over (${call.order()}${ALL_ROWS})`,
  ]);
  const found: SqlValue = { facets: Object.fromEntries(facets) as SqlValue['facets'] };
  if (call.count < 3) return found;
  const exists = sql`${engine}(1, ${Number(away)}) over (${call.order()}${ALL_ROWS}) = 1`;
  return choose(exists, found, call.value(2));
}

function cumulated(call: SqlCall): SqlValue {
  const value = call.value(0);
  const { timespan } = value.facets;
  const over = sql` over (${partOf(call)} rows between unbounded preceding and current row)`;
  if (timespan) return one('timespan', sql`sum(${timespan})${over}`);
  if (!value.facets.int && !value.facets.real) return NULL_VALUE;
  const { kind, sql: number } = asNumber(value);
  return kind === 'int'
    ? oneRequired('int', sql`ifNull(toInt64(sum(${number})${over}), 0)`)
    : oneRequired('real', sql`ifNull(sum(${number})${over}, 0)`);
}

export const WINDOWS_SQL: SqlBuilders<typeof WINDOWS> = {
  row_number: (call) =>
    oneRequired('int', sql`${numberOf(call)} + ${call.count > 0 ? Number(call.constant(0).value) - 1 : 0}`),
  prev: (call) => shifted(call, 'lagInFrame'),
  next: (call) => shifted(call, 'leadInFrame'),
  row_cumsum: cumulated,
};

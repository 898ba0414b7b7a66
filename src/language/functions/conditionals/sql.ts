/** Null checks and conditionals. */
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';
import type { ValueKind } from '../../../service/query/values/kind.ts';
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import {
  choose,
  chooseAmong,
  exists,
  isNull,
  one,
  oneRequired,
  type SqlValue,
} from '../../../service/query/values/value.ts';
import type { CONDITIONALS } from './spec.ts';

/** A text that is empty counts as missing. */
const given = (value: SqlValue): Sql =>
  value.facets.string ? sql`(${exists(value)} and ifNull(${value.facets.string} != '', true))` : exists(value);

function coalesce(call: SqlCall): SqlValue {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n));
  return chooseAmong(
    values.map((value) => [given(value), value]),
    { facets: {} },
  );
}

function cases(call: SqlCall): SqlValue {
  if (call.count % 2 === 0)
    throw call.fail(call.count - 1, 'wanted pairs of condition and result, then the result of no match');
  const branches = Array.from(
    { length: (call.count - 1) / 2 },
    (_, n) => [call.condition(2 * n), call.value(2 * n + 1)] as const,
  );
  return chooseAmong(branches, call.value(call.count - 1));
}

const test =
  (build: (value: SqlValue) => Sql): SqlBuild =>
  (call) =>
    oneRequired('bool', build(call.value(0)));
const holds =
  (kind: ValueKind) =>
  (value: SqlValue): Sql =>
    value.facets[kind] ? sql`isNotNull(${value.facets[kind]})` : sql`false`;

export const CONDITIONALS_SQL: SqlBuilders<typeof CONDITIONALS> = {
  iff: (call) => choose(call.condition(0), call.value(1), call.value(2)),
  case: cases,
  coalesce,
  // The column's node holds the result where the field never existed.
  column_ifexists: (call) => call.value(0),
  ensure_field: (call) => call.value(0),
  isnull: test(isNull),
  isnotnull: test(exists),
  isempty: test((value) => sql`not ${given(value)}`),
  isnotempty: test(given),
  isbool: test(holds('bool')),
  isstring: test(holds('string')),
  isreal: test(holds('real')),
  not: (call) => {
    const { required, facets } = call.value(0);
    return required && facets.bool
      ? oneRequired('bool', sql`not ${facets.bool}`)
      : one('bool', sql`not ${call.bool(0)}`);
  },
};

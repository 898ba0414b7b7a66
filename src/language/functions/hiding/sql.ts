/** Functions that hide: a query has hash alone. It refuses by name those that would hide stored values and those of the agent. */
import type { HIDING } from './spec.ts';
import { sql } from '../../../service/query/values/sql.ts';
import { one, type SqlValue } from '../../../service/query/values/value.ts';
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

function hash(call: SqlCall): SqlValue {
  if (call.types[1] === 'string')
    throw call.fail(1, 'hash with a key works in transforms only; in a query write hash(value) or hash_sha256');
  const text = call.string(0);
  const bits = sql`xxHash64(assumeNotNull(${text}))`;
  const number =
    call.count < 2
      ? sql`reinterpretAsInt64(${bits})`
      : sql`toInt64(${bits} % toUInt64(${call.params.int(call.constant(1).value as bigint)}))`;
  return one('int', sql`if(isNull(${text}), null, ${number})`);
}

export const HIDING_SQL: SqlBuilders<Pick<typeof HIDING, 'hash'>> = { hash };

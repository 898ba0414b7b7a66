/** Rounding to bins. */
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import { one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import type { ROUNDING } from './spec.ts';

/** Start of the bin of a datetime, with bins counted from 1970. */
export const binTime = (time: Sql, size: Sql): Sql =>
  sql`fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${time}) - positiveModulo(toUnixTimestamp64Nano(${time}), ${size}), 'UTC')`;

function bin(call: SqlCall): SqlValue {
  const { value: size, type } = call.constant(1);
  if (size === null || !(Number(size) > 0)) throw call.fail(1, 'the size of a bin has to be more than zero');
  const value = call.value(0);
  const keep = value.required ? oneRequired : one;
  if (value.facets.datetime) return keep('datetime', binTime(value.facets.datetime, call.span(1)));
  if (type === 'timespan')
    return keep('timespan', sql`(${call.span(0)} - positiveModulo(${call.span(0)}, ${call.span(1)}))`);
  const number = call.number(0);
  if (number.kind === 'int' && type === 'int')
    return keep('int', sql`(${number.sql} - positiveModulo(${number.sql}, ${call.int(1)}))`);
  return keep('real', sql`(floor(${number.sql} / ${call.real(1)}) * ${call.real(1)})`);
}

function binAuto(call: SqlCall): SqlValue {
  const value = call.value(0);
  return (value.required ? oneRequired : one)('datetime', binTime(call.time(0), call.params.int(call.step)));
}

export const ROUNDING_SQL: SqlBuilders<typeof ROUNDING> = {
  bin,
  bin_auto: binAuto,
};

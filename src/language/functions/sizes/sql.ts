/** Sizes in bytes. */
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';
import { joinSql, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { one, type SqlValue } from '../../../service/query/values/value.ts';
import { numberOf } from '../../plan/literals.ts';
import { once } from '../arrays/sql.ts';
import { MOST_SIZE, namedUnits, SIZE_PATTERN, stepOf, UNITS, unitOf, type SIZES } from './spec.ts';

function format(call: SqlCall): SqlValue {
  const digits = numberOf(call, 1, 'a number of digits', 0, 15, 0);
  const step = stepOf(call, 3);
  const fixed = unitOf(call, 2, step);
  const written = once('sz', [call.real(0)], ([value]) => {
    const inUnit = (name: string, of: number, power: number): Sql => {
      const size = sql`${value!} / pow(${of}, ${power})`;
      const text = sql`toDecimalString(${size}, ${digits})`;
      const short = digits === 0 ? text : sql`replaceRegexpOne(${text}, '\\\\.?0+$', '')`;
      return sql`if(abs(${size}) < ${MOST_SIZE}, concat(${short}, ${call.params.string(` ${name}`)}), null)`;
    };
    if (fixed) return inUnit(fixed.name, fixed.step, fixed.power);
    const larger = UNITS.map((name, power) => ({ name, power }))
      .slice(1)
      .toReversed();
    const branches = larger.map(
      ({ name, power }) => sql`abs(${value!}) >= pow(${step}, ${power}), ${inUnit(name, step, power)}`,
    );
    return sql`multiIf(${joinSql(branches, sql`, `)}, ${inUnit(UNITS[0], step, 0)})`;
  });
  return one('string', written);
}

function parse(call: SqlCall): SqlValue {
  const units = [...namedUnits(stepOf(call, 1))];
  const names = list(units.map(([name]) => call.params.string(name)));
  const sizes = list(units.map(([, [step, power]]) => sql`toFloat64(pow(${step}, ${power}))`));
  const read = once(
    'sz',
    [sql`extractGroups(ifNull(${call.string(0)}, ''), ${call.params.string(SIZE_PATTERN)})`],
    ([parts]) => {
      const bytes = sql`toFloat64OrNull(${parts!}[1]) * transform(lower(${parts!}[2]), [${names}], [${sizes}], 0.)`;
      return sql`ifNull(accurateCastOrNull(trunc(${bytes}), 'Int64'), 0)`;
    },
  );
  return one('int', sql`if(isNull(${call.string(0)}), null, ${read})`);
}

export const SIZES_SQL: SqlBuilders<typeof SIZES> = { format_bytes: format, parse_bytes: parse };

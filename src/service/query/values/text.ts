/** SQL that writes values as text: times as RFC 3339 with as many digits as needed, timespans as Go durations, values as JSON. */
import { sql, type Sql } from './sql.ts';
import type { ValueKind } from './kind.ts';

/** Computes a value once for an expression that uses it several times: the engine has no other way to name one in mid-expression. */
function once(value: Sql, use: (name: Sql) => Sql): Sql {
  const name = sql`v`;
  return sql`arrayMap(${name} -> ${use(name)}, [${value}])[1]`;
}

/** `2026-01-02T03:04:05.006Z` of a DateTime64(9). */
export function timeText(time: Sql): Sql {
  return once(time, (v) => {
    const nanos = sql`leftPad(toString(positiveModulo(toUnixTimestamp64Nano(${v}), 1000000000)), 9, '0')`;
    return sql`concat(formatDateTime(${v}, '%Y-%m-%dT%H:%i:%S'), trimRight(trimRight(concat('.', ${nanos}), '0'), '.'), 'Z')`;
  });
}

/** `1h0m1.5s`, `250ms`, `3µs` of an Int64 of ns, as Go writes a duration. */
export function durationText(span: Sql): Sql {
  return once(span, (v) => {
    const size = sql`abs(toInt128(${v}))`;
    /** A count of units with its fraction, without the part above `modulo`. */
    const decimal = (unit: number, digits: number, modulo: Sql, name: Sql): Sql => {
      const fraction = sql`concat('.', leftPad(toString(${size} % ${unit}), ${digits}, '0'))`;
      return sql`concat(toString(intDiv(${modulo}, ${unit})), trimRight(trimRight(${fraction}, '0'), '.'), ${name})`;
    };
    const seconds = decimal(1e9, 9, sql`${size} % 60000000000`, sql`'s'`);
    const minutes = sql`concat(toString(intDiv(${size} % 3600000000000, 60000000000)), 'm', ${seconds})`;
    return sql`if(isNull(${v}), null, concat(if(${v} < 0, '-', ''), multiIf(${size} = 0, '0s', ${size} < 1000, concat(toString(${size}), 'ns'),
${size} < 1000000, ${decimal(1e3, 3, size, sql`'µs'`)}, ${size} < 1000000000, ${decimal(1e6, 6, size, sql`'ms'`)}, ${size} < 60000000000, ${seconds},
${size} < 3600000000000, ${minutes}, concat(toString(intDiv(${size}, 3600000000000)), 'h', ${minutes}))))`;
  });
}

/** JSON text of a string; the engine would write `\/` for a slash. */
export const jsonString = (text: Sql): Sql => sql`replaceAll(toJSONString(${text}), '\\\\/', '/')`;

const JSON_TEXTS: Readonly<Record<ValueKind, (facet: Sql) => Sql>> = {
  string: (facet) => sql`if(isNull(${facet}), null, ${jsonString(facet)})`,
  int: (facet) => sql`toString(${facet})`,
  real: (facet) => sql`if(isFinite(${facet}), toString(${facet}), null)`,
  bool: (facet) => sql`if(isNull(${facet}), null, if(${facet}, 'true', 'false'))`,
  datetime: (facet) => sql`concat('"', ${timeText(facet)}, '"')`,
  timespan: (facet) => sql`concat('"', ${durationText(facet)}, '"')`,
  json: (facet) => facet,
};

/** JSON text of one facet; null stays null. */
export const jsonOf = (kind: ValueKind, facet: Sql): Sql => JSON_TEXTS[kind](facet);

/**
 * SQL for reading a field out of a table's maps. A name may sit in several maps (its type differed between events), and where it
 * is in none the value is null. Names and values are bound, never written into the statement.
 */
import { HUGE_BIT, TYPE_BITS, type Dataset } from '../datasets/catalog.ts';
import type { Param } from '../engine/engine.ts';

/** Collects bound values; `bind` returns the placeholder. */
export class Params {
  readonly values: Record<string, Param> = {};
  #next = 0;
  readonly #known = new Map<string, string>();

  bind(type: 'String' | 'Int64' | 'UInt64' | 'Float64', value: string | number | bigint): string {
    const id = `${type} ${String(value)}`;
    const known = this.#known.get(id);
    if (known) return known;
    const name = `p${this.#next++}`;
    this.values[name] = typeof value === 'number' ? String(value) : value;
    const placeholder = `{${name}:${type}}`;
    this.#known.set(id, placeholder);
    return placeholder;
  }
}

export interface FieldSql {
  /** Types the field has had. */
  readonly bits: number;
  /** True when every number of it is an integer: `number` is then an Int64. */
  readonly onlyIntegers: boolean;
  /** Nullable(Int64) or Nullable(Float64). */
  readonly number: string;
  /** Nullable(String). */
  readonly string: string;
  /** Nullable(Bool). */
  readonly boolean: string;
  /** Its value as JSON text, Nullable(String). */
  readonly json: string;
  /** True when the event has the field with a value other than null. */
  readonly exists: string;
}

export function fieldSql(dataset: Dataset, name: string, params: Params): FieldSql {
  const bits = dataset.fields.get(name) ?? 0;
  const key = params.bind('String', name);
  const has = (map: string): string => `mapContains(${map}, ${key})`;
  const first = (cases: readonly [number, string, string][], none: string): string => {
    const used = cases.filter(([bit]) => bits & bit);
    return used.length === 0 ? none : `multiIf(${used.map(([, map, value]) => `${has(map)}, ${value}`).join(', ')}, null)`;
  };
  const { integer, float, string, boolean, array, object } = TYPE_BITS;
  const onlyIntegers = (bits & (integer | float)) === integer;
  return {
    bits,
    onlyIntegers,
    number: first(
      [
        [integer, 'i', onlyIntegers ? `i[${key}]` : `toFloat64(i[${key}])`],
        [float, 'f', `f[${key}]`],
        [HUGE_BIT, 'j', `toFloat64OrNull(j[${key}])`],
      ],
      "cast(null, 'Nullable(Float64)')",
    ),
    string: first([[string, 's', `s[${key}]`]], "cast(null, 'Nullable(String)')"),
    boolean: first([[boolean, 'b', `b[${key}]`]], "cast(null, 'Nullable(Bool)')"),
    json: first(
      [
        [string, 's', `toJSONString(s[${key}])`],
        [integer, 'i', `toString(i[${key}])`],
        [float, 'f', `toString(f[${key}])`],
        [boolean, 'b', `if(b[${key}], 'true', 'false')`],
        [array | object | HUGE_BIT, 'j', `nullIf(j[${key}], 'null')`],
      ],
      "cast(null, 'Nullable(String)')",
    ),
    exists: `(${['s', 'i', 'f', 'b'].map(has).join(' or ')} or (${has('j')} and j[${key}] <> 'null'))`,
  };
}

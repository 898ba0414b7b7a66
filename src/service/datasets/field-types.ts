/** The types that a field's values have had, as bits, and the names under which the keys of a map field are stored. */

/** Bits of the types that a field's values have had; 0 when only null. `map`: it is a map field, or was one. */
export const TYPE_BITS = { integer: 1, float: 2, string: 4, boolean: 8, array: 16, object: 32, map: 1024 } as const;
/** Beside them: a number was too large for 64 bits and is kept as text, among the JSON values. Counts as a float. */
export const HUGE_BIT = 64;
/** Beside them: one of its values was an empty string, or the integer 0. They are kept among the JSON values, as `engine/tables` says. */
export const EMPTY_BIT = 128;
export const ZERO_BIT = 256;
/** Beside them: it may have empty strings, 0 and false among the plain values, as fields of an earlier form of the data did. */
export const OLD_BIT = 512;

/** The names of the types in the bits, `integer|string`; empty when only nulls were seen. */
export function typeName(bits: number): string {
  return Object.entries(TYPE_BITS)
    .filter(([, bit]) => bits & bit)
    .map(([name]) => name)
    .join('|');
}

/** Separates the name of a map field from a key of it, in the names of stored fields. It is a noncharacter, so users' names lack it. */
export const MAP_KEY = '\u{FDD2}';

/** The map field whose key a stored field is; undefined for any other field. */
export function mapOf(name: string): string | undefined {
  const end = name.indexOf(MAP_KEY);
  return end < 0 ? undefined : name.slice(0, end);
}

/** The name under which an event's field is stored, of which `name` is the flattened one. Of nested map fields the outermost wins. */
export function storedName(maps: readonly string[], name: string): string {
  if (maps.length === 0 || mapOf(name) !== undefined) return name;
  let map: string | undefined;
  for (const one of maps) if (name.startsWith(`${one}.`) && (map === undefined || one.length < map.length)) map = one;
  return map === undefined ? name : `${map}${MAP_KEY}${name.slice(map.length + 1)}`;
}

/** Fields as clients see them: a map field is one. */
export const shownFields = (fields: ReadonlyMap<string, number>): [name: string, bits: number][] =>
  [...fields].filter(([name]) => mapOf(name) === undefined);

/** The stored fields that a name may mean: the field itself, and keys of map fields that are written with dots. */
export function storedNames(fields: ReadonlyMap<string, number>, name: string): string[] {
  const names = fields.has(name) ? [name] : [];
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const map = name.slice(0, dot);
    if ((fields.get(map) ?? 0) & TYPE_BITS.map) {
      const key = `${map}${MAP_KEY}${name.slice(dot + 1)}`;
      if (fields.has(key)) names.push(key);
    }
  }
  return names;
}

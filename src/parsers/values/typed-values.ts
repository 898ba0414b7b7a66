/** Types of named values: text to numbers, booleans, times, JSON. What does not convert stays as it is. */
import type { JsonValue } from '../../core/block.ts';
import { isRawNumber, parseExactly, rawNumber } from '../../json/numbers.ts';
import type { EventFields } from './fields.ts';
import { locateField } from './field-location.ts';
import { unescapeBytes } from './quoted.ts';

export type ValueType = 'int' | 'float' | 'bool' | 'datetime' | 'json' | 'text' | 'escaped';

/** RFC 3339 of a time, undefined if it is invalid. */
export type ParseTime = (text: string, readAtMs: number) => string | undefined;

const INTEGER = /^([+-]?)0*(\d{1,19})$/;
const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const MAX_INT64 = 2n ** 63n;
const BOOLS: ReadonlyMap<string, boolean> = new Map(
  Object.entries({
    true: true,
    yes: true,
    on: true,
    t: true,
    y: true,
    1: true,
    false: false,
    no: false,
    off: false,
    f: false,
    n: false,
    0: false,
  }),
);

/**
 * Converts the event's values in place; returns how many could not be. A name with dots is a key, else leads into objects. `changed` gets
 * the keys that lead to each value that is another now, or gone.
 */
export function convertTypes(
  event: EventFields,
  types: readonly (readonly [name: string, type: ValueType])[],
  readTime: ParseTime,
  readAtMs: number,
  changed?: (readonly string[])[],
): number {
  let failures = 0;
  for (const [name, type] of types) {
    const place = locateField(event, name);
    if (!place) continue;
    const { holder, key, keys } = place;
    const value = holder[key]!;
    const text = typeof value === 'string' ? value.trim() : value;
    const isAbsent = type !== 'json' && (text === '' || text === '-');
    const converted = isAbsent ? undefined : convert(text, type, readTime, readAtMs);
    if (isAbsent) delete holder[key];
    else if (converted === undefined) failures += 1;
    else holder[key] = converted;
    if (isAbsent || (converted !== undefined && converted !== value)) changed?.push(keys);
  }
  return failures;
}

function convert(value: JsonValue, type: ValueType, readTime: ParseTime, readAtMs: number): JsonValue | undefined {
  if (type === 'text' || value === null) return value;
  const number = typeof value === 'number' ? String(value) : isRawNumber(value) ? value.rawJSON : undefined;
  if (number !== undefined) return convertNumber(value, number, type, readTime, readAtMs);
  if (typeof value !== 'string')
    return type === 'json' || (type === 'bool' && typeof value === 'boolean') ? value : undefined;
  switch (type) {
    case 'int':
      return readInteger(value);
    case 'float':
      return FLOAT.test(value) && Number.isFinite(Number(value)) ? Number(value) : undefined;
    case 'bool':
      return BOOLS.get(value.toLowerCase());
    case 'datetime':
      return readTime(value, readAtMs);
    case 'json':
      return parseExactly(value);
    case 'escaped':
      return unescapeBytes(value);
  }
}

function convertNumber(
  value: JsonValue,
  text: string,
  type: ValueType,
  readTime: ParseTime,
  readAtMs: number,
): JsonValue | undefined {
  if (type === 'datetime') return readTime(text, readAtMs);
  if (type === 'int') return Number.isInteger(Number(text)) ? value : undefined;
  return type === 'bool' ? undefined : value;
}

function readInteger(text: string): JsonValue | undefined {
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(`${sign}${digits}`);
  if (Number.isSafeInteger(number)) return number;
  return BigInt(digits) < MAX_INT64 ? rawNumber(`${sign === '-' ? '-' : ''}${digits}`) : undefined;
}

/** Types of named values: text to numbers, booleans, times, JSON. What does not convert stays as it is. */
import type { JsonValue } from '../../core/block.ts';
import { exactNumber, parseExactly } from './exact-json.ts';
import type { EventFields } from '../formats/line-parser.ts';

export type ValueType = 'int' | 'float' | 'bool' | 'datetime' | 'json' | 'text';

/** RFC 3339 of a time, undefined where it is none. */
export type ReadTime = (text: string, readAtMs: number) => string | undefined;

const INTEGER = /^([+-]?)0*(\d{1,19})$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const MAX_INT64 = 2n ** 63n;
const BOOLS: Readonly<Record<string, boolean>> = { true: true, yes: true, on: true, t: true, y: true, 1: true, false: false, no: false, off: false, f: false, n: false, 0: false }; // prettier-ignore

/** Converts the event's values in place; returns how many could not be. */
export function convertTypes(
  event: EventFields,
  types: readonly (readonly [name: string, type: ValueType])[],
  readTime: ReadTime,
  readAtMs: number,
): number {
  let failures = 0;
  for (const [name, type] of types) {
    if (!Object.hasOwn(event, name)) continue;
    const value = event[name]!;
    const text = typeof value === 'string' ? value.trim() : value;
    if (type !== 'json' && (text === '' || text === '-')) {
      delete event[name];
      continue;
    }
    const converted = convert(text, type, readTime, readAtMs);
    if (converted === undefined) failures += 1;
    else event[name] = converted;
  }
  return failures;
}

function convert(value: JsonValue, type: ValueType, readTime: ReadTime, readAtMs: number): JsonValue | undefined {
  if (type === 'text') return value;
  if (typeof value !== 'string') return isOfType(value, type) ? value : undefined;
  switch (type) {
    case 'int':
      return readInteger(value);
    case 'float':
      return FLOAT.test(value) && Number.isFinite(Number(value)) ? Number(value) : undefined;
    case 'bool':
      return BOOLS[value.toLowerCase()];
    case 'datetime':
      return readTime(value, readAtMs);
    case 'json':
      return parseExactly(value);
  }
}

function isOfType(value: JsonValue, type: ValueType): boolean {
  if (type === 'int') return Number.isInteger(value);
  if (type === 'float') return typeof value === 'number';
  return type === 'json' || (type === 'bool' && typeof value === 'boolean');
}

function readInteger(text: string): JsonValue | undefined {
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(`${sign}${digits}`);
  if (Number.isSafeInteger(number)) return number;
  return BigInt(digits) < MAX_INT64 ? exactNumber(`${sign === '-' ? '-' : ''}${digits}`) : undefined;
}

/** A value as what a function wants of it; null where it is not that. */
import { writeJson } from '../../../json/numbers.ts';
import { canonical, DateTime, isObject, TimeSpan, wholeOf, type RowValue } from './value.ts';

/** The shortest text of a float, as the engine of the service writes it. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Object.is(value, -0) ? '-0' : String(value).replace('e+', 'e');
}

export function asString(value: RowValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return floatText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return value instanceof DateTime || value instanceof TimeSpan ? value.toJSON() : writeJson(value);
}

/** A value of the event as text: an integer keeps its digits, also beyond 64 bits, where values are floats. */
export const heldText = (value: RowValue | undefined): string | null =>
  typeof value === 'bigint' ? String(value) : asString(canonical(value));

/** The value as JSON text; null for what JSON does not have. */
export function asJson(value: RowValue): string | null {
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return null;
  if (typeof value === 'number') return floatText(value);
  return writeJson(value);
}

export const asNumber = (value: RowValue): bigint | number | null =>
  typeof value === 'bigint' || typeof value === 'number' ? value : null;

export function asReal(value: RowValue): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : null;
}

/** A float counts when it is whole and fits. */
export function asInt(value: RowValue): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? wholeOf(value) : null;
}

export const asBool = (value: RowValue): boolean | null => (typeof value === 'boolean' ? value : null);
export const asTime = (value: RowValue): bigint | null => (value instanceof DateTime ? value.ns : null);

/** ns; plain numbers count as ns. */
export function asSpan(value: RowValue): bigint | null {
  if (value instanceof TimeSpan) return value.ns;
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' ? wholeOf(value) : null;
}

/** The value in an array or object under a key: a name, or a place from 0 or, below it, from the end. */
export const itemOf = (value: RowValue, key: string | bigint): RowValue => canonical(rawItemOf(value, key));

/** The same, as the array or object holds it. */
export function rawItemOf(value: RowValue, key: string | bigint): RowValue | undefined {
  if (typeof key === 'string') return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return Array.isArray(value) ? (value as readonly RowValue[]).at(Number(key)) : undefined;
}

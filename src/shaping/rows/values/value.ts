/**
 * Values of the language as a row holds them. Inside expressions an integer is always a
 * `bigint` and a `number` is a float, so that `7 / 2` is 3 and `7.0 / 2` is 3.5 as in a query; `settledValue` gives small integers back as numbers.
 */
import { parseLongIntegers } from '../../../json/numbers.ts';
import { formatTime } from '../../../core/time/time-text.ts';
import { spanText } from '../../../core/time/span-text.ts';

/** ns since 1970. */
export class DateTime {
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }

  /** RFC 3339, also for `JSON.stringify`. */
  toJSON(): string {
    return formatTime(this.ns);
  }
}

/** ns. */
export class TimeSpan {
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }

  /** As Go writes a duration. */
  toJSON(): string {
    return spanText(this.ns);
  }
}

export type RowValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | DateTime
  | TimeSpan
  | readonly RowValue[]
  | { readonly [key: string]: RowValue };
/** Top-level fields of an event in their order. */
export type EventRow = Map<string, RowValue>;
export type JsonObject = { readonly [key: string]: RowValue };

/** Integers that a double does not hold are `bigint`. Undefined for invalid JSON. */
export function parseJson(text: string): RowValue | undefined {
  try {
    return parseLongIntegers(text, BigInt) as RowValue;
  } catch {
    return undefined;
  }
}

export const fits64 = (value: bigint): bigint | null => (BigInt.asIntN(64, value) === value ? value : null);
export const wrap64 = (value: bigint): bigint => BigInt.asIntN(64, value);

const TWO_63 = 2 ** 63;

/** Without the fraction; null for what 64 bits do not hold. */
export const wholeOf = (value: number): bigint | null =>
  Number.isFinite(value) ? fits64(BigInt(Math.trunc(value))) : null;

/** A JSON value as the language sees it: numbers without a fraction are integers, those beyond 64 bits floats. */
export function canonical(value: RowValue | undefined): RowValue {
  if (value === undefined) return null;
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < TWO_63 ? BigInt(value) : value;
  if (typeof value === 'bigint') return fits64(value) ?? Number(value);
  return value;
}

/** A result as an event holds it: integers as numbers where those are exact; undefined for null and values that JSON cannot hold. */
export function settledValue(value: RowValue): RowValue | undefined {
  if (value === null) return undefined;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  return value;
}

export const isObject = (value: RowValue | undefined): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof DateTime) &&
  !(value instanceof TimeSpan);
export const isJson = (value: RowValue): value is readonly RowValue[] | JsonObject =>
  Array.isArray(value) || isObject(value);

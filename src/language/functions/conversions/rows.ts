/** From one type to another, of one row. */
import type { CONVERSIONS } from './spec.ts';
import { readDatetime, readSpanText, UNIT_NS } from '../../syntax/literals.ts';
import type { Evaluate, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { ofValue } from '../../../shaping/rows/call/lift.ts';
import { asJson, asString } from '../../../shaping/rows/values/convert.ts';
import {
  canonical,
  DateTime,
  isJson,
  parseJson,
  TimeSpan,
  wholeOf,
  type RowValue,
  fits64,
} from '../../../shaping/rows/values/value.ts';
import { timeOf } from '../arithmetic/rows.ts';

/** Decimal, or hexadecimal after 0x. */
export function integerOf(text: string): bigint | null {
  const isInteger = /^(?:[+-]?\d{1,20}|0[xX][0-7]?[\dA-Fa-f]{1,15})$/.test(text);
  return isInteger ? fits64(BigInt(text.replace('+', ''))) : null;
}

function toInt(value: RowValue): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return wholeOf(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return integerOf(value);
  return value instanceof DateTime || value instanceof TimeSpan ? value.ns : null;
}

const REALS: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, infinity: Infinity };

function readReal(text: string): number | null {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  const [, sign, word] = /^([+-]?)(nan|inf|infinity)$/i.exec(text) ?? [];
  const value = word === undefined ? undefined : REALS[word.toLowerCase()];
  return value === undefined ? null : sign === '-' ? -value : value;
}

function toDouble(value: RowValue): number | null {
  if (typeof value === 'string') return readReal(value);
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  return value instanceof DateTime || value instanceof TimeSpan ? Number(value.ns) : null;
}

const TRUE = new Set(['1', 't', 'true', 'yes']);
const FALSE = new Set(['0', 'f', 'false', 'no']);

function toBool(value: RowValue): boolean | null {
  if (typeof value === 'string')
    return TRUE.has(value.toLowerCase()) ? true : FALSE.has(value.toLowerCase()) ? false : null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) !== 0;
  return value instanceof DateTime || value instanceof TimeSpan ? value.ns !== 0n : null;
}

export function toDatetime(value: RowValue): RowValue {
  if (value instanceof DateTime) return value;
  if (typeof value === 'bigint') return timeOf(value);
  const ns = typeof value === 'number' ? wholeOf(value) : typeof value === 'string' ? readDatetime(value) : undefined;
  return ns === undefined || ns === null ? null : timeOf(ns);
}

/** A duration as Go writes it, in days, too. */
function goSpan(text: string): bigint | null {
  if (!/^[+-]?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/.test(text)) return null;
  let sum = 0;
  for (const [, number, unit] of text.replace(/^[+-]/, '').matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/gy))
    sum += Number(number) * UNIT_NS.get(unit!)!;
  const ns = Number.isInteger(sum) ? wholeOf(sum) : null;
  return ns !== null && text.startsWith('-') ? -ns : ns;
}

function toTimespan(call: RowCall): Evaluate {
  const literal = call.literal(0);
  if (literal?.type === 'string') {
    const ns = readSpanText(String(literal.value));
    const value = ns === undefined ? null : new TimeSpan(ns);
    return () => value;
  }
  return ofValue((value) => {
    if (value instanceof TimeSpan) return value;
    const ns =
      typeof value === 'bigint'
        ? value
        : typeof value === 'number'
          ? wholeOf(value)
          : typeof value === 'string'
            ? goSpan(value)
            : null;
    return ns === null ? null : new TimeSpan(ns);
  })(call);
}

const TYPE_NAMES = { bigint: 'long', number: 'real', string: 'string', boolean: 'bool', object: 'dictionary' } as const;

export function typeName(value: RowValue): string {
  if (value === null) return 'null';
  if (value instanceof DateTime) return 'datetime';
  if (value instanceof TimeSpan) return 'timespan';
  return Array.isArray(value) ? 'array' : TYPE_NAMES[typeof value as keyof typeof TYPE_NAMES];
}

/** Parses the JSON text. */
const parsed = (otherwise: (text: string) => RowValue): RowBuild =>
  ofValue((value) => {
    const text = isJson(value) ? null : asString(value);
    if (text === null) return value;
    const found = parseJson(text);
    return found === undefined ? otherwise(text) : canonical(found);
  });

export const CONVERSIONS_ROWS: RowBuilders<typeof CONVERSIONS> = {
  toint: ofValue(toInt),
  todouble: ofValue(toDouble),
  tobool: ofValue(toBool),
  todatetime: ofValue(toDatetime),
  totimespan: toTimespan,
  tostring: (call) => {
    const text = call.string(0);
    return (scope) => text(scope) ?? '';
  },
  parse_json: parsed((text) => text),
  todynamic: parsed(() => null),
  dynamic_to_json: ofValue(asJson),
  gettype: ofValue(typeName),
};

/** From one type to another, what is there and what is not, and choosing between values. */
import type { CONDITIONALS, CONVERSIONS } from '../../../language/functions/conversions.ts';
import { readDatetime, readSpanText } from '../../../language/syntax/literals.ts';
import type { Builders, Call, Evaluate } from '../call/call.ts';
import { ofValue } from '../call/lift.ts';
import { asJson, asString, jsonValue } from '../values/convert.ts';
import { DateTime, isJson, TimeSpan, wholeOf, type Value, fits64 } from '../values/value.ts';
import { timeOf } from './arithmetic.ts';
import { negated } from './comparisons.ts';

function toInt(value: Value): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return wholeOf(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return /^[+-]?\d{1,20}$/.test(value) ? fits64(BigInt(value.replace('+', ''))) : null;
  return value instanceof DateTime || value instanceof TimeSpan ? value.ns : null;
}

const REALS: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, infinity: Infinity };

function readReal(text: string): number | null {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  const [, sign, word] = /^([+-]?)(nan|inf|infinity)$/i.exec(text) ?? [];
  const value = word === undefined ? undefined : REALS[word.toLowerCase()];
  return value === undefined ? null : sign === '-' ? -value : value;
}

function toDouble(value: Value): number | null {
  if (typeof value === 'string') return readReal(value);
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  return value instanceof DateTime || value instanceof TimeSpan ? Number(value.ns) : null;
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function toBool(value: Value): boolean | null {
  if (typeof value === 'string') return TRUE.has(value) ? true : FALSE.has(value) ? false : null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) !== 0;
  return value instanceof DateTime || value instanceof TimeSpan ? value.ns !== 0n : null;
}

export function toDatetime(value: Value): Value {
  if (value instanceof DateTime) return value;
  if (typeof value === 'bigint') return timeOf(value);
  const ns = typeof value === 'number' ? wholeOf(value) : typeof value === 'string' ? readDatetime(value) : undefined;
  return ns === undefined || ns === null ? null : timeOf(ns);
}

const SPAN_NS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9, d: 86_400e9 }; // prettier-ignore

/** A duration as Go writes it, in days, too. */
function goSpan(text: string): bigint | null {
  if (!/^[+-]?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/.test(text)) return null;
  let sum = 0;
  for (const [, number, unit] of text.replace(/^[+-]/, '').matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/gy))
    sum += Number(number) * SPAN_NS[unit!]!;
  const ns = Number.isInteger(sum) ? wholeOf(sum) : null;
  return ns !== null && text.startsWith('-') ? -ns : ns;
}

function toTimespan(call: Call): Evaluate {
  const literal = call.literal(0);
  if (literal?.type === 'string') {
    const ns = readSpanText(String(literal.value));
    const value = ns === undefined ? null : new TimeSpan(ns);
    return () => value;
  }
  return ofValue((value) => {
    if (value instanceof TimeSpan) return value;
    const ns = typeof value === 'bigint' ? value : typeof value === 'number' ? wholeOf(value) : typeof value === 'string' ? goSpan(value) : null;
    return ns === null ? null : new TimeSpan(ns);
  })(call);
} // prettier-ignore

const TYPE_NAMES = { bigint: 'long', number: 'real', string: 'string', boolean: 'bool', object: 'dictionary' } as const;

export function typeName(value: Value): string {
  if (value === null) return 'null';
  if (value instanceof DateTime) return 'datetime';
  if (value instanceof TimeSpan) return 'timespan';
  return Array.isArray(value) ? 'array' : TYPE_NAMES[typeof value as keyof typeof TYPE_NAMES];
}

export const CONVERSION_ROWS: Builders<typeof CONVERSIONS> = {
  toint: ofValue(toInt),
  todouble: ofValue(toDouble),
  tobool: ofValue(toBool),
  todatetime: ofValue(toDatetime),
  totimespan: toTimespan,
  tostring: (call) => {
    const text = call.string(0);
    return (scope) => text(scope) ?? '';
  },
  parse_json: ofValue((value) => {
    if (isJson(value)) return value;
    const text = asString(value);
    return text === null ? null : jsonValue(text);
  }),
  dynamic_to_json: ofValue(asJson),
  gettype: ofValue(typeName),
};

/** A text that is empty counts as missing. */
const isGiven = (value: Value): boolean => value !== null && value !== '';

function iff(call: Call): Evaluate {
  const [condition, a, b] = [call.bool(0), call.value(1), call.value(2)];
  return (scope) => (condition(scope) === true ? a(scope) : b(scope));
}

function cases(call: Call): Evaluate {
  if (call.count % 2 === 0) throw call.fail(call.count - 1, 'wanted pairs of condition and result, then the result of no match');
  const pairs = Array.from({ length: (call.count - 1) / 2 }, (_, n) => [call.bool(2 * n), call.value(2 * n + 1)] as const);
  const last = call.value(call.count - 1);
  return (scope) => {
    for (const [condition, result] of pairs) if (condition(scope) === true) return result(scope);
    return last(scope);
  };
}

function coalesce(call: Call): Evaluate {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n));
  return (scope) => {
    for (const value of values) {
      const found = value(scope);
      if (isGiven(found)) return found;
    }
    return null;
  };
}

export const CONDITIONAL_ROWS: Builders<typeof CONDITIONALS> = {
  iff,
  case: cases,
  coalesce,
  column_ifexists: (call) => {
    const [value, otherwise] = [call.value(0), call.value(1)];
    return (scope) => value(scope) ?? otherwise(scope);
  },
  isnull: ofValue((value) => value === null),
  isnotnull: ofValue((value) => value !== null),
  isempty: ofValue((value) => !isGiven(value)),
  isnotempty: ofValue(isGiven),
  isbool: ofValue((value) => typeof value === 'boolean'),
  isstring: ofValue((value) => typeof value === 'string'),
  isreal: ofValue((value) => typeof value === 'number'),
  not: negated((call) => call.bool(0)),
};

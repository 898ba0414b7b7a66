/** Typed expressions as closures over a row. */
import { readUnixTime } from '../../core/time/time-text.ts';
import type { CallNode, Node } from '../../language/plan/tree.ts';
import { meaningError } from '../../language/syntax/apl-error.ts';
import type { Constant } from '../../language/types.ts';
import type { Evaluate, Of, RowCall } from './call/call.ts';
import { scalarBuilder } from './functions.ts';
import { toDatetime } from '../../language/functions/conversions/rows.ts';
import { fieldReader } from './values/paths.ts';
import {
  asBool,
  asInt,
  asNumber,
  asReal,
  asSpan,
  asString,
  asTime,
  heldText,
  itemOf,
  rawItemOf,
} from './values/convert.ts';
import { canonical, DateTime, isObject, parseJson, TimeSpan, type RowValue } from './values/value.ts';

export function compile(node: Node): Evaluate {
  switch (node.kind) {
    case 'constant': {
      const value = constantValue(node.constant);
      return () => value;
    }
    case 'column':
      if (node.name === '_time' && node.type === 'datetime') return eventTime;
      return node.type === 'real' ? floatOf(columnOf(node.name)) : columnOf(node.name);
    case 'everything':
      return ({ row }) => textsOf(row.values()).join('\u0001');
    case 'item':
      return item(node);
    case 'columns':
    case 'scalar':
    case 'among':
      throw new RangeError(`${node.kind} is for queries`);
    case 'apply':
      return scalarBuilder(node.spec.name)(callOf(node));
  }
}

function constantValue({ type, value }: Constant): RowValue {
  if (value === null) return null;
  switch (type) {
    case 'datetime':
      return new DateTime(value as bigint);
    case 'timespan':
      return new TimeSpan(value as bigint);
    case 'dynamic':
      return parseJson(value as string) ?? null;
    default:
      return value;
  }
}

/** The value as text; of what the event holds, with all its digits. */
export function compileText(node: Node): Of<string | null> {
  const value = compile(node);
  const raw = rawOf(node);
  return (scope) => {
    const given = raw?.(scope);
    return typeof given === 'bigint' ? String(given) : asString(value(scope));
  };
}

/** The event's own value there. */
function rawOf(node: Node): Of<RowValue | undefined> | undefined {
  if (node.kind === 'column' && node.type === 'dynamic') {
    const read = fieldReader(node.name);
    return ({ row }) => read(row);
  }
  if (node.kind !== 'item' || typeof node.key === 'object') return undefined;
  const { key } = node;
  const inside = compile(node.object);
  return (scope) => rawItemOf(inside(scope), key);
}

function columnOf(name: string): Evaluate {
  const read = fieldReader(name);
  return ({ row }) => canonical(read(row));
}

/** A float that an earlier step made: without a fraction it looks like an integer. */
const floatOf =
  (value: Evaluate): Evaluate =>
  (scope) => {
    const found = value(scope);
    return typeof found === 'bigint' ? Number(found) : found;
  };

/** The event's own time; that of its read where it has none that can be read. */
const eventTime: Evaluate = ({ row, context }) => {
  const value = canonical(row.get('_time'));
  if (value instanceof DateTime) return value;
  const isCount = typeof value === 'bigint' || typeof value === 'number';
  const ns = isCount ? readUnixTime(String(value), undefined) : undefined;
  const time = toDatetime(typeof ns === 'bigint' ? ns : typeof value === 'string' ? value : null);
  return time ?? new DateTime(BigInt(Math.trunc(context.readAtMs)) * 1_000_000n);
};

/** The texts of all values that have one, those in objects, too. */
function textsOf(values: Iterable<RowValue>): string[] {
  return [...values].flatMap((value) => {
    if (isObject(value)) return textsOf(Object.values(value));
    return typeof value === 'boolean' ? [] : (heldText(value) ?? []);
  });
}

function item({ object, key }: Node & { readonly kind: 'item' }): Evaluate {
  const inside = compile(object);
  if (typeof key !== 'object') return (scope) => itemOf(inside(scope), key);
  const at = compile(key);
  return (scope) => {
    const index = asInt(at(scope));
    return index === null ? null : itemOf(inside(scope), index);
  };
}

/** A condition that is never null: null counts as false. */
export function compileCondition(node: Node): Of<boolean> {
  const value = compile(node);
  return (scope) => value(scope) === true;
}

function callOf({ args, places, at }: CallNode): RowCall {
  const as =
    <T>(convert: (value: RowValue) => T) =>
    (n: number): Of<T> => {
      const value = compile(args[n]!);
      return (scope) => convert(value(scope));
    };
  const literal = (n: number): Constant | undefined => {
    const arg = args[n];
    return arg?.kind === 'constant' ? arg.constant : undefined;
  };
  return {
    count: args.length,
    types: args.map(({ type }) => type),
    value: (n) => compile(args[n]!),
    node: (n) => args[n]!,
    string: (n) => compileText(args[n]!),
    int: as(asInt),
    number: as(asNumber),
    real: as(asReal),
    bool: as(asBool),
    time: as(asTime),
    span: as(asSpan),
    literal,
    constant(n) {
      const constant = literal(n);
      if (!constant) throw meaningError(places[n] ?? at, 'wanted a literal here');
      return constant;
    },
    fail: (n, message, fix) => meaningError(places[n] ?? at, message, fix),
  };
}

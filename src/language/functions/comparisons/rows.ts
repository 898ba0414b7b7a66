/** Comparisons (==, <, in, between) and logical operators. How null counts in them: docs/query.md. */
import type { COMPARISONS } from './spec.ts';
import type { Evaluate, Of, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1 } from '../../../shaping/rows/call/lift.ts';
import { canonical, DateTime, isJson, TimeSpan, type RowValue } from '../../../shaping/rows/values/value.ts';
import { writeJson } from '../../../json/numbers.ts';
import { compareText } from '../../../shaping/rows/values/text.ts';

/** Values of the same class can be compared with each other. */
function classOf(value: RowValue): (typeof CLASSES)[keyof typeof CLASSES] | 'datetime' | undefined {
  if (value === null) return undefined;
  if (value instanceof DateTime) return 'datetime';
  return value instanceof TimeSpan ? 'number' : CLASSES[typeof value as keyof typeof CLASSES];
}
const CLASSES = { bigint: 'number', number: 'number', string: 'string', boolean: 'bool', object: 'json' } as const;

const plain = (value: RowValue): RowValue =>
  value instanceof DateTime || value instanceof TimeSpan ? value.ns : value;

/** True when both are there and equal, else false. */
function equalValues(left: RowValue, right: RowValue): boolean {
  if (left === null || right === null) return false;
  const kind = classOf(left);
  if (kind !== classOf(right)) return false;
  if (kind === 'json') return writeJson(left) === writeJson(right);
  const [a, b] = [plain(left), plain(right)];
  // A bigint and a number compare as the numbers they are.
  // oxlint-disable-next-line eqeqeq
  return kind === 'number' ? a == b : a === b;
}

/** Below, at or above 0; null where the two have no order, NaN where one is not a number. */
function compareValues(left: RowValue, right: RowValue): number | null {
  const kind = classOf(left);
  if (kind === undefined || kind === 'bool' || kind === 'json' || kind !== classOf(right)) return null;
  if (kind === 'string') return compareText(left as string, right as string);
  const [a, b] = [plain(left) as number, plain(right) as number];
  return a < b ? -1 : a > b ? 1 : Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0;
}

const SIGNS: Readonly<Record<'<' | '<=' | '>' | '>=', (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const order =
  (sign: keyof typeof SIGNS): RowBuild =>
  (call) => {
    const [a, b, test] = [call.value(0), call.value(1), SIGNS[sign]];
    return (scope) => {
      const found = compareValues(a(scope), b(scope));
      return found === null ? null : test(found);
    };
  };

function equals(call: RowCall): Of<boolean | null> {
  const [a, b] = [call.value(0), call.value(1)];
  return (scope) => {
    const [left, right] = [a(scope), b(scope)];
    return left === null && right === null ? null : equalValues(left, right);
  };
}

export const negated =
  (build: (call: RowCall) => Of<boolean | null>): RowBuild =>
  (call) =>
    lift1(build(call), (found) => !found);

function sameIgnoringCase(call: RowCall): Of<boolean> {
  const [a, b] = [call.string(0), call.string(1)];
  return (scope) => {
    const left = a(scope);
    return left !== null && left.toLowerCase() === b(scope)?.toLowerCase();
  };
}

/** `false` decides, else null stays null. */
export const both = (a: boolean | null, b: boolean | null): boolean | null =>
  a === false || b === false ? false : a === null || b === null ? null : true;

function between(call: RowCall): Of<boolean | null> {
  const [value, low, high] = [call.value(0), call.value(1), call.value(2)];
  return (scope) => {
    const found = value(scope);
    const [above, below] = [compareValues(found, low(scope)), compareValues(found, high(scope))];
    return both(above === null ? null : above >= 0, below === null ? null : below <= 0);
  };
}

/** The items of a list in parentheses; constant arrays are taken apart. */
export function listItems(call: RowCall): Evaluate[] {
  const flatten = (item: RowValue): RowValue[] =>
    Array.isArray(item) ? item.flatMap(flatten) : isJson(item) || item === null ? [] : [canonical(item)];
  return Array.from({ length: call.count - 1 }, (_, n) => n + 1).flatMap((n): Evaluate[] => {
    const item = call.value(n);
    const { type } = call.literal(n) ?? {};
    if (type !== 'dynamic') return [item];
    const value = item({} as never);
    return Array.isArray(value) ? flatten(value).map((each) => () => each) : [item];
  });
}

const among =
  (equal: (value: RowValue, item: RowValue) => boolean) =>
  (call: RowCall): Of<boolean> => {
    const [value, items] = [call.value(0), listItems(call)];
    return (scope) => {
      const found = value(scope);
      return items.some((item) => equal(found, item(scope)));
    };
  };
const isIn = among(equalValues);
const isInIgnoringCase = among((value, item) =>
  typeof item === 'string'
    ? typeof value === 'string' && value.toLowerCase() === item.toLowerCase()
    : equalValues(value, item),
);

/** `decisive`: the value that settles the result whatever the others are. */
const connect =
  (decisive: boolean): RowBuild =>
  (call) => {
    const parts = Array.from({ length: call.count }, (_, n) => call.bool(n));
    return (scope) => {
      let result: boolean | null = !decisive;
      for (const part of parts) {
        const found = part(scope);
        if (found === decisive) return decisive;
        if (found === null) result = null;
      }
      return result;
    };
  };

export const COMPARISONS_ROWS: RowBuilders<typeof COMPARISONS> = {
  '==': equals,
  '!=': negated(equals),
  '=~': sameIgnoringCase,
  '!~': negated(sameIgnoringCase),
  '<': order('<'),
  '<=': order('<='),
  '>': order('>'),
  '>=': order('>='),
  between,
  '!between': negated(between),
  in: isIn,
  '!in': negated(isIn),
  'in~': isInIgnoringCase,
  '!in~': negated(isInIgnoringCase),
  and: connect(false),
  or: connect(true),
};

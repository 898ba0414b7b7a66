/** Random expressions of times and timespans, and what the language makes of those: parts, differences, comparisons, texts. */
import * as fc from 'fast-check';
import {
  addMonths,
  DAY,
  difference,
  fits,
  floorDiv,
  modulo,
  MONTHS,
  PART_FUNCTIONS,
  PARTS,
  spanText,
  startOf,
  timeText,
  UNITS,
  WEEK,
  type Period,
} from './calendar.ts';
import { called, int, number, type Expression, type Generators, type Row } from './expression.ts';
import { isNumber, type Value } from './values.ts';

/** ns. */
interface Timed {
  readonly text: string;
  readonly of: (row: Row) => bigint | null;
}

const START_NS = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n;
/** Of the range that every query has, two years: the least round step that makes at most 120 bins. */
const AUTO_STEP = WEEK;
const wrapped = (ns: bigint): bigint => BigInt.asIntN(64, ns);

const lift =
  (parts: readonly Timed[], build: (...ns: bigint[]) => bigint | null) =>
  (row: Row): bigint | null => {
    const found = parts.map(({ of }) => of(row));
    return found.includes(null) ? null : build(...(found as bigint[]));
  };

const constantTime = fc
  .constantFrom(
    '2026-03-01T05:06:07.123456789Z',
    '1969-12-31T23:59:59.5Z',
    '2024-02-29T00:00:00Z',
    '1970-01-01T00:00:00.000000001Z',
    '2026-01-01T00:00:10Z',
    '2021-01-03T12:00:00Z',
  )
  .map((text): Timed => {
    const [, digits = ''] = /\.(\d+)Z$/.exec(text) ?? [];
    const ns = BigInt(Date.parse(text.replace(/\.\d+Z$/, 'Z'))) * 1_000_000n + BigInt(digits.padEnd(9, '0'));
    return { text: `datetime(${text})`, of: () => ns };
  });
const SPANS: Readonly<Record<string, bigint>> = {
  '1h': 3_600_000_000_000n,
  '1.5h': 5_400_000_000_000n,
  '2d': 2n * DAY,
  '250ms': 250_000_000n,
  '90s': 90_000_000_000n,
  '7us': 7000n,
  '3ns': 3n,
  '1h30m': 5_400_000_000_000n,
};
const constantSpan = fc
  .constantFrom('1h', '1.5h', '2d', '250ms', '90s', '7us', '3ns')
  .map((text): Timed => ({ text, of: () => SPANS[text]! }));

/** A half goes to the even neighbour. */
function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

const UNIXTIMES: readonly (readonly [name: string, ns: number])[] = [
  ['unixtime_seconds_todatetime', 1e9],
  ['unixtime_milliseconds_todatetime', 1e6],
  ['unixtime_microseconds_todatetime', 1000],
  ['unixtime_nanoseconds_todatetime', 1],
];

function fromNumber(value: bigint | number | null, unit: number, kinds: Expression['kinds']): bigint | null {
  if (value === null) return null;
  if (typeof value === 'bigint' && !kinds.has('real')) return fits(value * BigInt(unit));
  const rounded = roundHalfEven(Number(value) * unit);
  return Math.abs(rounded) < 2 ** 63 ? fits(BigInt(rounded)) : null;
}

function timesOf(
  { number: numbers }: Generators,
  times: fc.Arbitrary<Timed>,
  spans: fc.Arbitrary<Timed>,
): fc.Arbitrary<Timed> {
  const offset = fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined });
  return fc.oneof(
    fc.tuple(times, fc.constantFrom('+', '-'), spans).map(([a, sign, b]): Timed => ({
      text: `(${a.text} ${sign} ${b.text})`,
      of: lift([a, b], (x, y) => fits(sign === '+' ? x + y : x - y)),
    })),
    fc.tuple(numbers, fc.constantFrom(...UNIXTIMES)).map(([a, [name, unit]]): Timed => ({
      text: called(name, a.text),
      of: (row) => {
        const value = a.of(row);
        return fromNumber(isNumber(value) ? value : null, unit, a.kinds);
      },
    })),
    numbers
      .filter(({ kinds }) => !kinds.has('real'))
      .map((a): Timed => ({
        text: called('todatetime', a.text),
        of: (row) => (typeof a.of(row) === 'bigint' ? fits(a.of(row) as bigint) : null),
      })),
    fc.constantFrom<Timed>(
      { text: 'todatetime("2026-01-01T00:00:03.5Z")', of: () => START_NS + 3_500_000_000n },
      { text: 'todatetime("never")', of: () => null },
    ),
    fc
      .tuple(times, fc.constantFrom<Period>('day', 'week', 'month', 'year'), offset, fc.boolean())
      .map(([a, period, by, isEnd]): Timed => ({
        text: called(`${isEnd ? 'endof' : 'startof'}${period}`, a.text, ...(by === undefined ? [] : [`(${by})`])),
        of: lift([a], (ns) => fits(startOf(period, ns, (by ?? 0) + (isEnd ? 1 : 0)) - (isEnd ? 1n : 0n))),
      })),
    fc
      .tuple(times, fc.constantFrom(...Object.keys(UNITS), ...Object.keys(MONTHS)), fc.integer({ min: -14, max: 14 }))
      .map(([a, unit, count]): Timed => ({
        text: called('datetime_add', `"${unit}"`, `(${count})`, a.text),
        of: lift([a], (ns) =>
          fits(MONTHS[unit] === undefined ? ns + UNITS[unit]! * BigInt(count) : addMonths(ns, MONTHS[unit] * count)),
        ),
      })),
    fc.tuple(times, constantSpan).map(([a, size]): Timed => ({
      text: called('bin', a.text, size.text),
      of: (row) => lift([a], (ns) => ns - modulo(ns, size.of(row)!))(row),
    })),
    times.map((a): Timed => ({ text: called('bin_auto', a.text), of: lift([a], (ns) => ns - modulo(ns, AUTO_STEP)) })),
  );
}

function spansOf(
  { number: numbers, condition }: Generators,
  times: fc.Arbitrary<Timed>,
  spans: fc.Arbitrary<Timed>,
): fc.Arbitrary<Timed> {
  const factor = fc.constantFrom(-2, 3, 0);
  return fc.oneof(
    fc
      .tuple(times, times)
      .map(([a, b]): Timed => ({ text: `(${a.text} - ${b.text})`, of: lift([a, b], (x, y) => wrapped(x - y)) })),
    fc.tuple(spans, fc.constantFrom('+', '-'), spans).map(([a, sign, b]): Timed => ({
      text: `(${a.text} ${sign} ${b.text})`,
      of: lift([a, b], (x, y) => wrapped(sign === '+' ? x + y : x - y)),
    })),
    fc
      .tuple(spans, factor)
      .map(([a, by]): Timed => ({ text: `(${a.text} * (${by}))`, of: lift([a], (ns) => wrapped(ns * BigInt(by))) })),
    fc.tuple(spans, fc.constantFrom(2, -4)).map(([a, by]): Timed => ({
      text: `(${a.text} / (${by}))`,
      of: lift([a], (ns) => BigInt(Math.trunc(Number(ns) / by))),
    })),
    fc
      .tuple(spans, constantSpan)
      .map(([a, b]): Timed => ({ text: `(${a.text} % ${b.text})`, of: lift([a, b], (x, y) => x % y) })),
    fc.tuple(spans, constantSpan).map(([a, b]): Timed => ({
      text: called('bin', a.text, b.text),
      of: lift([a, b], (x, y) => wrapped(x - modulo(x, y))),
    })),
    spans.map((a): Timed => ({ text: `(-${a.text})`, of: lift([a], (ns) => wrapped(-ns)) })),
    fc
      .constantFrom(...Object.keys(SPANS))
      .map((text): Timed => ({ text: called('totimespan', `"${text}"`), of: () => SPANS[text]! })),
    numbers
      .filter(({ kinds }) => !kinds.has('real'))
      .map((a): Timed => ({
        text: called('totimespan', a.text),
        of: (row) => (typeof a.of(row) === 'bigint' ? (a.of(row) as bigint) : null),
      })),
    fc.tuple(condition, spans, spans).map(([test, a, b]): Timed => ({
      text: called('iff', test.text, a.text, b.text),
      of: (row) => (test.of(row) === true ? a.of(row) : b.of(row)),
    })),
    fc.constantFrom<Timed>(
      { text: '(now() - ago(1h))', of: () => SPANS['1h']! },
      { text: '(now(90s) - now())', of: () => SPANS['90s']! },
    ),
  );
}

export interface TimeGenerators {
  readonly numbers: fc.Arbitrary<Expression>;
  readonly texts: fc.Arbitrary<Expression>;
  /** Text and truth of conditions. */
  readonly conditions: fc.Arbitrary<{ readonly text: string; readonly of: (row: Row) => boolean | null }>;
}

export function timeExpressions(inner: Generators): TimeGenerators {
  const leafTime = fc.oneof(
    fc.constant<Timed>({ text: '_time', of: (row) => START_NS + (row.get('at') as bigint) * 1_000_000_000n }),
    constantTime,
  );
  const innerTime = fc.oneof(leafTime, timesOf(inner, leafTime, constantSpan));
  const innerSpan = fc.oneof(constantSpan, spansOf(inner, leafTime, constantSpan));
  const time = fc.oneof(innerTime, timesOf(inner, innerTime, innerSpan));
  const span = fc.oneof(innerSpan, spansOf(inner, innerTime, innerSpan));
  const integer = (text: string, of: (row: Row) => bigint | null): Expression => int(text, of);
  const numbers = fc.oneof(
    fc
      .tuple(fc.oneof(time, span), fc.constantFrom('toint', 'todouble'))
      .map(([a, name]) =>
        name === 'toint'
          ? integer(called(name, a.text), a.of)
          : number(called(name, a.text), (row) => (a.of(row) === null ? null : Number(a.of(row)))),
      ),
    fc.tuple(time, fc.constantFrom(...Object.keys(PART_FUNCTIONS))).map(([a, name]) =>
      integer(
        called(name, a.text),
        lift([a], (ns) => BigInt(PART_FUNCTIONS[name]!(ns))),
      ),
    ),
    fc.tuple(time, fc.constantFrom(...Object.keys(PARTS))).map(([a, name]) =>
      integer(
        called('datetime_part', `"${name}"`, a.text),
        lift([a], (ns) => BigInt(PARTS[name]!(ns))),
      ),
    ),
    fc.tuple(time, time, fc.constantFrom(...Object.keys(UNITS), ...Object.keys(MONTHS))).map(([a, b, unit]) =>
      integer(
        called('datetime_diff', `"${unit}"`, a.text, b.text),
        lift([a, b], (x, y) => difference(unit, x, y)),
      ),
    ),
    fc
      .tuple(span, constantSpan)
      .map(([a, b]) =>
        number(`(${a.text} / ${b.text})`, (row) => (a.of(row) === null ? null : Number(a.of(row)) / Number(b.of(row)))),
      ),
    span.map((a) => integer(`toint(${a.text})`, a.of)),
  );
  const written = (value: bigint | null, write: (ns: bigint) => string): string => (value === null ? '' : write(value));
  const text = (words: string, of: (row: Row) => Value): Expression => ({
    text: words,
    type: 'string',
    kinds: new Set(['string']),
    of,
  });
  const texts = fc.oneof(
    time.map((a) => text(called('tostring', a.text), (row) => written(a.of(row), timeText))),
    span.map((a) => text(called('tostring', a.text), (row) => written(a.of(row), spanText))),
  );
  const SIGNS: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '>': (a, b) => a > b,
    '>=': (a, b) => a >= b,
    '==': (a, b) => a === b,
    '!=': (a, b) => a !== b,
  };
  const pair = fc.oneof(fc.tuple(time, time), fc.tuple(span, span));
  const conditions = fc.oneof(
    fc.tuple(pair, fc.constantFrom(...Object.keys(SIGNS))).map(([[a, b], sign]) => ({
      text: `(${a.text} ${sign} ${b.text})`,
      of: (row: Row): boolean | null => {
        const [x, y] = [a.of(row), b.of(row)];
        if (x !== null && y !== null) return SIGNS[sign]!(x, y);
        return sign === '==' || sign === '!=' ? (x === null && y === null ? null : sign === '!=') : null;
      },
    })),
    fc.tuple(time, constantTime, constantTime, fc.boolean()).map(([a, low, high, not]) => ({
      text: `(${a.text} ${not ? '!' : ''}between (${low.text} .. ${high.text}))`,
      of: (row: Row): boolean | null => {
        const ns = a.of(row);
        return ns === null ? null : (ns >= low.of(row)! && ns <= high.of(row)!) !== not;
      },
    })),
    fc.tuple(time, fc.array(constantTime, { minLength: 1, maxLength: 3 })).map(([a, list]) => ({
      text: `(${a.text} in (${list.map((item) => item.text).join(', ')}))`,
      of: (row: Row): boolean => list.some((item) => item.of(row) === a.of(row)),
    })),
  );
  return { numbers, texts, conditions };
}

/** The bins of a series by time. */
export const binOf = (row: Row, width: bigint): bigint => {
  const ns = START_NS + (row.get('at') as bigint) * 1_000_000_000n;
  return floorDiv(ns, width) * width;
};

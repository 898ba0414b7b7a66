/** Functions of time, all in UTC. Weeks begin on Sunday, as in the public language; `week_of_year` counts as ISO 8601 does. */
import { builtAlike, readSpanFormat, readTimeFormat, SPAN_PARTS, type DATETIMES } from './spec.ts';
import { namedArgument, readText } from '../../plan/literals.ts';
import type { Evaluate, Of, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2, ofNumber, ofTime } from '../../../shaping/rows/call/lift.ts';
import {
  addMonths,
  monthIndex,
  MONTHS,
  PARTS,
  startOf,
  unitIndex,
  UNITS,
  type Period,
} from '../../../core/time/calendar.ts';
import { wholeOf, wrap64, type DateTime } from '../../../shaping/rows/values/value.ts';
import { timeOf } from '../arithmetic/rows.ts';

/** A time some units later; null where it cannot be held. */
function later(ns: bigint, unit: string, count: bigint): DateTime | null {
  const width = UNITS.get(unit);
  if (width !== undefined) return timeOf(ns + count * width);
  const months = count * BigInt(MONTHS.get(unit)!);
  const index = BigInt(monthIndex(ns)) + months;
  // From 1901 to 2261.
  if (count < -10_000n || count > 10_000n || index < 22_812n || index > 27_143n) return null;
  return timeOf(addMonths(ns, Number(months)));
}

const begin =
  (period: Period): RowBuild =>
  (call) => {
    if (call.count === 2)
      return lift2(call.time(0), call.int(1), (ns, offset) => later(startOf(period, ns), period, offset));
    return ofTime((ns) => timeOf(startOf(period, ns)))(call);
  };

const end =
  (period: Period): RowBuild =>
  (call) => {
    const offset: Of<bigint | null> = call.count === 2 ? call.int(1) : () => 0n;
    return lift2(call.time(0), offset, (ns, by) => {
      const next = later(startOf(period, ns), period, by + 1n);
      return next === null ? null : timeOf(next.ns - 1n);
    });
  };

const part = (name: string): RowBuild => ofTime((ns) => PARTS.get(name)!(ns));

function datetimePart(call: RowCall): Evaluate {
  const read = PARTS.get(
    namedArgument(
      call,
      [...PARTS.keys()].filter((name) => name !== 'dayofweek'),
    ),
  )!;
  return lift1(call.time(1), read);
}

function datetimeAdd(call: RowCall): Evaluate {
  const name = namedArgument(call, [...MONTHS.keys(), ...UNITS.keys()]);
  return lift2(call.int(1), call.time(2), (count, ns) => later(ns, name, count));
}

function difference(call: RowCall): Evaluate {
  const name = namedArgument(call, [...UNITS.keys(), ...MONTHS.keys()]);
  return lift2(call.time(1), call.time(2), (a, b) => wrap64(unitIndex(name, a) - unitIndex(name, b)));
}

/** A half goes to the even neighbour, as the engine of the service rounds. */
function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

/** Each part of a format as text. */
const WRITTEN: Readonly<Record<string, (ns: bigint) => string>> = {
  yyyy: padded('year', 4),
  yy: (ns) => String(PARTS.get('year')!(ns) % 100n).padStart(2, '0'),
  y: (ns) => String(PARTS.get('year')!(ns) % 100n),
  MM: padded('month', 2),
  M: padded('month', 1),
  dd: padded('day', 2),
  d: padded('day', 1),
  HH: padded('hour', 2),
  H: padded('hour', 1),
  hh: (ns) => twelve(ns).padStart(2, '0'),
  h: twelve,
  mm: padded('minute', 2),
  m: padded('minute', 1),
  ss: padded('second', 2),
  s: padded('second', 1),
  tt: (ns) => (PARTS.get('hour')!(ns) < 12n ? 'AM' : 'PM'),
};

function padded(name: string, digits: number): (ns: bigint) => string {
  return (ns) => String(PARTS.get(name)!(ns)).padStart(digits, '0');
}

function twelve(ns: bigint): string {
  return String(((PARTS.get('hour')!(ns) + 11n) % 12n) + 1n);
}

/** A text, or the fraction of a second, which times and spans have alike; undefined for another part of a format. */
function plainPart(part: string): ((ns: bigint) => string) | undefined {
  if (part.startsWith("'")) return () => part.slice(1);
  const fraction = (ns: bigint): string => padded('nanosecond', 9)(ns).slice(0, part.length);
  if (part.startsWith('F')) return (ns) => fraction(ns).replace(/0{1,9}$/, '');
  return part.startsWith('f') ? fraction : undefined;
}

function formatted(call: RowCall): Evaluate {
  const parts = readText(call, 1, readTimeFormat, 'a format such as yyyy-MM-dd HH:mm:ss.fff');
  const writers = parts.map((part) => plainPart(part) ?? WRITTEN[part]!);
  return ofTime((ns) => writers.map((write) => write(ns)).join(''))(call);
}

function formattedSpan(call: RowCall): Evaluate {
  const parts = readText(call, 1, readSpanFormat, 'a format such as d.HH:mm:ss.fff');
  const writers = parts.map((part) => {
    const plain = plainPart(part);
    if (plain) return plain;
    const [unit, most] = SPAN_PARTS[part[0]!]!.map(BigInt) as [bigint, bigint];
    return (size: bigint) => String((size / unit) % most).padStart(part.length, '0');
  });
  return lift1(call.span(0), (ns) => (ns < 0n ? '-' : '') + writers.map((write) => write(ns < 0n ? -ns : ns)).join(''));
}

/** Null where a part is out of its range. */
function made(call: RowCall): Evaluate {
  const parts = [0, 1, 2, 3, 4].map((n): Of<bigint | null> => (n < call.count ? call.int(n) : () => 0n));
  const seconds: Of<number | null> = call.count > 5 ? call.real(5) : () => 0;
  return (scope) => {
    const found = parts.map((part) => part(scope));
    const second = seconds(scope);
    if (found.includes(null) || second === null || !(second >= 0 && second < 60)) return null;
    const [year, month, day, hour, minute] = found.map(Number) as [number, number, number, number, number];
    const date = new Date(Date.UTC(year, month - 1, day));
    const isDate = year >= 1900 && year <= 2262 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
    if (!isDate || hour < 0 || hour > 23 || minute < 0 || minute > 59) return null;
    return timeOf(
      BigInt(date.getTime() + (hour * 60 + minute) * 60_000) * 1_000_000n + BigInt(Math.floor(second * 1e9 + 0.5)),
    );
  };
}

const unixtime = (unitNs: bigint): RowBuild =>
  ofNumber((value) => {
    const ns = typeof value === 'number' ? wholeOf(roundHalfEven(value * Number(unitNs))) : value * unitNs;
    return ns === null ? null : timeOf(ns);
  });

const nowNs = (readAtMs: number): bigint => BigInt(Math.trunc(readAtMs)) * 1_000_000n;

const shifted =
  (sign: 1n | -1n): RowBuild =>
  (call) => {
    const span: Of<bigint | null> = call.count === 0 ? () => 0n : call.span(0);
    return (scope) => {
      const ns = span(scope);
      return ns === null ? null : timeOf(nowNs(scope.context.readAtMs) + sign * ns);
    };
  };

export const DATETIMES_ROWS: RowBuilders<typeof DATETIMES> = {
  now: shifted(1n),
  ago: shifted(-1n),
  ...builtAlike({ begin, end, unixtime }),
  dayofweek: part('dayofweek'),
  dayofmonth: part('day'),
  dayofyear: part('dayofyear'),
  hourofday: part('hour'),
  monthofyear: part('month'),
  getyear: part('year'),
  week_of_year: part('week_of_year'),
  datetime_part: datetimePart,
  datetime_add: datetimeAdd,
  datetime_diff: difference,
  format_datetime: formatted,
  format_timespan: formattedSpan,
  make_datetime: made,
};

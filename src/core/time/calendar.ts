/** The calendar of UTC, of times in ns since 1970. */

/** Units by their length in ns. */
export const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['nanosecond', 1n],
  ['microsecond', 1000n],
  ['millisecond', 1_000_000n],
  ['second', 1_000_000_000n],
  ['minute', 60_000_000_000n],
  ['hour', 3_600_000_000_000n],
  ['day', 86_400_000_000_000n],
  ['week', 604_800_000_000_000n],
]);
/** Units by their length in months. */
export const MONTHS: ReadonlyMap<string, number> = new Map([
  ['month', 1],
  ['quarter', 3],
  ['year', 12],
]);

export const MONTH_NAMES: readonly string[] = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** Never negative. */
export const modulo = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;

const [SECOND_NS, DAY_NS, WEEK_NS] = ['second', 'day', 'week'].map((name) => UNITS.get(name)!) as [
  bigint,
  bigint,
  bigint,
];
/** 1970 began on a Thursday, four days after a Sunday. */
const SINCE_SUNDAY_NS = 4n * DAY_NS;

export type Period = 'day' | 'week' | 'month' | 'year';

const floorDiv = (a: bigint, b: bigint): bigint => (a - modulo(a, b)) / b;
const dateOf = (ns: bigint): Date => new Date(Number(floorDiv(ns, 1_000_000n)));
const fromMs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/** The beginning of the period that the time is in. */
export function startOf(period: Period, ns: bigint): bigint {
  if (period === 'day') return ns - modulo(ns, DAY_NS);
  if (period === 'week') return ns - modulo(ns + SINCE_SUNDAY_NS, WEEK_NS);
  const date = dateOf(ns);
  return fromMs(Date.UTC(date.getUTCFullYear(), period === 'month' ? date.getUTCMonth() : 0, 1));
}

/** Months since the year 0. */
export function monthIndex(ns: bigint): number {
  const date = dateOf(ns);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Months later, on the last day of the month where the day does not exist. */
export function addMonths(ns: bigint, months: number): bigint {
  const date = dateOf(ns);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return fromMs(Date.UTC(year, month, Math.min(date.getUTCDate(), last))) + modulo(ns, DAY_NS);
}

/** The number of the unit that the time is in. */
export function unitIndex(unit: string, ns: bigint): bigint {
  const months = MONTHS.get(unit);
  if (months !== undefined) return BigInt(Math.floor(monthIndex(ns) / months));
  return floorDiv(unit === 'week' ? ns + SINCE_SUNDAY_NS : ns, UNITS.get(unit)!);
}

function isoWeek(ns: bigint): bigint {
  const day = floorDiv(ns, DAY_NS);
  // Thursdays decide the year.
  const thursday = day - modulo(day + 3n, 7n) + 3n;
  const year = dateOf(thursday * DAY_NS).getUTCFullYear();
  return (thursday - floorDiv(fromMs(Date.UTC(year, 0, 1)), DAY_NS)) / 7n + 1n;
}

const ofDate =
  (read: (date: Date) => number) =>
  (ns: bigint): bigint =>
    BigInt(read(dateOf(ns)));

/** Parts of a time by their names. */
export const PARTS: ReadonlyMap<string, (ns: bigint) => bigint> = new Map([
  ['year', ofDate((date) => date.getUTCFullYear())],
  ['quarter', ofDate((date) => Math.floor(date.getUTCMonth() / 3) + 1)],
  ['month', ofDate((date) => date.getUTCMonth() + 1)],
  ['week_of_year', isoWeek],
  ['day', ofDate((date) => date.getUTCDate())],
  ['dayofweek', ofDate((date) => date.getUTCDay())],
  ['dayofyear', (ns: bigint) => floorDiv(ns, DAY_NS) - floorDiv(startOf('year', ns), DAY_NS) + 1n],
  ['hour', ofDate((date) => date.getUTCHours())],
  ['minute', ofDate((date) => date.getUTCMinutes())],
  ['second', ofDate((date) => date.getUTCSeconds())],
  ['millisecond', (ns: bigint) => modulo(ns, SECOND_NS) / 1_000_000n],
  ['microsecond', (ns: bigint) => modulo(ns, SECOND_NS) / 1000n],
  ['nanosecond', (ns: bigint) => modulo(ns, SECOND_NS)],
]);

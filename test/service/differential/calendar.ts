/** Times and timespans, ns as bigint, computed plainly: the calendar of UTC, and how they are written. */
const SECOND = 1_000_000_000n;
export const DAY = 86_400n * SECOND;
export const WEEK = 7n * DAY;

/** The quotient rounded down. */
export const floorDiv = (a: bigint, b: bigint): bigint => (a - modulo(a, b)) / b;
export const modulo = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;

/** The range that can be stored: 1900 to 2262. */
export const fits = (ns: bigint): bigint | null => (ns >= -2_208_988_800n * SECOND && ns < 2n ** 63n ? ns : null);

const dateOf = (ns: bigint): Date => new Date(Number(floorDiv(ns, 1_000_000n)));
const fromMs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

export type Period = 'day' | 'week' | 'month' | 'year';

/** The beginning of the period that the time is in, `offset` periods later. */
export function startOf(period: Period, ns: bigint, offset = 0): bigint {
  const date = dateOf(ns);
  if (period === 'day') return ns - modulo(ns, DAY) + BigInt(offset) * DAY;
  // The third of January 1970 was a Saturday.
  if (period === 'week') return ns - modulo(ns - 3n * DAY, WEEK) + BigInt(offset) * WEEK;
  const months = period === 'month' ? date.getUTCMonth() + offset : 12 * offset;
  return fromMs(Date.UTC(date.getUTCFullYear(), months, 1));
}

/** Months later, on the last day of the month where the day does not exist. */
export function addMonths(ns: bigint, months: number): bigint {
  const date = dateOf(ns);
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), last);
  return fromMs(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), day)) + modulo(ns, DAY);
}

export const UNITS: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  microsecond: 1000n,
  millisecond: 1_000_000n,
  second: SECOND,
  minute: 60n * SECOND,
  hour: 3600n * SECOND,
  day: DAY,
  week: WEEK,
};
export const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };

/** How many ends of units lie between b and a. */
export function difference(unit: string, a: bigint, b: bigint): bigint {
  const months = MONTHS[unit];
  const index = (ns: bigint): bigint => {
    const date = dateOf(ns);
    if (months !== undefined) return BigInt(Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / months));
    return floorDiv(unit === 'week' ? ns - 3n * DAY : ns, UNITS[unit]!);
  };
  return index(a) - index(b);
}

function isoWeek(ns: bigint): number {
  const day = floorDiv(ns, DAY);
  // Thursdays decide the year: 1970 began with one.
  const thursday = day - modulo(day + 3n, 7n) + 3n;
  const year = dateOf(thursday * DAY).getUTCFullYear();
  return Number((thursday - floorDiv(fromMs(Date.UTC(year, 0, 1)), DAY)) / 7n) + 1;
}

const dayOfYear = (ns: bigint): number => Number(floorDiv(ns, DAY) - floorDiv(startOf('year', ns), DAY)) + 1;

export const PARTS: Readonly<Record<string, (ns: bigint) => number>> = {
  year: (ns) => dateOf(ns).getUTCFullYear(),
  quarter: (ns) => Math.floor(dateOf(ns).getUTCMonth() / 3) + 1,
  month: (ns) => dateOf(ns).getUTCMonth() + 1,
  week_of_year: isoWeek,
  day: (ns) => dateOf(ns).getUTCDate(),
  dayofyear: dayOfYear,
  hour: (ns) => dateOf(ns).getUTCHours(),
  minute: (ns) => dateOf(ns).getUTCMinutes(),
  second: (ns) => dateOf(ns).getUTCSeconds(),
  millisecond: (ns) => Number(modulo(ns, SECOND) / 1_000_000n),
  microsecond: (ns) => Number(modulo(ns, SECOND) / 1000n),
  nanosecond: (ns) => Number(modulo(ns, SECOND)),
};
export const PART_FUNCTIONS: Readonly<Record<string, (ns: bigint) => number>> = {
  dayofweek: (ns) => dateOf(ns).getUTCDay(),
  dayofmonth: PARTS['day']!,
  dayofyear: dayOfYear,
  hourofday: PARTS['hour']!,
  monthofyear: PARTS['month']!,
  getyear: PARTS['year']!,
  week_of_year: isoWeek,
};

/** RFC 3339, with as many digits as it takes. */
export function timeText(ns: bigint): string {
  const digits = String(modulo(ns, SECOND)).padStart(9, '0').replace(/0+$/, '');
  return `${dateOf(ns - modulo(ns, SECOND))
    .toISOString()
    .slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

/** As Go writes a duration. */
export function spanText(ns: bigint): string {
  const sign = ns < 0n ? '-' : '';
  const size = ns < 0n ? -ns : ns;
  const decimal = (whole: bigint, rest: bigint, digits: number): string => {
    const fraction = String(rest).padStart(digits, '0').replace(/0+$/, '');
    return `${whole}${fraction === '' ? '' : `.${fraction}`}`;
  };
  if (size === 0n) return '0s';
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size / 1000n, size % 1000n, 3)}µs`;
  if (size < SECOND) return `${sign}${decimal(size / 1_000_000n, size % 1_000_000n, 6)}ms`;
  const [hours, minutes] = [size / (3600n * SECOND), (size / (60n * SECOND)) % 60n];
  const seconds = `${decimal((size / SECOND) % 60n, size % SECOND, 9)}s`;
  if (size < 60n * SECOND) return sign + seconds;
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes}m${seconds}`;
}

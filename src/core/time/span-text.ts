/** Timespans as Go writes durations: `1h0m1.5s`, `250ms`, `3µs`. */
const SECOND = 1_000_000_000n;

function decimal(size: bigint, unit: bigint, digits: number): string {
  const fraction = String(size % unit)
    .padStart(digits, '0')
    .replace(/0{1,9}$/, '');
  return `${size / unit}${fraction === '' ? '' : `.${fraction}`}`;
}

export function spanText(ns: bigint): string {
  const sign = ns < 0n ? '-' : '';
  const size = ns < 0n ? -ns : ns;
  if (size === 0n) return '0s';
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1000n, 3)}µs`;
  if (size < SECOND) return `${sign}${decimal(size, 1_000_000n, 6)}ms`;
  const seconds = `${decimal(size % (60n * SECOND), SECOND, 9)}s`;
  if (size < 60n * SECOND) return sign + seconds;
  const minutes = `${(size / (60n * SECOND)) % 60n}m`;
  const hours = size / (3600n * SECOND);
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes}${seconds}`;
}

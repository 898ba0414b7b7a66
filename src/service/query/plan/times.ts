/** Times as queries write them. */
import { badRequest, quote } from '../../http/api-error.ts';
import { parseDuration } from '../../http/duration.ts';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../core/time/time-text.ts';
import { timeReader } from '../../ingest/timestamps.ts';

const readTime = timeReader('');

/** A bound of a query's range, in ns: a timestamp, `now`, `now-1h`, `now+5m`. Throws an `ApiError` 400. */
export function parseTime(name: string, text: string, now: bigint): bigint {
  const relative = /^now(?:\(\))?(?:\s*([+-])\s*(\S+))?$/.exec(text.trim());
  if (relative) {
    const distance = relative[2] === undefined ? 0n : parseDuration(relative[2]);
    if (distance === undefined) throw badRequest(`${name} ${quote(text)}: wanted a duration after now, such as now-1h`);
    return clamp(relative[1] === '-' ? now - distance : now + distance);
  }
  const time = readTime(text);
  if (typeof time === 'bigint') return time;
  // Bounds may be outside the times that can be stored (clients send the year 0001 for "no start").
  const year = /^(\d{4})-\d\d-\d\dT/.exec(text)?.[1];
  if (time.includes('outside') && year !== undefined) return Number(year) < 2000 ? MIN_TIME_NS : MAX_TIME_NS;
  throw badRequest(`${name} ${quote(text)}: wanted an RFC 3339 time or a relative one such as now-1h`);
}

const clamp = (ns: bigint): bigint => (ns < MIN_TIME_NS ? MIN_TIME_NS : ns > MAX_TIME_NS ? MAX_TIME_NS : ns);

/** Up to 30 s, 30 min and 12 h; then 1, 7, 30 and 365 days. */
const STEPS_S = [
  1, 5, 10, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800, 2_592_000, 31_536_000,
];

/** The default width of the buckets of a range: the smallest step that makes at most 120 of them. */
export function autoStep(rangeNs: bigint): bigint {
  const seconds = Number(rangeNs) / 1e9;
  return BigInt(STEPS_S.find((step) => seconds / step <= 120) ?? 365 * 86_400) * 1_000_000_000n;
}

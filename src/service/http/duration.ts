/** Durations as requests write them. */
import { MAX_TIME_NS } from '../../core/time/time-text.ts';

const UNIT_NS: Readonly<Record<string, number>> = {
  ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9, d: 86_400e9, w: 7 * 86_400e9,
}; // prettier-ignore

/** Nanoseconds of a Go duration (`1h30m`, `1.5h`), days and weeks also taken; undefined for other text. */
export function parseDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (text.length > 64 || !/^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h|d|w))+$/.test(text)) return undefined;
  let sum = 0n;
  for (const [, whole, fraction = '', unit] of text.matchAll(/(\d+)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h|d|w)/gy)) {
    sum += BigInt(whole!) * BigInt(UNIT_NS[unit!]!) + BigInt(Math.round(Number(`0.${fraction || '0'}`) * UNIT_NS[unit!]!));
  }
  return sum <= MAX_TIME_NS ? sum : undefined;
}

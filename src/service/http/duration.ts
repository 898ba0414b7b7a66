/** Durations as requests write them. */
import { MAX_TIME_NS } from '../../core/time/time-text.ts';
import { UNIT_NS } from '../../language/syntax/literals.ts';

/** Nanoseconds of a Go duration (`1h30m`, `1.5h`), days and weeks also taken; undefined for other text. */
export function parseDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (text.length > 64 || !/^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h|d|w))+$/.test(text)) return undefined;
  let sum = 0n;
  for (const [, whole, fraction = '', unit] of text.matchAll(/(\d+)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h|d|w)/gy)) {
    const ns = UNIT_NS.get(unit!)!;
    sum += BigInt(whole!) * BigInt(ns) + BigInt(Math.round(Number(`0.${fraction || '0'}`) * ns));
  }
  return sum <= MAX_TIME_NS ? sum : undefined;
}

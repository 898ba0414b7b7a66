/** Ranges of regions that the kernel is given. */
import type { Region } from '../core/block.ts';

/** Throws a `RangeError` for one outside its region: that is a bug, and would let the kernel write anywhere. */
export function checkRange(region: Region, from: number, to: number): void {
  if (!(from >= 0 && from <= to && to <= region.bytes.length)) {
    throw new RangeError(`kernel: range ${from}…${to} in a region of ${region.bytes.length} bytes`);
  }
}

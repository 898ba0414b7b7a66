/** A span as it was read: its ranges of one read time each. Events of none of them go on in the next one. */
import type { Span } from '../../../core/block.ts';

export interface ReadRange {
  readonly from: number;
  readonly to: number;
  /** Undefined where it is not known: it is read anew. */
  readonly readAtMs: number | undefined;
}

export function readsOf({ from, to, reads = [] }: Pick<Span, 'from' | 'to' | 'reads'>): ReadRange[] {
  const known = reads.filter((read) => read.from >= from && read.from < to);
  if (known.length === 0) return [{ from, to, readAtMs: reads.findLast((read) => read.from <= from)?.atMs }];
  return known.map((read, n) => ({ from: n === 0 ? from : read.from, to: known[n + 1]?.from ?? to, readAtMs: read.atMs }));
}

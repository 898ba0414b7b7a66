/** A span as it was read: its ranges of one read time each. Events of none of them go on in the next one. */
import type { Span } from '../../../core/block.ts';

type SpanRange = Pick<Span, 'from' | 'to'>;

/** A range is read anew where its `readAtMs` is not known. */
export function readsOf({
  from,
  to,
  reads = [],
}: Pick<Span, 'from' | 'to' | 'reads'>): (SpanRange & { readonly readAtMs: number | undefined })[] {
  const known = reads.filter((read) => read.from >= from && read.from < to);
  if (known.length === 0) return [{ from, to, readAtMs: reads.findLast((read) => read.from <= from)?.atMs }];
  return known.map((read, n) => ({ from: n === 0 ? from : read.from, to: known[n + 1]?.from ?? to, readAtMs: read.atMs }));
}

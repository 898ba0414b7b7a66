/** A span as it was read: its ranges of one read time each. Events of none go on in the next; one without `readAtMs` is read anew. */
import type { Span } from '../../../core/block.ts';

export function readsOf(
  span: Pick<Span, 'from' | 'to' | 'reads'>,
): (Pick<Span, 'from' | 'to'> & { readonly readAtMs: number | undefined })[] {
  const { from, to, reads = [] } = span;
  const known = reads.filter((read) => read.from >= from && read.from < to);
  if (known.length === 0) return [{ from, to, readAtMs: reads.findLast((read) => read.from <= from)?.atMs }];
  return known.map((read, n) => ({
    from: n === 0 ? from : read.from,
    to: known[n + 1]?.from ?? to,
    readAtMs: read.atMs,
  }));
}

/** Batches as the database and the disk buffer keep them. */
import type { Span } from '../../core/block.ts';

/** A span as its row holds it: with the digest of everything that shapes its events. */
export interface StoredSpan extends Span {
  readonly digest: string;
}

/** A part of a span that its sink does not get. */
export type LostSpan = Pick<Span, 'source' | 'stream' | 'from' | 'to' | 'bytes' | 'reads'>;

/** A part of a batch that was split: events `[first, first + count)` under a key of their own. */
export interface StoredPart {
  readonly first: number;
  readonly count: number;
  readonly key: string;
}

export interface StoredBatch {
  readonly id: number;
  readonly key: string;
  /** Whose marks it moves (core/checkpoint-owner). */
  readonly owner: string;
  readonly dataset: string;
  readonly events: number;
  readonly spans: readonly StoredSpan[];
}

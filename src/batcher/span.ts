/** Spans of held batches, and what the digest of a span says about its events. */
import type { ReadTime, SpanGroups, Tail } from '../core/block.ts';
import type { Accounting } from './accounting.ts';

/** Ends the digest of what shapes events where the same bytes may become other events the next time. */
export const ONCE = '~';

/** True when the span's events cannot be made again from its bytes. */
export function isMadeOnce({ digest }: { readonly digest: string }): boolean {
  return digest.includes(ONCE);
}

/** Ends the digest of a span whose bytes belong to the event before it. */
export const CONTINUES = '.continues';

/** The digest of the event that the span's bytes belong to, where that begins in the span before it; undefined for any other. */
export function digestContinued({ digest }: { readonly digest: string }): string | undefined {
  return digest.endsWith(CONTINUES) ? digest.slice(0, -CONTINUES.length) : undefined;
}

/** A span while its batch is held: it also knows its events' numbers in the accounting. */
export interface HeldSpan {
  readonly accounting: Accounting;
  firstEvent: number;
  readonly source: string;
  readonly stream: string;
  readonly digest: string;
  readonly from: number;
  to: number;
  events: number;
  bytes?: number | undefined;
  sum: number;
  tail: Tail;
  /** Absent where its bytes cannot be read again. */
  readonly reads?: ReadTime[] | undefined;
  groups?: SpanGroups | undefined;
  /** A span that ended in the middle of a line, or with a cut line, takes nothing more. */
  closed: boolean;
}

/** Of two spans, the second behind the first, whose list is taken. */
export function joinGroups(first: SpanGroups | undefined, second: SpanGroups | undefined): SpanGroups | undefined {
  if (!first || !second) return undefined;
  for (const until of second.untils) first.untils.push(until);
  return { ...first, after: second.after };
}

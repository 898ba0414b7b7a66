/** What becomes of copy candidates: of one by the rows of table.ts, of all those of a stream, and of one that is no copy. Pure. */
import type { CopyChange } from '../known/change.ts';
import { isDetached, isUnread, type TrackedFile } from '../known/tracked-file.ts';
import { rowOf } from './decide.ts';
import { type CopyFacts, copyRows } from './table.ts';

/** One of the candidates of a stream whose content is in no file any more. */
export interface SoughtCopy {
  readonly size: number;
  /** It is a copy of the first of its originals, made before the last of that was read. */
  readonly isShort: boolean;
  /** The stream is the first of its originals. */
  readonly isFirst: boolean;
}

/** A file that is no copy of the streams it was compared with. */
export interface NoCopyFacts {
  /** Followed on its own account, not only as a copy candidate. */
  readonly wasFollowed: boolean;
  /** A scan came to it; before that, the file that it is a copy of may not be known either. */
  readonly isSeen: boolean;
  /** A matching file that was deleted, and is open: no scan comes to it. */
  readonly isLast: boolean;
  /** It has a rotated name of the stream's file, and was made since the stream began. */
  readonly isRotatedSince: boolean;
}

export function decideCopy(facts: CopyFacts): CopyChange {
  return rowOf(copyRows, facts).change;
}

/** The order in which to compare a stream's candidates. Where nothing read tells them apart, one that has all that was seen goes first, or the rest counts as lost. */
export function orderCopies<T extends Pick<SoughtCopy, 'size'>>(
  original: TrackedFile,
  copies: readonly T[],
): readonly T[] {
  const isWhole = ({ size }: T): number => Number(size >= original.size);
  return isUnread(original) ? copies.toSorted((a, b) => isWhole(b) - isWhole(a)) : copies;
}

/** The short copy in which a stream is read on: the longest, once no better candidate is left. Short copies of other streams do not count. */
export function chooseShort<T extends SoughtCopy>(original: TrackedFile, copies: readonly T[]): T | undefined {
  const own = copies.filter(({ isShort, isFirst }) => isFirst || !isShort);
  if (!isDetached(original) || original.isBusy || !own.every(({ isShort }) => isShort)) return undefined;
  return own.reduce<T | undefined>(
    (longest, each) => (longest && longest.size >= each.size ? longest : each),
    undefined,
  );
}

/** `new`: read from its beginning. `later`: a later scan decides. */
export function decideNoCopy({ wasFollowed, isSeen, isLast, isRotatedSince }: NoCopyFacts): 'new' | 'later' {
  return wasFollowed || isSeen || isLast || isRotatedSince ? 'new' : 'later';
}

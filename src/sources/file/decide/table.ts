/** The table of cases that docs/tailing.md shows: the facts seen of a file, the decision, and the bytes to read. Of the rows of a part, exactly one fits. */
import type { CopyChange, KnownChange } from '../known/change.ts';

/** What was seen of a file that is known. */
export interface FileFacts {
  /** What its path leads to. */
  readonly path: 'itself' | 'something else' | 'unknown';
  /** What its descriptor says. */
  readonly descriptor: 'closed' | 'open' | 'unlinked' | 'unknown';
  /** Another path leads to its inode. */
  readonly isElsewhere: boolean;
  /** The content under its inode, compared with what was read. */
  readonly content: 'same' | 'different' | 'unknown';
  /** Its file system is not mounted, or does not answer. */
  readonly isMountAway: boolean;
}

/** What was seen of a new file whose name extends that of a known one. */
export interface CopyFacts {
  /**
   * The file that it may be a copy of is still there; `truncated`: the copy alone has all bytes read; `changed`: the bytes read are not there
   * any more; `unreadable`: for less than a minute; `gone`: its content is in no file any more; `elsewhere`: it is read on in a longer copy;
   * `busy`: a read of it is under way.
   */
  readonly original: 'there' | 'truncated' | 'changed' | 'unreadable' | 'gone' | 'elsewhere' | 'busy';
  /** Compared with what was read of the original, as far as one scan may. */
  readonly content: 'same' | 'different' | 'unknown';
  /** It did not change for 10 s. */
  readonly isSettled: boolean;
  /** `all`: everything that was read of the original. `less`: only the beginning of that. `no more`: the deleted original still has bytes that the copy lacks. */
  readonly holds: 'all' | 'less' | 'no more';
}

export interface CaseRow<S, C> {
  readonly seen: string;
  /** A fact that is left out does not count; of several values any fits. */
  readonly when: { readonly [K in keyof S]?: S[K] | readonly S[K][] };
  readonly change: C;
  readonly isRead: string;
}

const NO_NAME = { path: 'something else', descriptor: ['closed', 'open'] } as const;
const ELSEWHERE = { ...NO_NAME, isElsewhere: true } as const;
const NOWHERE = { ...NO_NAME, isElsewhere: false } as const;
const ALIKE = { original: 'there', content: ['same', 'unknown'] } as const;

// prettier-ignore
export const fileRows: readonly CaseRow<FileFacts, KnownChange>[] = [
  { seen: 'its path leads to it', when: { path: 'itself', content: 'same' }, change: 'continued', isRead: 'read on' },
  { seen: 'its path leads to it, its content cannot be compared', when: { path: 'itself', content: 'unknown' }, change: 'continued', isRead: 'read on once it can be' },
  { seen: 'its path leads to it, it is open and has other content', when: { path: 'itself', content: 'different', descriptor: ['open', 'unlinked', 'unknown'] }, change: 'truncated', isRead: 'the new content from 0; a copy of the old one is looked for' },
  { seen: 'its path leads to its inode, it was closed and is another file', when: { path: 'itself', content: 'different', descriptor: 'closed' }, change: 'replaced', isRead: 'the other file from 0; a copy of the old one is looked for' },
  { seen: 'its path cannot be looked at', when: { path: 'unknown' }, change: 'undecided', isRead: 'nothing is given up' },
  { seen: 'its path leads elsewhere, its descriptor does not answer', when: { path: 'something else', descriptor: 'unknown' }, change: 'undecided', isRead: 'nothing is given up' },
  { seen: 'its last name is gone, it is open', when: { path: 'something else', descriptor: 'unlinked' }, change: 'deleted', isRead: 'to its end through the descriptor' },
  { seen: 'another path leads to its inode, with its content', when: { ...ELSEWHERE, content: 'same' }, change: 'renamed', isRead: 'read on there' },
  { seen: 'another path leads to its inode, with other content', when: { ...ELSEWHERE, content: 'different' }, change: 'replaced', isRead: 'the other file from 0; a copy of the old one is looked for' },
  { seen: 'another path, which no glob matches, leads to its inode, its content cannot be compared', when: { ...ELSEWHERE, content: 'unknown' }, change: 'undecided', isRead: 'nothing is given up, for a minute' },
  { seen: 'no path leads to its inode, its file system is not there', when: { ...NOWHERE, isMountAway: true }, change: 'away', isRead: 'waited for, up to a day' },
  { seen: 'no path leads to its inode', when: { ...NOWHERE, isMountAway: false }, change: 'gone', isRead: 'what is open, to its end; what is not is lost and counted' },
];

// prettier-ignore
export const copyRows: readonly CaseRow<CopyFacts, CopyChange>[] = [
  { seen: 'a new file that begins with what was read of another, under a longer name; the other was truncated, replaced or deleted', when: { original: 'gone', content: 'same', holds: 'all' }, change: 'copied', isRead: 'the original goes on in it' },
  { seen: 'a copy that is shorter than what was read', when: { original: 'gone', content: 'same', holds: 'less' }, change: 'short copy', isRead: 'the original goes on in a longer copy, else in the longest of these' },
  { seen: 'a copy that is shorter than its deleted, still open original', when: { original: 'gone', content: 'same', holds: 'no more' }, change: 'read copy', isRead: 'nothing: the original is read to its end' },
  { seen: 'a short copy whose original goes on in a longer one, or where it was', when: { original: 'elsewhere' }, change: 'read copy', isRead: 'nothing' },
  { seen: 'a possible copy, while its original is being read', when: { original: 'busy' }, change: 'undecided', isRead: 'nothing yet' },
  { seen: 'a possible copy that is not all compared yet', when: { original: 'gone', content: 'unknown' }, change: 'undecided', isRead: 'nothing yet; the next scan compares more' },
  { seen: 'a possible copy whose content differs', when: { original: ['there', 'gone'], content: 'different' }, change: 'new', isRead: 'from 0' },
  { seen: 'a new file that is like another, which is still there', when: { ...ALIKE, isSettled: false }, change: 'undecided', isRead: 'nothing until that is truncated, or for 10 s after its last change' },
  { seen: 'a new file like another, which was truncated since', when: { original: 'truncated' }, change: 'original truncated', isRead: 'the original begins a new stream; its copies are decided at once' },
  { seen: 'the same, changed so that its content tells', when: { original: 'changed' }, change: 'original changed', isRead: 'the original begins a new stream, or goes on behind what stayed; its copies are decided at once' },
  { seen: 'a new file like another, which cannot be read', when: { original: 'unreadable' }, change: 'undecided', isRead: 'nothing, for a minute' },
  { seen: 'a new file that is like another and did not change for 10 s', when: { ...ALIKE, isSettled: true }, change: 'new', isRead: 'from 0: two files that are alike are two files' },
];

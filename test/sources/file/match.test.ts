/** What a scan makes of what it sees of a file: the table that docs/tailing.md shows, row by row. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Change, CopyChange } from '../../../src/sources/file/known/change.ts';
import { type CopySight, match, matchCopy, type Sight } from '../../../src/sources/file/match/match.ts';

interface Row<S, C> {
  readonly seen: string;
  /** Facts that a row leaves out do not count: looking at one of them would cost, and fails the test. */
  readonly sight: Partial<S>;
  readonly change: C;
  readonly isRead: string;
}

const files: readonly Row<Sight, Change>[] = [
  { seen: 'its path leads to it', sight: { path: 'itself', content: 'same' }, change: 'continued', isRead: 'read on' },
  {
    seen: 'its path leads to it, its content cannot be compared',
    sight: { path: 'itself', content: 'unknown' },
    change: 'continued',
    isRead: 'read on once it can be',
  },
  {
    seen: 'its path leads to it, it is open and has other content',
    sight: { path: 'itself', content: 'different', descriptor: 'open' },
    change: 'truncated',
    isRead: 'the new content from 0; a copy of the old one is looked for',
  },
  {
    seen: 'its path leads to its inode, it was closed and is another file',
    sight: { path: 'itself', content: 'different', descriptor: 'closed' },
    change: 'replaced',
    isRead: 'the other file from 0; a copy of the old one is looked for',
  },
  { seen: 'its path cannot be looked at', sight: { path: 'unknown' }, change: 'undecided', isRead: 'nothing is given up' },
  {
    seen: 'its path leads elsewhere, its descriptor does not answer',
    sight: { path: 'something else', descriptor: 'unknown' },
    change: 'undecided',
    isRead: 'nothing is given up',
  },
  {
    seen: 'its last name is gone, it is open',
    sight: { path: 'something else', descriptor: 'unlinked' },
    change: 'deleted',
    isRead: 'to its end through the descriptor',
  },
  {
    seen: 'another path leads to its inode, with its content',
    sight: { path: 'something else', descriptor: 'closed', isElsewhere: true, content: 'same' },
    change: 'renamed',
    isRead: 'read on there',
  },
  {
    seen: 'another path leads to its inode, with other content',
    sight: { path: 'something else', descriptor: 'closed', isElsewhere: true, content: 'different' },
    change: 'replaced',
    isRead: 'the other file from 0; a copy of the old one is looked for',
  },
  {
    seen: 'another path leads to its inode, its content cannot be compared',
    sight: { path: 'something else', descriptor: 'open', isElsewhere: true, content: 'unknown' },
    change: 'undecided',
    isRead: 'nothing is given up, for a minute',
  },
  {
    seen: 'no path leads to its inode, its file system is not there',
    sight: { path: 'something else', descriptor: 'closed', isElsewhere: false, isMountAway: true },
    change: 'away',
    isRead: 'waited for, up to a day',
  },
  {
    seen: 'no path leads to its inode',
    sight: { path: 'something else', descriptor: 'closed', isElsewhere: false, isMountAway: false },
    change: 'gone',
    isRead: 'what is open, to its end; what is not is lost and counted',
  },
];

const copies: readonly Row<CopySight, CopyChange>[] = [
  {
    seen: 'a new file whose name extends that of another, which was truncated, replaced or deleted; it holds what was read of that',
    sight: { original: 'gone', content: 'same' },
    change: 'copied',
    isRead: 'the other one is read on in it',
  },
  {
    seen: 'the same, not all of it is compared yet',
    sight: { original: 'gone', content: 'unknown' },
    change: 'undecided',
    isRead: 'nothing yet; the next scan compares more',
  },
  {
    seen: 'the same, its content differs',
    sight: { content: 'different' },
    change: 'new',
    isRead: 'from 0',
  },
  {
    seen: 'a new file that is like another, which is still there',
    sight: { original: 'there', content: 'same', isSettled: false },
    change: 'undecided',
    isRead: 'nothing until that is truncated, or for 10 s after its last change',
  },
  {
    seen: 'the same, it did not change for 10 s',
    sight: { original: 'there', content: 'same', isSettled: true },
    change: 'new',
    isRead: 'from 0: two files that are alike are two files',
  },
];

/** Asking for a fact that is not in the row throws. */
function only<S extends object>(facts: Partial<S>): S {
  return new Proxy(facts, {
    get(target, name) {
      if (!(name in target)) throw new Error(`${String(name)} was looked at`);
      return target[name as keyof typeof target];
    },
  }) as S;
}

test.for(files)('file is $change: $seen', ({ sight, change }) => {
  expect(match(only(sight))).toBe(change);
});

test.for(copies)('copy is $change: $seen', ({ sight, change }) => {
  // Its three facts cost nothing more once one of them is known.
  expect(matchCopy({ original: 'gone', content: 'same', isSettled: false, ...sight })).toBe(change);
});

test('docs/tailing.md shows the same table', () => {
  const rows = [...files, ...copies].map(({ seen, change, isRead }) => `| ${seen} | ${change} | ${isRead} |`);
  const docs = readFileSync(new URL('../../../docs/tailing.md', import.meta.url), 'utf8').split('\n');
  const begin = docs.indexOf('| what a scan sees | it is | what is read |');
  expect(begin).toBeGreaterThan(0);
  expect(docs.slice(begin + 2, begin + 2 + rows.length + 1)).toEqual([...rows, '']);
});

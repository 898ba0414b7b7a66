/** What a start or a scan makes of what it sees of a file: the table that docs/tailing.md shows, row by row. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { KnownChange, NewChange, SavedChange } from '../../../src/sources/file/known/change.ts';
import { Holdings } from '../../../src/sources/file/known/holdings.ts';
import { newTrackedFile, type TrackedFile } from '../../../src/sources/file/known/tracked-file.ts';
import {
  type CopySight,
  match,
  matchAt,
  matchCopy,
  matchHeld,
  matchSaved,
  matchScan,
  type Scan,
  type Sight,
  type Sighting,
} from '../../../src/sources/file/match/match.ts';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import type { FoundFile } from '../../../src/sources/file/scan/finder.ts';

interface Row<S, C> {
  readonly seen: string;
  /** Facts that a row leaves out do not count: looking at one of them would cost, and fails the test. */
  readonly sight: Partial<S>;
  readonly change: C;
  readonly isRead: string;
}

const files: readonly Row<Sight, KnownChange>[] = [
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
    seen: 'another path, which no glob matches, leads to its inode, its content cannot be compared',
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

const copies: readonly Row<CopySight, NewChange>[] = [
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

const ELSEWHERE = { path: 'something else', descriptor: 'closed', isElsewhere: true } as const;

/** A further look finds it nowhere. */
const NOWHERE = { path: 'something else', descriptor: 'closed', isElsewhere: false, isMountAway: false } as const;

const saved: readonly (Row<Sight, SavedChange> & { readonly isReached: boolean })[] = [
  {
    seen: 'at a start: another path leads to its inode, with its content; a pattern leads there, or to where it was first',
    sight: { ...ELSEWHERE, content: 'same' },
    isReached: true,
    change: 'renamed',
    isRead: 'read on there',
  },
  {
    seen: 'the same, no pattern leads to either',
    sight: { ...ELSEWHERE, content: 'same' },
    isReached: false,
    change: 'left out',
    isRead: 'nothing; its position is kept while it exists',
  },
  {
    seen: 'at a start: no pattern leads to it, its file system is not there',
    sight: { ...NOWHERE, isMountAway: true },
    isReached: false,
    change: 'left out',
    isRead: 'nothing; its position is kept',
  },
  {
    seen: 'at a start: its inode is that of another file, whether or not a pattern leads to it',
    sight: { ...ELSEWHERE, content: 'different' },
    isReached: false,
    change: 'replaced',
    isRead: 'a copy of it is looked for; the other file is read as a new one',
  },
  {
    seen: 'at a start: no path leads to its inode, whether or not a pattern leads to it',
    sight: NOWHERE,
    isReached: false,
    change: 'gone',
    isRead: 'a copy of it is looked for; what no copy has is lost and counted',
  },
];

interface ScanRow {
  readonly seen: string;
  readonly known?: readonly TrackedFile[];
  readonly found: readonly FoundFile[];
  readonly scan?: Partial<Scan>;
  /** What a look at another name of a known file sees. */
  readonly otherName?: Partial<Sight>;
  /** False where new files are gone before they can be opened. */
  readonly isOpened?: boolean;
  /** In the order in which they are acted on. */
  readonly changes: readonly string[];
  readonly isRead: string;
}

const at = (path: string, inode: FileStat['inode'], device = 1): FoundFile => ({
  path,
  stat: { kind: 'file', device, inode, size: 1, mtimeMs: 0, bornMs: 5, links: 1 },
});

function knownAt(path: string, inode: FileStat['inode'], disk: Partial<TrackedFile['disk']> = {}): TrackedFile {
  const file = newTrackedFile(path, at(path, inode).stat, { format: 'auto', wrapFields: {}, fields: {} }, 0, 1);
  Object.assign(file.disk, disk);
  return file;
}

const scans: readonly ScanRow[] = [
  {
    seen: 'a path leads to a file that is not known',
    found: [at('/a.log', 1)],
    changes: ['new /a.log'],
    isRead: 'from 0',
  },
  {
    seen: 'a path leads to a file that is not known; before it can be opened, it is gone',
    found: [at('/a.log', 1)],
    isOpened: false,
    changes: ['new /a.log', 'gone'],
    isRead: 'nothing; its bytes count as lost unless a search at once finds it',
  },
  {
    seen: 'a path leads to a file that is not known, and that did not change for longer than `ignore_older`',
    found: [at('/a.log', 1)],
    scan: { isIgnored: () => true },
    changes: ['ignored /a.log'],
    isRead: 'nothing until it changes',
  },
  {
    seen: 'a second name of a file that the scan saw',
    known: [knownAt('/a.log', 1)],
    found: [at('/a.log', 1), at('/b.log', 1)],
    changes: ['continued /a.log'],
    isRead: 'once, under the first path in order',
  },
  {
    seen: 'its path leads to a new file, another path that the globs match to its inode; another file is gone',
    known: [knownAt('/a.log', 1), knownAt('/b.log', 2)],
    found: [at('/a.log', 3), at('/a.log.1', 1)],
    otherName: { ...NOWHERE, isElsewhere: true, content: 'same' },
    changes: ['renamed /a.log.1', 'gone', 'new /a.log'],
    isRead: 'the renamed file is read on, the new one from 0',
  },
  {
    seen: 'a new path leads to its inode, with other content',
    known: [knownAt('/a.log', 1)],
    found: [at('/b.log', 1)],
    otherName: { ...NOWHERE, isElsewhere: true, content: 'different' },
    changes: ['replaced', 'new /b.log'],
    isRead: 'the new file from 0; a copy of the old one is looked for',
  },
  {
    seen: 'its path leads to its inode, it was closed, empty, and made at another time',
    known: [knownAt('/a.log', 1, { bornMs: 4 })],
    found: [at('/a.log', 1)],
    changes: ['replaced', 'new /a.log'],
    isRead: 'the new file from 0',
  },
  {
    seen: 'its path leads to another inode, which may be its own by now (`stable_inodes: false`), with its content',
    known: [knownAt('/a.log', 1)],
    found: [at('/a.log', 2)],
    scan: { stableInodes: false, hasContent: () => true },
    changes: ['continued /a.log'],
    isRead: 'read on',
  },
  {
    seen: 'the same, with other content',
    known: [knownAt('/a.log', 1)],
    found: [at('/a.log', 2)],
    scan: { stableInodes: false, hasContent: () => false },
    changes: ['gone', 'new /a.log'],
    isRead: 'the new file from 0',
  },
  {
    seen: 'its file system was away and is back, with its inode and content at its path',
    known: [knownAt('/a.log', 1, { place: 'away' })],
    found: [at('/a.log', 1, 2)],
    scan: { hasContent: () => true },
    changes: ['continued /a.log'],
    isRead: 'read on',
  },
  {
    seen: 'it is deleted and open, and a scan of its folder alone comes by',
    known: [knownAt('/a.log', 1, { place: 'deleted', fd: 3 })],
    found: [],
    scan: { folder: '/' },
    changes: [],
    isRead: 'as before, through the descriptor',
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

test.for(saved)('saved file is $change: $seen', ({ sight, isReached, change }) => {
  expect(matchSaved(only(sight), isReached)).toBe(change);
});

test.for(copies)('copy is $change: $seen', ({ sight, change }) => {
  // Its three facts cost nothing more once one of them is known.
  expect(matchCopy({ original: 'gone', content: 'same', isSettled: false, ...sight })).toBe(change);
});

/** Plays a scan; does of what `Apply` does what later decisions depend on. */
function play({ known = [], found, scan, otherName, isOpened = true }: ScanRow): string[] {
  const holdings = new Holdings(false);
  for (const file of known) holdings.add(file);
  const number = 2;
  const facts = { number, folder: undefined, stableInodes: true, isIgnored: () => false, found };
  const look: Scan['look'] = (_, name) => only<Sighting>({ found: name, held: undefined, ...(name ? otherName : NOWHERE) });
  const changes: string[] = [];
  for (const change of matchScan(only<Scan>({ ...facts, look, ...scan }), holdings)) {
    if (!change) continue;
    changes.push(change.path === undefined ? change.kind : `${change.kind} ${change.path}`);
    if ('file' in change) {
      change.file.disk.scan = number;
      if (change.kind === 'replaced') holdings.detach(change.file);
    } else if (change.kind === 'new') {
      holdings.add(knownAt(change.path, change.stat.inode, { scan: number, fd: isOpened ? 7 : undefined }));
    }
  }
  return changes;
}

test.for(scans)('scan sees: $seen', (row) => {
  expect(play(row)).toEqual(row.changes);
});

test('a look at the path of a file tells the file from another one with its inode', () => {
  const file = knownAt('/a.log', 1);
  const { stat } = at('/a.log', 1);
  expect(matchAt(file, stat)).toBe('continued');
  expect(matchAt(file, { ...stat, bornMs: 6 })).toBe('replaced');
  expect(matchAt(file, { ...stat, inode: 2 })).toBe(undefined);
});

test('descriptors tell between two scans what was deleted, and whose unfinished line may be due', () => {
  const { stat } = at('/a.log', 1);
  const kindOf = (file: TrackedFile, links: number): string | undefined => matchHeld(file, { ...stat, links })?.kind;
  const unfinished = knownAt('/a.log', 1);
  unfinished.stream.readTo = 1;
  expect(kindOf(knownAt('/a.log', 1), 0)).toBe('deleted');
  expect(kindOf(knownAt('/a.log', 1, { place: 'deleted' }), 0)).toBe('continued');
  expect(kindOf(unfinished, 1)).toBe('continued');
  // The reader's turn comes.
  expect(kindOf(knownAt('/a.log', 1), 1)).toBe(undefined);
});

test('docs/tailing.md shows the same table', () => {
  const scanned = scans.map(({ changes, ...row }) => ({ ...row, change: changes.map((each) => each.split(' ')[0]).join(', ') || '–' }));
  const rows = [...files, ...scanned, ...copies, ...saved].map(({ seen, change, isRead }) => `| ${seen} | ${change} | ${isRead} |`);
  const docs = readFileSync(new URL('../../../docs/tailing.md', import.meta.url), 'utf8').split('\n');
  const begin = docs.indexOf('| what a scan sees | it is | what is read |');
  expect(begin).toBeGreaterThan(0);
  expect(docs.slice(begin + 2, begin + 2 + rows.length + 1)).toEqual([...rows, '']);
});

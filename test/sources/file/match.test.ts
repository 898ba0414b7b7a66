/** What a start or a scan makes of what it sees of a file: the table that docs/tailing.md shows, row by row. */
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { MAX_ROUNDS } from '../../../src/sources/file/limits.ts';
import { ChangeHandler } from '../../../src/sources/file/act/change-handler.ts';
import type { SavedChange } from '../../../src/sources/file/known/change.ts';
import { KnownFiles } from '../../../src/sources/file/known/known-files.ts';
import { fingerprintOf } from '../../../src/sources/file/known/content.ts';
import { newTrackedFile, type TrackedFile } from '../../../src/sources/file/known/tracked-file.ts';
import {
  decide,
  decideHeld,
  decideSaved,
  fits,
  type Observations,
  type SavedObservation,
} from '../../../src/sources/file/decide/decide.ts';
import {
  copyRows,
  fileRows,
  type CopyFacts,
  type CaseRow,
  type FileFacts,
} from '../../../src/sources/file/decide/table.ts';
import { observeAt, type ObserveOptions } from '../../../src/sources/file/observe/observe-file.ts';
import { observePaths, observeRest, type ScanOptions } from '../../../src/sources/file/observe/observe-scan.ts';
import { type FileStat, NO_FILE } from '../../../src/sources/file/scan/file-system.ts';
import type { FoundFile } from '../../../src/sources/file/scan/finder.ts';
import { failingFileSystem, TailRig } from './tail-rig.ts';

/** Every combination of facts. */
function combinations<S>(facts: { readonly [K in keyof S]: readonly S[K][] }): S[] {
  let all: Partial<S>[] = [{}];
  for (const name of Object.keys(facts) as (keyof S)[])
    all = all.flatMap((each) => facts[name].map((fact) => ({ ...each, [name]: fact })));
  return all as S[];
}

const CONTENT = ['same', 'different', 'unknown'] as const;
const fileFacts = combinations<FileFacts>({
  path: ['itself', 'something else', 'unknown'],
  descriptor: ['closed', 'open', 'unlinked', 'unknown'],
  isElsewhere: [true, false],
  content: CONTENT,
  isMountAway: [true, false],
});
const copyFacts = combinations<CopyFacts>({
  original: ['there', 'truncated', 'changed', 'unreadable', 'gone', 'elsewhere', 'busy'],
  content: CONTENT,
  isSettled: [true, false],
  holds: ['all', 'less', 'no more'],
});

function rowsOf<S>(rows: readonly CaseRow<S, unknown>[], facts: S): number {
  return rows.filter(({ when }) => fits(when, facts)).length;
}

test('whatever is seen of a known file, or of a possible copy, one row of the table fits, and every row fits something', () => {
  for (const facts of fileFacts) expect({ facts, rows: rowsOf(fileRows, facts) }).toEqual({ facts, rows: 1 });
  for (const facts of copyFacts) expect({ facts, rows: rowsOf(copyRows, facts) }).toEqual({ facts, rows: 1 });
  for (const { when, seen } of fileRows)
    expect({ seen, isMet: fileFacts.some((facts) => fits(when, facts)) }).toEqual({ seen, isMet: true });
  for (const { when, seen } of copyRows)
    expect({ seen, isMet: copyFacts.some((facts) => fits(when, facts)) }).toEqual({ seen, isMet: true });
});

const ELSEWHERE: FileFacts = {
  path: 'something else',
  descriptor: 'closed',
  isElsewhere: true,
  content: 'same',
  isMountAway: false,
};

/** A further look finds it nowhere. */
const NOWHERE: FileFacts = { ...ELSEWHERE, isElsewhere: false };

interface SavedRow {
  readonly seen: string;
  readonly facts: FileFacts;
  readonly isReached: boolean;
  readonly change: SavedChange;
  readonly isRead: string;
}

const saved: readonly SavedRow[] = [
  {
    seen: 'at a start: another path leads to its inode, with its content; a pattern leads there, or to where it was first',
    facts: { ...ELSEWHERE, content: 'same' },
    isReached: true,
    change: 'renamed',
    isRead: 'read on there',
  },
  {
    seen: 'the same, no pattern leads to either',
    facts: { ...ELSEWHERE, content: 'same' },
    isReached: false,
    change: 'unmatched',
    isRead: 'nothing; its position is kept while it exists',
  },
  {
    seen: 'at a start: no pattern leads to it, its file system is not there',
    facts: { ...NOWHERE, isMountAway: true },
    isReached: false,
    change: 'unmatched',
    isRead: 'nothing; its position is kept',
  },
  {
    seen: 'at a start: its inode is that of another file, whether or not a pattern leads to it',
    facts: { ...ELSEWHERE, content: 'different' },
    isReached: false,
    change: 'replaced',
    isRead: 'a copy of it is looked for; the other file is read as a new one',
  },
  {
    seen: 'at a start: no path leads to its inode, whether or not a pattern leads to it',
    facts: NOWHERE,
    isReached: false,
    change: 'gone',
    isRead: 'a copy of it is looked for; what no copy has is lost and counted',
  },
];

/** What a start decides of saved files, the newest first. */
function kindsOf(...files: readonly Pick<SavedObservation, 'facts' | 'isReached'>[]): SavedChange[] {
  const [id, path, source, identity, contentSum] = ['s', '/a.log', 'app', undefined, undefined];
  const record = {
    id,
    path,
    source,
    identity,
    contentSum,
    startAt: 0,
    createdMs: 0,
    resumeAt: 0,
    tail: { length: 0, crc: 0 },
  };
  return decideSaved(files.map((file) => ({ record, found: undefined, inode: undefined, ...file }))).map(
    ({ kind }) => kind,
  );
}

interface ScanRow {
  readonly seen: string;
  readonly known?: readonly TrackedFile[];
  readonly found: readonly FoundFile[];
  readonly scan?: Partial<ScanOptions>;
  /** What is in every file begins otherwise than what is known. */
  readonly isOther?: boolean;
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
  if (disk.bornMs === undefined) file.stream.identity = { ...file.stream.identity, ...fingerprintOf(Buffer.from('x')) };
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
    changes: ['renamed /a.log.1', 'gone', 'new /a.log'],
    isRead: 'the renamed file is read on, the new one from 0',
  },
  {
    seen: 'a new path leads to its inode, with other content',
    known: [knownAt('/a.log', 1)],
    found: [at('/b.log', 1)],
    isOther: true,
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
    scan: { stableInodes: false },
    changes: ['continued /a.log'],
    isRead: 'read on',
  },
  {
    seen: 'the same, with other content',
    known: [knownAt('/a.log', 1)],
    found: [at('/a.log', 2)],
    scan: { stableInodes: false },
    isOther: true,
    changes: ['gone', 'new /a.log'],
    isRead: 'the new file from 0',
  },
  {
    seen: 'the same, where two known paths are now names of one file',
    known: [knownAt('/a.log', 1), knownAt('/b.log', 2)],
    found: [at('/a.log', 3), at('/b.log', 3)],
    scan: { stableInodes: false },
    changes: ['continued /a.log', 'gone'],
    isRead: 'the first goes on; the other is read to its end if it is open',
  },
  {
    seen: 'its file system was away and is back, with its inode and content at its path',
    known: [knownAt('/a.log', 1, { place: 'away' })],
    found: [at('/a.log', 1, 2)],
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

test.for(saved)('saved file is $change: $seen', ({ facts, isReached, change }) => {
  expect(kindsOf({ facts, isReached })).toEqual([change]);
});

test('of saved files with one inode the newest has it, unless it is lost or unmatched', () => {
  const inode = '1:1';
  const there = { facts: ELSEWHERE, isReached: true, inode };
  const away = { facts: { ...NOWHERE, isMountAway: true }, isReached: true, inode };
  expect(kindsOf(there, there, away)).toEqual(['renamed', 'replaced', 'gone']);
  expect(kindsOf(away, there)).toEqual(['away', 'replaced']);
  const isOther = { ...there, facts: { ...ELSEWHERE, content: 'different' as const } };
  expect(kindsOf(isOther, { ...there, isReached: false }, there)).toEqual(['replaced', 'unmatched', 'renamed']);
});

/** The found files alone, each with one byte in it. */
function systemOf(found: readonly FoundFile[], byte: string): ObserveOptions['fileSystem'] {
  return failingFileSystem(() => ({
    stat: (path) =>
      found.find((each) => each.path === path)?.stat ??
      (path === '/' ? { ...NO_FILE, kind: 'directory', device: 1 } : undefined),
    readdir: () => [],
    open: (path) => found.findIndex((each) => each.path === path),
    fstat: (fd) => found[fd]!.stat,
    peek: (_, into, position) => (position === 0 ? into.write(byte) : 0),
    close: () => {},
    pathOf: () => undefined,
    realPath: (path) => path,
  }));
}

/** Plays a scan in its rounds; does of what `ChangeHandler` does what later decisions depend on. */
function play({ known = [], found, scan, isOther = false, isOpened = true }: ScanRow): string[] {
  const knownFiles = new KnownFiles(false);
  for (const file of known) knownFiles.add(file);
  const fileSystem = systemOf(found, isOther ? 'y' : 'x');
  const options = {
    fileSystem,
    nowMs: 0,
    folders: new Map(),
    number: 2,
    folder: undefined,
    stableInodes: true,
    isIgnored: () => false,
    isRotated: () => false,
    ...scan,
  };
  const changes: string[] = [];
  const act = (observations: Observations): void => {
    for (const decision of decide(observations)) {
      if ('observation' in decision) {
        const { file, found: where } = decision.observation;
        file.disk.scan = options.number;
        if (decision.kind === 'continued') {
          knownFiles.replaceInode(file, where!.stat);
          knownFiles.place(file, 'matched');
        }
        if (decision.kind === 'replaced') knownFiles.detach(file);
        changes.push(where && decision.kind !== 'replaced' ? `${decision.kind} ${where.path}` : decision.kind);
      } else if (decision.kind === 'ignored') changes.push(`ignored ${decision.found[0]!.path}`);
      else {
        const { path, stat } = decision.found;
        knownFiles.add(
          knownAt(path, stat.inode, { scan: isOpened ? options.number : 0, fd: isOpened ? 7 : undefined }),
        );
        changes.push(`new ${path}`);
      }
    }
  };
  const { known: inPlace, rest } = observePaths(found, knownFiles, options);
  act({ known: inPlace, unknown: [] });
  for (
    let observations = observeRest(rest, knownFiles, options);
    ;
    observations = observeRest(rest, knownFiles, options)
  ) {
    act(observations);
    if (observations.known.length === 0) break;
  }
  // A look at those that could not be opened finds them gone.
  if (!isOpened) act(observeRest([], knownFiles, { ...options, fileSystem: systemOf([], '') }));
  return changes;
}

test.for(scans)('scan sees: $seen', (row) => {
  expect(play(row)).toEqual(row.changes);
});

test('a scan ends after its rounds where nothing that it decides comes to pass', async () => {
  const rig = new TailRig();
  await rig.play`write a.log one; start; drain`;
  const act = vi.spyOn(ChangeHandler.prototype, 'handle').mockImplementation(() => {});
  await rig.source.scanOnce();
  // Once for its path, and once in each round.
  expect(act).toHaveBeenCalledTimes(1 + MAX_ROUNDS);
  act.mockRestore();
});

test('a look at the path of a file tells the file from another one with its inode', () => {
  const file = knownAt('/a.log', 1);
  const { stat } = at('/a.log', 1);
  const empty = newTrackedFile('/a.log', stat, file.stream.shape, 0, 1);
  const kindOf = (seen: Partial<FileStat>, of = empty): string | undefined => {
    const known = [observeAt(of, { path: '/a.log', stat: { ...stat, ...seen } }, 'matched')];
    return decide({ known, unknown: [] })[0]?.kind;
  };
  expect(kindOf({})).toBe('continued');
  expect(kindOf({ bornMs: 6 })).toBe('replaced');
  // What was read of it tells.
  expect(kindOf({ bornMs: 6 }, file)).toBe('continued');
});

test('descriptors tell between two scans what was deleted, and whose unfinished line may be due', () => {
  const { stat } = at('/a.log', 1);
  const kindOf = (file: TrackedFile, links: number): string | undefined => decideHeld(file, { ...stat, links });
  const unfinished = knownAt('/a.log', 1);
  unfinished.stream.readTo = 1;
  expect(kindOf(knownAt('/a.log', 1), 0)).toBe('deleted');
  expect(kindOf(knownAt('/a.log', 1, { place: 'deleted' }), 0)).toBe('continued');
  expect(kindOf(unfinished, 1)).toBe('continued');
  // The reader's turn comes.
  expect(kindOf(knownAt('/a.log', 1), 1)).toBe(undefined);
});

test('docs/tailing.md shows the same table', () => {
  const scanned = scans.map(({ changes, ...row }) => ({
    ...row,
    change: changes.map((each) => each.split(' ')[0]).join(', ') || '–',
  }));
  const rows = [...fileRows, ...scanned, ...copyRows, ...saved].map(
    ({ seen, change, isRead }) => `| ${seen} | ${change} | ${isRead} |`,
  );
  const docs = readFileSync(new URL('../../../docs/tailing.md', import.meta.url), 'utf8').split('\n');
  const begin = docs.indexOf('| what a scan sees | it is | what is read |');
  expect(begin).toBeGreaterThan(0);
  expect(docs.slice(begin + 2, begin + 2 + rows.length + 1)).toEqual([...rows, '']);
});

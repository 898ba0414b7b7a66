/**
 * What holds of every decision about files, whatever is known and seen: it depends on its input alone, in whatever order that comes; no two
 * streams get one file; each known stream goes on, waits, or is given up, for a reason that is there on disk.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decide,
  decideBeside,
  decideSaved,
  type Decision,
  type Observations,
} from '../../../src/sources/file/decide/decide.ts';
import type { FileFacts } from '../../../src/sources/file/decide/table.ts';
import { fingerprintOf } from '../../../src/sources/file/known/content.ts';
import { KnownFiles } from '../../../src/sources/file/known/known-files.ts';
import { type FileLocation, newTrackedFile, type TrackedFile } from '../../../src/sources/file/known/tracked-file.ts';
import { observeBeside, type ObserveOptions } from '../../../src/sources/file/observe/observe-file.ts';
import { observePaths, observeRest, type ScanOptions } from '../../../src/sources/file/observe/observe-scan.ts';
import { type FileStat, type FileSystem, inodeKey, NO_FILE } from '../../../src/sources/file/scan/file-system.ts';
import type { FoundFile } from '../../../src/sources/file/scan/finder.ts';
import { isRotatedName } from '../../../src/sources/file/scan/rotated-names.ts';
import { failingFileSystem, systemError } from './tail-rig.ts';

const NAMES = ['a.log', 'a.log.1', 'a.log.2', 'b.log', 'b.log.1'];
const INODES = [1, 2, 3, 4, 5];
const SCAN = 7;
const RUNS = { numRuns: 3000 };

const shape = { format: 'auto', wrapFields: {}, fields: {} } as const;
const letter = fc.constantFrom('x', 'y');
const inode = fc.constantFrom(...INODES);

const knownFile = fc.record({
  name: fc.constantFrom(...NAMES),
  inode,
  place: fc.constantFrom<FileLocation>('matched', 'matched', 'aside', 'deleted', 'missing', 'away', 'detached'),
  content: letter,
  /** Something is known of its content. */
  isRead: fc.boolean(),
  isOpen: fc.boolean(),
  bornMs: fc.constantFrom(5, 6),
});

/** What is known, and what is on disk: by name the inode, with links among them, and by inode the content. */
const worlds = fc.record({
  known: fc.uniqueArray(knownFile, { maxLength: 4, selector: (file) => file.inode, comparator: 'IsStrictlyEqual' }),
  names: fc.dictionary(fc.constantFrom(...NAMES), inode, { maxKeys: 5 }),
  contents: fc.tuple(letter, letter, letter, letter, letter),
  failing: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
  isMounted: fc.boolean(),
  isAllMatched: fc.boolean(),
  stableInodes: fc.boolean(),
  ignored: fc.option(inode, { nil: undefined }),
});

type World = typeof worlds extends fc.Arbitrary<infer W> ? W : never;

const pathOf = (name: string): string => `/l/${name}`;

/** The world as the file source sees it. */
class Scene {
  readonly known = new KnownFiles(false);
  readonly files: TrackedFile[] = [];
  readonly found: FoundFile[] = [];
  readonly options: ScanOptions;
  readonly #world: World;

  constructor(world: World) {
    // Nothing is there of a file system that is not mounted.
    this.#world = world.isMounted ? world : { ...world, names: {} };
    for (const { name, inode, place, content, isRead, isOpen, bornMs } of world.known) {
      const path = pathOf(name);
      if (place === 'matched' && this.known.at(path)) continue;
      const file = newTrackedFile(path, { ...this.statOf(inode), bornMs }, shape, 0, 1);
      Object.assign(file.disk, { place, fd: isOpen && place !== 'detached' ? inode : undefined });
      if (isRead) file.stream.identity = { ...file.stream.identity, ...fingerprintOf(Buffer.from(content)) };
      this.known.add(file);
      this.files.push(file);
    }
    for (const name of NAMES.filter(
      (each) => each in this.#world.names && (world.isAllMatched || each.endsWith('.log')),
    ))
      if (name !== world.failing) this.found.push({ path: pathOf(name), stat: this.statOf(this.#world.names[name]!) });
    const isRotated: ObserveOptions['isRotated'] = ({ path }, of) => isRotatedName(path, of.firstPath);
    const isIgnored: ScanOptions['isIgnored'] = ({ inode }) => inode === world.ignored;
    const { stableInodes } = world;
    const scan = { number: SCAN, folder: undefined, stableInodes, isIgnored };
    this.options = { ...scan, fileSystem: this.#fileSystem(), nowMs: 0, folders: new Map(), isRotated };
  }

  statOf(inode: number): FileStat {
    const links = Object.values(this.#world.names).filter((each) => each === inode).length;
    return { kind: 'file', device: 1, inode, size: 1, mtimeMs: 0, bornMs: 5, links };
  }

  /** The path by which its inode can be found; those that fail lead nowhere. */
  pathsOf(inode: number | bigint): string[] {
    const { names, failing } = this.#world;
    return NAMES.filter((name) => names[name] === inode && name !== failing).map(pathOf);
  }

  #fileSystem(): FileSystem {
    const { names, contents, failing, isMounted } = this.#world;
    const inodeAt = (path: string): number | undefined => {
      if (failing !== undefined && path === pathOf(failing)) throw systemError('EIO');
      return names[path.slice('/l/'.length)];
    };
    const folder = { ...NO_FILE, kind: 'directory', device: isMounted ? 1 : 9 } as const;
    return failingFileSystem(() => ({
      stat(path) {
        if (path === '/' || path === '/l') return folder;
        const at = inodeAt(path);
        return at === undefined ? undefined : this.fstat!(at);
      },
      readdir: () =>
        Object.keys(names).map((name) => ({ name, isFile: () => true, isSymbolicLink: () => false }) as never),
      open: (path) => inodeAt(path)!,
      fstat: (fd) => this.statOf(fd),
      peek: (fd, into, position) => (position === 0 ? into.write(contents[fd - 1]!) : 0),
      close: () => {},
      pathOf: () => undefined,
      realPath: (path) => path,
    }));
  }
}

/** As text, to compare. */
function describe(decision: Decision): string {
  if (decision.kind === 'ignored') return `ignored ${decision.found.map(({ path }) => path).join(' ')}`;
  if (decision.kind === 'new') return `new ${decision.found.path}`;
  const { observation, next } = decision;
  const { file, found } = observation;
  return `${file.stream.firstPath} ${file.stream.identity.inode} ${decision.kind} ${found?.path} ${next?.found.path}`;
}

/** The inodes that the decisions give to streams. */
function given(decisions: readonly Decision[]): string[] {
  return decisions.flatMap((each) => {
    if (each.kind === 'new') return [inodeKey(each.found.stat)];
    if (each.kind === 'ignored') return [];
    const { observation, next } = each;
    const own =
      each.kind === 'continued' || each.kind === 'renamed'
        ? [inodeKey((observation.found?.stat ?? observation.held)!)]
        : [];
    return next ? [...own, inodeKey(next.found.stat)] : own;
  });
}

/** What was observed, but not the files that it is of: whoever acts changes those. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const [name, each] of Object.entries(value)) if (name !== 'file' && name !== 'disk') freeze(each);
}

/** Decides, and holds to it that the same comes of the same, in any order. */
function decideTwice(observations: Observations): Decision[] {
  const before = JSON.stringify(observations);
  freeze(observations);
  const decisions = decide(observations);
  expect(decide(observations)).toEqual(decisions);
  expect(JSON.stringify(observations)).toBe(before);
  const turned = decide({ known: observations.known.toReversed(), unknown: observations.unknown.toReversed() });
  expect(turned.map(describe).sort()).toEqual(decisions.map(describe).sort());
  return decisions;
}

/** What a scan decides before it looks again. */
function scanOnce({ known, found, options }: Scene): { readonly known: Decision[]; readonly unknown: Decision[] } {
  const seen = observePaths(found, known, options);
  const inPlace = decideTwice({ known: seen.known, unknown: [] });
  for (const each of inPlace) {
    if (!('observation' in each)) continue;
    each.observation.file.disk.scan = SCAN;
    if (each.kind === 'continued') known.replaceInode(each.observation.file, each.observation.found!.stat);
  }
  const rest = observeRest(seen.rest, known, options);
  return {
    known: [...inPlace, ...decideTwice({ known: rest.known, unknown: [] })],
    unknown: decideTwice({ known: [], unknown: rest.unknown }),
  };
}

test('no two streams get one file, in whatever order it is seen', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const decisions = scanOnce(new Scene(world));
      for (const each of [[...decisions.known], [...decisions.unknown]]) {
        const inodes = given(each);
        expect(inodes).toEqual([...new Set(inodes)]);
      }
    }),
    RUNS,
  );
});

test('each known stream goes on, waits, or is given up, for a reason that is there on disk', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const scene = new Scene(world);
      const own = new Map(scene.files.map((file) => [file, { ...file.disk }]));
      const decisions = scanOnce(scene).known.filter((each) => 'observation' in each);
      const expected = scene.files.filter(({ disk }) => disk.place !== 'detached');
      expect(decisions.map(({ observation }) => observation.file.stream.firstPath).sort()).toEqual(
        expected.map(({ stream }) => stream.firstPath).sort(),
      );
      for (const { kind, observation } of decisions) {
        const { path, inode, fd, place } = own.get(observation.file)!;
        const paths = scene.pathsOf(inode);
        const isFailing = world.failing !== undefined && path === pathOf(world.failing);
        const isUnlinked = fd !== undefined && scene.statOf(Number(inode)).links === 0;
        const reasons = {
          continued: true,
          renamed: paths.length > 0,
          truncated: false,
          replaced: fd === undefined && (paths.length > 0 || !world.stableInodes),
          deleted: isUnlinked,
          gone:
            paths.length === 0 &&
            !isFailing &&
            !isUnlinked &&
            (world.isMounted || fd !== undefined || place === 'deleted'),
          away: paths.length === 0 && !world.isMounted && fd === undefined,
          undecided: isFailing || world.failing !== undefined,
        };
        expect({ kind, has: reasons[kind] }).toEqual({ kind, has: true });
      }
    }),
    RUNS,
  );
});

test('a rotated file beside a path is followed once, unless a stream has it', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const scene = new Scene(world);
      const { known, options } = scene;
      const of = { firstPath: '/l/a.log', realPath: '/l/a.log' };
      const beside = Object.entries(world.names).map(([name, at]) => ({ path: pathOf(name), stat: scene.statOf(at) }));
      const seen = beside.map((found) => observeBeside(found, of, known, options));
      freeze(seen);
      const decisions = decideBeside(seen);
      expect(decideBeside(seen)).toEqual(decisions);
      const inodes = given(decisions);
      expect(inodes).toEqual([...new Set(inodes)]);
      for (const [n, each] of decisions.entries()) {
        if (each.kind !== 'new') continue;
        const holder = known.in(each.found.stat);
        const isDetached = decisions
          .slice(0, n)
          .some((one) => one.kind === 'replaced' && one.observation.file === holder);
        expect(holder === undefined || isDetached).toBe(true);
      }
    }),
    RUNS,
  );
});

const facts: fc.Arbitrary<FileFacts> = fc.record({
  path: fc.constantFrom('itself', 'something else'),
  descriptor: fc.constant('closed'),
  isElsewhere: fc.boolean(),
  content: fc.constantFrom('same', 'different', 'unknown'),
  isMountAway: fc.boolean(),
});

test('at a start each saved stream is decided once, and of those with one inode at most one has the file', () => {
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
  const saved = fc.record({
    facts,
    isReached: fc.boolean(),
    inode: fc.option(fc.constantFrom('1:1', '1:2'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(saved, { maxLength: 6 }), (all) => {
      const observations = all.map((each, n) => ({ ...each, record: { ...record, id: `${n}` }, found: undefined }));
      freeze(observations);
      const decisions = decideSaved(observations);
      expect(decideSaved(observations)).toEqual(decisions);
      expect(decisions.map((each) => each.record.id)).toEqual(observations.map((each) => each.record.id));
      const isGoing = (n: number): boolean => !['gone', 'replaced', 'unmatched'].includes(decisions[n]!.kind);
      const inodes = all.flatMap(({ inode }, n) => (inode !== undefined && isGoing(n) ? [inode] : []));
      expect(inodes).toEqual([...new Set(inodes)]);
      for (const [n, { kind }] of decisions.entries()) expect(kind === 'unmatched' && all[n]!.isReached).toBe(false);
    }),
    RUNS,
  );
});

/**
 * Decides from what was observed of files how each changed. Pure: the cases are the rows of table.ts, and nothing here can reach the file
 * system (scripts/layers.ts). Whoever acts does so in the order of the answers.
 */
import type { KnownChange, SavedChange } from '../known/change.ts';
import type { SavedStream } from '../known/stream.ts';
import {
  endsInNuls,
  type FileLocation,
  type FileOnDisk,
  isBehind,
  isGone,
  lagOf,
  type TrackedFile,
} from '../known/tracked-file.ts';
import type { FileStat } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { FirstPlace } from '../scan/rotated-names.ts';
import { fileRows, type CaseRow, type FileFacts } from './table.ts';

/** What was observed of one known file. */
export interface Observation {
  readonly file: TrackedFile;
  /** What it was on disk then: another stream may have that before anyone acts. */
  readonly disk: FileOnDisk;
  readonly facts: FileFacts;
  /** Where its inode was found. */
  readonly found?: FoundFile | undefined;
  /** The place of that. */
  readonly place: FileLocation;
  /** What its descriptor says. */
  readonly held?: FileStat | undefined;
  /** Why its descriptor, or its content, could not be looked at. */
  readonly trouble?: unknown;
  /** The file now under its inode matches no glob and has a rotated name of this one. */
  readonly isRotated?: boolean;
}

/** A found file that is not known. */
export interface UnknownFile {
  readonly found: FoundFile;
  /** It was not changed for longer than `ignore_older`. */
  readonly isIgnored: boolean;
}

export interface Observations {
  readonly known: readonly Observation[];
  readonly unknown: readonly UnknownFile[];
}

/** A file beside a path, possibly rotated from one that had the path between two scans. */
export interface BesideFile {
  readonly found: FoundFile;
  readonly of: FirstPlace;
  /** No glob matches it, it has a rotated name of that path, and `ignore_older` does not leave it out. */
  readonly isRotated: boolean;
  /** The known file that has, or had, its inode. */
  readonly holder: Observation | undefined;
}

export interface KnownDecision {
  readonly kind: KnownChange;
  readonly observation: Omit<Observation, 'facts'>;
  /** The rotated file now under its inode, to follow. */
  readonly next?: NewFile;
}

/** A file to follow. `of`: the place of the file that rotation made it of; no glob matches it then. */
export interface NewFile {
  readonly kind: 'new';
  readonly found: FoundFile;
  readonly of?: FirstPlace;
}

/** `ignored` has all such files, in the order of their paths. */
export type Decision = KnownDecision | NewFile | { readonly kind: 'ignored'; readonly found: readonly FoundFile[] };

/** The stream of an earlier process. */
export interface SavedObservation {
  readonly record: SavedStream;
  /** Where its file, or what has its inode now, was located. */
  readonly found: FoundFile | undefined;
  /** The key of the inode that it has, or had. */
  readonly inode: string | undefined;
  readonly facts: FileFacts;
  /** A pattern leads to where the file was first, or is now. */
  readonly isReached: boolean;
}

export interface SavedFile extends Pick<SavedObservation, 'record' | 'found'> {
  readonly kind: SavedChange;
}

/** Known files first, in the order in which they were observed; a file is new only once none of these can be it: in a later round. */
export function decide({ known, unknown }: Observations): Decision[] {
  if (known.length > 0) return known.map(decideKnown);
  const sorted = firstNames(unknown.toSorted((a, b) => (a.found.path < b.found.path ? -1 : 1)));
  const ignored = sorted.flatMap(({ found, isIgnored }) => (isIgnored ? [found] : []));
  const decisions: Decision[] = sorted.flatMap(({ found, isIgnored }) => (isIgnored ? [] : [{ kind: 'new', found }]));
  return ignored.length > 0 ? [...decisions, { kind: 'ignored', found: ignored }] : decisions;
}

function decideKnown(observation: Observation): KnownDecision {
  const { file, facts, found, isRotated } = observation;
  const kind = decideFile(facts);
  const isNext = kind === 'replaced' && isRotated === true;
  return { kind, observation, ...(isNext && { next: { kind: 'new', found: found!, of: file.stream } }) };
}

/** The first of each inode. */
function firstNames<T extends { readonly found: FoundFile }>(files: readonly T[]): T[] {
  const first = new Map<string, T>();
  for (const each of files) {
    const inode = `${each.found.stat.device}:${each.found.stat.inode}`;
    if (!first.has(inode)) first.set(inode, each);
  }
  return [...first.values()];
}

/** Follows each rotated file that no known file holds; where its inode was reused, the former file is detached first. */
export function decideBeside(beside: readonly BesideFile[]): Decision[] {
  const taken = new Set(firstNames(beside.filter(({ isRotated }) => isRotated)));
  return beside.flatMap((each) => {
    const { found, of, holder } = each;
    const next: Decision[] = taken.has(each) ? [{ kind: 'new', found, of }] : [];
    if (!holder) return next;
    const kind = decideFile(holder.facts);
    if (kind === 'replaced') return [{ kind, observation: holder }, ...next];
    return kind === 'undecided' ? [{ kind, observation: holder }] : [];
  });
}

export function decideFile(facts: FileFacts): KnownChange {
  return rowOf(fileRows, facts).change;
}

/** Of all saved streams, the newest first: an older one of the same inode can only be what is left of it. */
export function decideSaved(observations: readonly SavedObservation[]): SavedFile[] {
  const taken = new Set<string | undefined>();
  return observations.map(({ record, found, inode, facts, isReached }) => {
    const isTaken = inode !== undefined && taken.has(inode);
    const change = decideFile(isTaken ? { ...facts, content: 'different', isMountAway: false } : facts);
    const isLost = change === 'gone' || change === 'replaced';
    if (!isLost && isReached) taken.add(inode);
    return { kind: isLost || isReached ? change : 'unmatched', record, found };
  });
}

/** Decides by its descriptor between two scans; undefined where the next scan is soon enough. */
export function decideHeld(file: TrackedFile, { links }: Pick<FileStat, 'links'>): 'deleted' | 'continued' | undefined {
  if (links === 0 && file.disk.place !== 'deleted') return 'deleted';
  // Open files whose unfinished line may be due, or that end in NULs, or have a hole, in whose place text may be by now.
  const isWatched =
    endsInNuls(file) ||
    (file.stream.readFromMs > 0 && isBehind(file)) ||
    file.stream.nuls.hole !== undefined ||
    (lagOf(file) > 0 && !isBehind(file));
  return isGone(file) || isWatched ? 'continued' : undefined;
}

export function rowOf<S, C>(rows: readonly CaseRow<S, C>[], facts: S): CaseRow<S, C> {
  return rows.find(({ when }) => fits(when, facts))!;
}

export function fits<S>(when: CaseRow<S, unknown>['when'], facts: S): boolean {
  for (const name in when) {
    const wanted = when[name];
    if (wanted !== facts[name] && !(Array.isArray(wanted) && wanted.includes(facts[name]))) return false;
  }
  return true;
}

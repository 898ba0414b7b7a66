/** Files to globs: names that differ in a number or a date share one, and so do many neighbours. Pure. */
import { compileExclude, compileInclude } from '../../sources/file/scan/glob.ts';
import { datedName } from '../../sources/file/scan/rotated-names.ts';
import { findSharedPath } from '../../sources/file/shared-path.ts';

export interface FileGroup {
  /** The path's parts, as in the glob. */
  readonly parts: readonly string[];
  readonly files: readonly string[];
}

export function globOf({ parts }: FileGroup): string {
  return `/${parts.join('/')}`;
}

/** Each file in one group; those of rotating or numbered names together. */
export function groupByName(paths: readonly string[]): FileGroup[] {
  const groups = new Map<string, { parts: readonly string[]; literal: readonly string[]; files: string[] }>();
  for (const path of paths) {
    const literal = path.split('/').slice(1).map(escapeGlob);
    const parts = [...namelessFolders(literal.slice(0, -1)), numberless(literal.at(-1)!)];
    const known = groups.get(parts.join('/'));
    if (known) known.files.push(path);
    else groups.set(parts.join('/'), { parts, literal, files: [path] });
  }
  return [...groups.values()].map(({ parts, literal, files }) => {
    // A date changes, a number may be a part of a name.
    const isSeries = files.length > 1 || datedName(files[0]!) !== undefined || parts.slice(0, -1).includes('*');
    return { parts: isSeries ? parts : literal, files };
  });
}

/** Groups that differ in one part of the path, folder or name, become one where there are at least `least` of the same `kindOf`. */
export function generalise(
  groups: readonly FileGroup[],
  least: number,
  kindOf: (group: FileGroup) => string,
): FileGroup[] {
  let merged = [...groups];
  const depth = Math.max(0, ...groups.map(({ parts }) => parts.length));
  for (let fromEnd = 1; fromEnd <= depth; fromEnd++) {
    const buckets = new Map<string, FileGroup[]>();
    for (const group of merged) {
      // Folders right below the root are never a wildcard.
      const parts =
        group.parts.length - fromEnd < 1 ? group.parts : withWildcard(group.parts, group.parts.length - fromEnd);
      const key = `${kindOf(group)}\0${parts.join('/')}`;
      buckets.set(key, [...(buckets.get(key) ?? []), group]);
    }
    merged = [...buckets.values()].flatMap((bucket) => {
      const [first] = bucket;
      if (bucket.length < least || first === undefined) return bucket;
      return [
        { parts: withWildcard(first.parts, first.parts.length - fromEnd), files: bucket.flatMap(({ files }) => files) },
      ];
    });
  }
  return merged;
}

/** Include and exclude of a source. */
export interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface GroupedFiles {
  readonly include: readonly string[];
  readonly files: readonly string[];
}

/**
 * Patterns that share no file, also none that comes later: a glob leaves out what another source reads, and dated rotations of it; where that
 * would leave out its own files, or two have the same glob, it names its files.
 */
export function separate(sources: readonly GroupedFiles[]): Patterns[] {
  const found: Patterns[] = sources.map(({ include }) => ({ include, exclude: [] }));
  const name = (at: number): void => void (found[at] = { include: sources[at]!.files.map(literalOf), exclude: [] });
  const isShared = (one: number, other: number): boolean => findSharedPath(found[one]!, found[other]!) !== undefined;
  const leaveOut = (from: number, what: number): boolean => {
    const { include, exclude } = found[from]!;
    const shared = found[what]!.include.filter(
      (glob) => findSharedPath({ include, exclude }, { include: [glob], exclude: [] }) !== undefined,
    );
    const more = shared.flatMap((glob) => [glob, ...datedForms(glob)]);
    if (sources[from]!.files.some(compileExclude(more)) || include.every((glob) => compileInclude(glob).isLiteral))
      return false;
    found[from] = { include, exclude: [...exclude, ...more] };
    return !isShared(from, what);
  };
  for (const [one] of sources.entries()) {
    for (let other = 0; other < one; other++) {
      if (!isShared(one, other) || leaveOut(other, one) || leaveOut(one, other)) continue;
      name(one);
      name(other);
    }
  }
  return found;
}

/** Names of the file once it is rotated by date or number. */
function datedForms(glob: string): string[] {
  const dot = glob.lastIndexOf('.');
  if (!compileInclude(glob).isLiteral) return [];
  return [dot > glob.lastIndexOf('/') + 1 ? `${glob.slice(0, dot)}[-._][0-9]*` : `${glob}[-._][0-9]*`];
}

const literalOf = (path: string): string => `/${path.split('/').slice(1).map(escapeGlob).join('/')}`;

export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}()!+@|]/g, String.raw`\$&`);
}

/** Folders that are named by an id, as of a container or pod, come and go, and so do those in them. */
function namelessFolders(folders: readonly string[]): string[] {
  const first = folders.findIndex((folder) =>
    /^[0-9a-f]{32,255}$|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.test(folder),
  );
  return folders.map((folder, at) => (first >= 0 && at >= first ? '*' : folder));
}

function numberless(name: string): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 && !/\d/.test(name.slice(dot)) ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  return stem.replaceAll(/\b[0-9a-f]{12,}\b|\d(?:[-_.T:]?\d)*/g, '*').replaceAll(/\*(?:[-_.]?\*)+/g, '*') + extension;
}

/** A name keeps its extension. */
function withWildcard(parts: readonly string[], at: number): readonly string[] {
  const name = parts[at]!;
  const dot = name.lastIndexOf('.');
  const extension = at === parts.length - 1 && dot > 0 && !/[*\d]/.test(name.slice(dot)) ? name.slice(dot) : '';
  return parts.with(at, `*${extension}`);
}

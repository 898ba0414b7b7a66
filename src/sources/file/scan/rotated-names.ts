/**
 * The files beside a file whose names extend its own: what rotation makes of it. Pure but for the listing.
 */
import type { Dirent } from 'node:fs';
import { codeOf } from '../../../core/errors.ts';
import { type FileSystem, parentOf, pathIn } from './file-system.ts';
import type { Finder, FoundFile } from './finder.ts';
import { trimEndOf } from '../../../core/text/trim-end.ts';

/** `.1`, `-20261121`, `.2026-11-21T10:00`, `.old`: what logrotate and applications append. */
const ROTATION_SUFFIX = /^(?:[._-]\d[\dTZ:._-]*|[._-]old)$/;
const COMPRESSED = /\.(?:gz|zst|bz2|xz)$/;

/** Where a file was first: the path that a pattern matched, and the same without symbolic links. Rotation extends either. */
export interface FirstPlace {
  readonly firstPath: string;
  readonly realPath: string;
}

/** No glob matches the path, and rotation may have made it of the other one; or it is that one, and no link leads there any more. */
export function isRotatedFrom(path: string, { firstPath, realPath }: FirstPlace, finder: Finder): boolean {
  const isOne = path === realPath || isRotatedName(path, firstPath) || isRotatedName(path, realPath);
  return isOne && !finder.matches(path) && !finder.isExcluded(path);
}

/** True for `a.log.1` and `a.log-20261121` beside `a.log`. */
export function isRotatedName(path: string, of: string): boolean {
  return path.startsWith(of) && ROTATION_SUFFIX.test(path.slice(of.length));
}

/** What `isRotatedName` takes the path for a rotated name of; undefined for none. */
export function rotatedFrom(path: string): string | undefined {
  const bare = trimEndOf(path, '0123456789TZ:._-').length;
  const at = path.slice(bare).search(/[._-]\d/);
  const name = at < 0 ? path.replace(/[._-]old$/, '') : path.slice(0, bare + at);
  return name === path || name.endsWith('/') ? undefined : name;
}

/** The first date of a file's name, with or without a time: `app-20261121.log`, `2026-11-21T10.log`. */
const DATE =
  /(?<!\d)(?:19|20)\d\d(?<by>[-_.]?)(?:0[1-9]|1[0-2])\k<by>(?:0[1-9]|[12]\d|3[01])(?:[-_.T]?(?:[01]\d|2[0-3])(?:[-_.:]?[0-5]\d){0,2})?(?!\d)/;

/** The date of a file that is named by it, and what all such names beside it have in common; undefined for any other. */
export function datedName(path: string): { readonly date: string; readonly series: string } | undefined {
  const nameAt = path.lastIndexOf('/') + 1;
  const found = DATE.exec(path.slice(nameAt));
  if (!found) return undefined;
  const at = nameAt + found.index;
  return { date: found[0], series: `${path.slice(0, at)}\0${path.slice(at + found[0].length)}` };
}

/** What the names of files have in common that may go on with each other: rotated, dated, compressed. */
export function familyOf(path: string): string {
  const plain = path.replace(COMPRESSED, '');
  const base = rotatedFrom(plain) ?? plain;
  return datedName(base)?.series ?? base;
}

/** True for a name whose ending means that the content is no plain text. */
export function isCompressedName(path: string): boolean {
  return COMPRESSED.test(path);
}

/** True for a name of what `read_compressed` reads. */
export function isGzipOrZstdName(path: string): boolean {
  return /\.(?:gz|zst)$/.test(path);
}

/** Sorted names of plain files, and those of symbolic links. */
interface ListedNames {
  readonly files: readonly string[];
  readonly links: ReadonlySet<string>;
  /** The folder without symbolic links. */
  readonly realPath: string;
}

/** Names by folder; each folder is listed once. For a moment's use: later files are not in it. */
export class FolderNames {
  readonly #fileSystem: FileSystem;
  readonly #names = new Map<string, ListedNames>();

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
  }

  /** Regular, plain files whose path is `path` and more, the one that was written last first. Throws system errors. */
  extending(path: string): FoundFile[] {
    const folder = parentOf(path);
    const name = nameOf(path, folder);
    const names = this.#list(folder).files;
    const found: FoundFile[] = [];
    for (let index = firstAfter(names, name); names[index]?.startsWith(name) === true; index += 1) {
      const each = pathIn(folder, names[index]!);
      const stat = isCompressedName(each) ? undefined : this.#fileSystem.stat(each);
      if (stat?.kind === 'file') found.push({ path: each, stat });
    }
    return found.sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs);
  }

  /**
   * Every file that rotation may have made of the first one at the path, with the place that its name extends. Where the path leads
   * elsewhere now, the file that it led to is one of them. Throws system errors.
   */
  beside({ firstPath, realPath }: FirstPlace): { readonly found: FoundFile; readonly of: FirstPlace }[] {
    const present = this.realPath(firstPath);
    const bases = new Set([firstPath, realPath, present ?? firstPath]);
    const beside = [...bases].flatMap((base) =>
      this.extending(base).map((found) => ({ found, of: { firstPath, realPath: base } })),
    );
    const left =
      realPath === (present ?? firstPath) || !this.#hasFile(realPath) ? undefined : this.#fileSystem.stat(realPath);
    if (left?.kind === 'file') beside.push({ found: { path: realPath, stat: left }, of: { firstPath, realPath } });
    return beside;
  }

  /** The path without symbolic links; undefined where it leads nowhere. Throws system errors. */
  realPath(path: string): string | undefined {
    const folder = parentOf(path);
    const { links, realPath } = this.#list(folder);
    const name = nameOf(path, folder);
    return links.has(name) ? this.#fileSystem.realPath(path) : pathIn(realPath, name);
  }

  /** False for a symbolic link, too. */
  #hasFile(path: string): boolean {
    const folder = parentOf(path);
    return this.#list(folder).files.includes(nameOf(path, folder));
  }

  #list(folder: string): ListedNames {
    const known = this.#names.get(folder);
    if (known) return known;
    let entries: Dirent[] = [];
    try {
      entries = this.#fileSystem.readdir(folder);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    const namesOf = (kind: 'isFile' | 'isSymbolicLink'): string[] =>
      entries.flatMap((entry) => (entry[kind]() ? [entry.name] : []));
    const realPath = this.#fileSystem.realPath(folder) ?? folder;
    const names = { files: namesOf('isFile').sort(), links: new Set(namesOf('isSymbolicLink')), realPath };
    this.#names.set(folder, names);
    return names;
  }
}

function nameOf(path: string, folder: string): string {
  return path.slice(folder === '/' ? 1 : folder.length + 1);
}

/** The index of the first name that is greater than `name`. */
function firstAfter(names: readonly string[], name: string): number {
  let low = 0;
  for (let high = names.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (names[middle]! <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}

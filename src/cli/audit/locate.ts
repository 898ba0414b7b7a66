/** Where the file of each stream is now, and how far it goes. Checks names, sizes and first bytes. */
import { orElse } from '../output/or-else.ts';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/model.ts';
import type { PrivateFiles } from '../../core/source.ts';
import { systemClock } from '../../core/time/clock.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { hasFingerprint } from '../../sources/file/known/content.ts';
import {
  type FileStat,
  inodeKey,
  nodeFileSystem,
  readHead,
  withOpenIfReadable,
} from '../../sources/file/scan/file-system.ts';
import { isCompressedName } from '../../sources/file/scan/rotated-names.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import { type FileIdentity, JOURNAL_PATH } from '../../core/stream.ts';
import type { AuditedStream } from '../../state/database/audit-rows.ts';
import type { StreamExtent } from './ranges.ts';

export interface Located extends StreamExtent {
  /** The file's present path; undefined where none was found. */
  readonly path: string | undefined;
}

interface LocatedFile {
  readonly path: string;
  readonly stat: FileStat;
}

export class Locator {
  readonly #privateFiles: PrivateFiles;
  readonly #matched = new Map<string, LocatedFile>();
  readonly #folders = new Map<string, ReadonlyMap<string, LocatedFile>>();

  constructor(config: Config) {
    this.#privateFiles = new ListedPrivateFiles(() => config, systemClock);
  }

  /** Every file that the source reads or will, by path. */
  async find(source: SourceConfig): Promise<LocatedFile[]> {
    const found = [...((await sourceTypeOf(source).files?.find(source, this.#privateFiles))?.found.values() ?? [])];
    for (const place of found) this.#matched.set(inodeKey(place.stat), place);
    return found;
  }

  /** Rotation usually keeps the inode and the folder; a copy has neither, and only the agent recognises it. */
  locate({ path, identity, startAt, seenSize = 0, compressedEnd, marks }: AuditedStream): Located {
    const readTo = Math.max(
      startAt,
      ...marks.flatMap(({ settledTo, pending }) => [settledTo, ...pending.map(({ to }) => to)]),
    );
    // An agent that reads entries again finds out what the journal no longer has.
    if (path.startsWith(JOURNAL_PATH)) return { path, startAt, end: readTo, readableTo: Infinity };
    const known = identity?.path ?? path;
    const place =
      identity && (this.#matched.get(inodeKey(identity)) ?? this.#beside([known, identity.realPath ?? path], identity));
    if (isCompressedName(known)) {
      const end = compressedEnd ? (compressedEnd.contentSize ?? readTo) : undefined;
      return { path: place?.path, startAt, end, readableTo: place ? Infinity : undefined };
    }
    const isWhole = place !== undefined && place.stat.size >= readTo && hasHead(place.path, identity!);
    return isWhole
      ? { path: place.path, startAt, end: place.stat.size, readableTo: place.stat.size }
      : { path: place?.path, startAt, end: Math.max(readTo, seenSize), readableTo: undefined };
  }

  #beside(paths: readonly string[], identity: FileIdentity): LocatedFile | undefined {
    for (const path of paths) {
      const place = this.#listed(dirname(path)).get(inodeKey(identity));
      if (place) return place;
    }
    return undefined;
  }

  #listed(folder: string): ReadonlyMap<string, LocatedFile> {
    const known = this.#folders.get(folder);
    if (known) return known;
    const places = new Map<string, LocatedFile>();
    for (const path of namesIn(folder)) {
      const stat = nodeFileSystem.stat(path);
      if (stat?.kind === 'file') places.set(inodeKey(stat), { path, stat });
    }
    this.#folders.set(folder, places);
    return places;
  }
}

/** Compares the fingerprint, because inodes are reused. A file that cannot be read counts as the same. */
function hasHead(path: string, identity: FileIdentity): boolean {
  const head = withOpenIfReadable(nodeFileSystem, path, (fd) => readHead(nodeFileSystem, fd, identity.headLength));
  return head === undefined || hasFingerprint(identity, head);
}

/** A folder that is gone, or closed to us, has no file that can be found. */
const namesIn = (folder: string): string[] => orElse([], () => readdirSync(folder)).map((name) => join(folder, name));

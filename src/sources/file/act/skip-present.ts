/** `start_at: end`: files that are there before the source first runs are read from the beginning of their last line. */
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import { findBom, LONGEST_BOM_BYTES } from '../../framing/byte-window.ts';
import type { FoundFile } from '../scan/finder.ts';
import { findTextEnd, tailBefore } from '../known/nul-runs.ts';
import type { OpenFiles } from '../known/open-files.ts';
import { type FileSystem, findLineStart, readHead } from '../scan/file-system.ts';
import type { Copies } from './copies.ts';
import { follow, type FollowFileOptions } from './follow.ts';

export interface SkipOptions extends FollowFileOptions {
  readonly fileSystem: FileSystem;
  readonly descriptors: OpenFiles;
  readonly copies: Copies;
  readonly maxEventBytes: number;
  /** Of files without a byte order mark. */
  readonly encoding: TextEncoding;
}

/** A file that cannot be read now is read from its beginning later: its present end is not known. */
export function skipPresent(found: ReadonlyMap<string, FoundFile>, options: SkipOptions): void {
  const { fileSystem, knownFiles, descriptors, copies, maxEventBytes, encoding } = options;
  for (const each of [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (knownFiles.in(each.stat)) continue;
    const file = follow(options, each);
    if (!descriptors.open(file)) continue;
    try {
      const fd = file.disk.fd!;
      const own = findBom(readHead(fileSystem, fd, LONGEST_BOM_BYTES))?.encoding ?? encoding;
      const end = findTextEnd(fileSystem, fd, each.stat.size, own.unitBytes);
      const start = findLineStart(fileSystem, fd, end, maxEventBytes, own);
      file.stream.beginAt(start, tailBefore(fileSystem, fd, start));
      copies.name(file);
      descriptors.close(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }
}

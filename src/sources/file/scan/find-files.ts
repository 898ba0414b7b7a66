/** Finds and opens files as a source of the configuration does, for commands that only read. */
import { type Log, silentLog } from '../../../core/log.ts';
import type { PrivateFiles, RefusedPath } from '../../../core/source.ts';
import { systemClock } from '../../../core/time/clock.ts';
import { type FileSystem, nodeFileSystem } from './file-system.ts';
import { Finder, type FinderOptions, type FoundFile } from './finder.ts';
import { fixedPartsOf } from './glob.ts';
import { Links, type LinksOptions } from './links.ts';
import { Notices } from './notices.ts';
import { guard, PathRefusals } from './path-refusals.ts';

export interface FoundFiles {
  readonly found: ReadonlyMap<string, FoundFile>;
  /** By the path that the patterns lead to. */
  readonly refused: ReadonlyMap<string, RefusedPath>;
  /** Opens what a source of this configuration may read. */
  readonly fileSystem: FileSystem;
}

/** The matches of these patterns of the source, by default of all; trouble with folders goes to `log`. */
export async function findFiles(
  source: Pick<FinderOptions, 'include' | 'exclude'> & Pick<LinksOptions, 'followLinks'>,
  privateFiles: PrivateFiles | undefined,
  log: Log = silentLog,
  include = source.include,
): Promise<FoundFiles> {
  const clock = systemClock;
  const { exclude, followLinks } = source;
  const links = new Links({ fixed: fixedPartsOf(source.include), followLinks, fileSystem: nodeFileSystem, clock });
  const fileSystem = guard(nodeFileSystem, links, privateFiles);
  const refusals = new PathRefusals({
    links,
    privateFiles,
    fileSystem,
    notices: new Notices(silentLog, clock),
    counts: { links: 0 },
  });
  const finder = new Finder({ include, exclude, fileSystem, clock, notices: new Notices(log, clock), refusals });
  return { found: await finder.find(), refused: refusals.all, fileSystem };
}

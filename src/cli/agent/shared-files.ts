/** Sources that would read the same files: each line of these is sent twice. */
import type { Config, FileSourceConfig } from '../../config/model.ts';
import { findSharedPath } from '../../sources/file/shared-path.ts';

export interface SharedFiles {
  /** Id of the later one. */
  readonly source: string;
  readonly message: string;
  readonly fix: string;
}

const MOST = 20;

export function describeSharedFiles({ sources }: Pick<Config, 'sources'>): SharedFiles[] {
  const files = sources.filter((source): source is FileSourceConfig => source.type === 'file');
  const found: SharedFiles[] = [];
  for (const [index, source] of files.entries()) {
    for (const before of files.slice(0, index)) {
      const path = found.length < MOST ? findSharedPath(before, source) : undefined;
      if (path === undefined) continue;
      const message = `the sources \`${before.id}\` and \`${source.id}\` read the same files, such as ${path}: their lines are sent twice`;
      found.push({ source: source.id, message, fix: 'add what one of them reads to `exclude` of the other' });
    }
  }
  return found;
}

/** Sources that would read the same files: each line of these is sent twice. */
import type { Config } from '../../config/model.ts';
import { sourceTypeOf } from '../../sources/registry.ts';

export interface SharedFiles {
  /** Id of the later one. */
  readonly source: string;
  readonly message: string;
  readonly fix: string;
}

const MOST = 20;

export async function describeSharedFiles({ sources }: Pick<Config, 'sources'>): Promise<SharedFiles[]> {
  const found: SharedFiles[] = [];
  for (const [index, source] of sources.entries()) {
    for (const before of sources.slice(0, index)) {
      if (before.type !== source.type || found.length === MOST) continue;
      const path = await sourceTypeOf(source).sharedInput?.(before, source);
      if (path === undefined) continue;
      const message = `the sources \`${before.id}\` and \`${source.id}\` read the same files, such as ${path}: their lines are sent twice`;
      found.push({ source: source.id, message, fix: 'add what one of them reads to `exclude` of the other' });
    }
  }
  return found;
}

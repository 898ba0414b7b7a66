/**
 * What file sources would do with a path, worked out without an agent from the configuration, the files, and the positions in the data
 * folder, whose lock is held meanwhile. Nothing is read, and nothing is written.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { streamStoreFor } from '../../batcher/keep/deleted-files.ts';
import type { Config } from '../../config/model.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { NO_STREAMS } from '../../core/stream.ts';
import type { FileExplanation } from '../../sources/common/explanation.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import { openState } from '../../state/database/store.ts';
import { ownersOf } from '../build/owners.ts';

/** For each source of files. Rejects with `TailraceError` where the data folder is in use, or cannot be read. */
export async function explainAlone(
  config: Config,
  path: string,
  log: Log,
): Promise<(FileExplanation & { readonly source: string })[]> {
  const { dataDir } = config;
  const sinksOf = (source: string): string[] => ownersOf(config, source);
  // A folder that no agent used yet is not made for this.
  const state = existsSync(join(dataDir, 'state.db')) ? openState({ folder: dataDir, sinksOf, log }) : undefined;
  try {
    const streams = state ? streamStoreFor(state, new Map(), new Set()) : NO_STREAMS;
    const context = { streams, privateFiles: new ListedPrivateFiles(() => config, systemClock), log };
    const explained: (FileExplanation & { readonly source: string })[] = [];
    for (const source of config.sources) {
      const found = await sourceTypeOf(source).files?.explain(source, path, context);
      if (found) explained.push({ source: source.id, ...found });
    }
    return explained;
  } finally {
    state?.close();
  }
}

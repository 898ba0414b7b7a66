/**
 * What file sources would do with a path, worked out without an agent from the configuration, the files, and the positions in the data
 * folder, whose lock is held meanwhile. Nothing is read, and nothing is written.
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Config, fileSources, type FileSourceConfig } from '../../config/model.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SourceContext } from '../../core/source.ts';
import { NO_STREAMS } from '../../core/stream.ts';
import type { FileExplanation } from '../../sources/file/explanation.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { createFileSource } from '../../sources/file/source.ts';
import { openState } from '../../state/database/store.ts';
import { ownersOf } from '../build/owners.ts';
import { createStreamView } from '../build/stream-view.ts';

/** For each file source. Throws `TailraceError` where the data folder is in use, or cannot be read. */
export function explainAlone(config: Config, path: string, log: Log): (FileExplanation & { readonly source: string })[] {
  const { dataDir } = config;
  const sinksOf = (source: string): string[] => ownersOf(config, source);
  // A folder that no agent used yet is not made for this.
  const state = existsSync(join(dataDir, 'state.db')) ? openState({ folder: dataDir, sinksOf, log }) : undefined;
  try {
    const streams = state ? createStreamView(state, () => []) : NO_STREAMS;
    const context = { streams, privateFiles: new ListedPrivateFiles(() => config, systemClock), log };
    return fileSources(config).map((source) => ({ source: source.id, ...explainOne(source, path, context) }));
  } finally {
    state?.close();
  }
}

type Known = Pick<SourceContext, 'streams' | 'privateFiles' | 'log'>;

function explainOne(config: FileSourceConfig, path: string, known: Known): FileExplanation {
  const lane = { accept: never };
  const reserve = (bytes: number) => ({ at: 0, bytes: Buffer.alloc(bytes) });
  const source = createFileSource(config, { ...known, lane, clock: systemClock, hostname: hostname(), reserve, once: false });
  return source.explain(path);
}

function never(): never {
  throw new Error('nothing is read where only an explanation was asked for');
}

/** A folder; a file takes its place while it is away. */
import { globSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { silentLog } from '../../../src/core/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createArchiveSink } from '../../../src/sinks/archive/sink.ts';
import { startProgram } from '../../support/program.ts';
import { makeTree } from '../../support/temp-tree.ts';
import type { Alone, Destination, Subject } from './subject.ts';

const filesIn = (path: string): string[] => globSync(join(path, 'logs/*/*/*.ndjson.zst'));
const textIn = (path: string): string =>
  filesIn(path)
    .map((file) => zstdDecompressSync(readFileSync(file)).toString())
    .join('');

async function alone(): Promise<Alone> {
  const path = join(makeTree({}), 'archive');
  const config = { id: 'keep', compression: 'zstd', path, maxBytes: undefined, keepMs: undefined } as const;
  return {
    sink: createArchiveSink(config, systemClock, silentLog),
    taken: () => textIn(path),
    leave: () => Promise.resolve(writeFileSync(path, '')),
  };
}

async function destination(folder: string): Promise<Destination> {
  // A link, which a file takes the place of in one step: the agent makes a folder that is gone anew at once.
  const path = join(folder, 'archive');
  const files = join(folder, 'files');
  const beside = join(folder, 'beside');
  const lead = (): void => {
    symlinkSync(files, beside);
    renameSync(beside, path);
  };
  mkdirSync(files);
  lead();
  return {
    keys: 'path: archive, dataset: logs, batch: {max_age: 10ms}',
    start: (...args) => startProgram(args),
    stored: () => textIn(files).split('\n').slice(0, -1),
    away() {
      writeFileSync(beside, '');
      renameSync(beside, path);
    },
    back: lead,
    isOnce: true,
    storedKeys: () => filesIn(files).map((file) => basename(file, '.ndjson.zst')),
  };
}

export const subject: Subject = { alone, destination };

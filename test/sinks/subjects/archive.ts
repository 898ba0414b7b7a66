/** A folder; a file takes its place while it is away. */
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { silentLog } from '../../../src/core/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createArchiveSink } from '../../../src/sinks/archive/sink.ts';
import { startProgram } from '../../support/program.ts';
import { makeTree } from '../../support/temp-tree.ts';
import type { Alone, Destination, Subject } from './subject.ts';

const filesIn = (path: string): string[] => globSync(join(path, 'logs/*/*/*.ndjson.zst'));
const textIn = (path: string): string => filesIn(path).map((file) => zstdDecompressSync(readFileSync(file)).toString()).join(''); // prettier-ignore

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
  const path = join(folder, 'archive');
  const aside = join(folder, 'aside');
  let isAway = false;
  const where = (): string => (isAway ? aside : path);
  return {
    keys: 'path: archive, dataset: logs, batch: {max_age: 10ms}',
    start: (...args) => startProgram(args),
    stored: () => textIn(where()).split('\n').slice(0, -1),
    away() {
      if (globSync(path).length > 0) renameSync(path, aside);
      writeFileSync(path, '');
      isAway = true;
    },
    back() {
      rmSync(path);
      if (globSync(aside).length > 0) renameSync(aside, path);
      isAway = false;
    },
    isOnce: true,
    storedKeys: () => filesIn(where()).map((file) => basename(file, '.ndjson.zst')),
  };
}

export const subject: Subject = { alone, destination };

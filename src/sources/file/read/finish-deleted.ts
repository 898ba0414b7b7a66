/** At a stop, reads deleted files to their ends: nothing of them will be there after it. */
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import { lagOf, type TrackedFile } from '../known/tracked-file.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { Copies } from '../act/copies.ts';
import { LOWER_BOUND } from '../scan/notices.ts';
import type { TailReader } from './reader.ts';

export interface FinishOptions extends Losing {
  readonly knownFiles: KnownFiles;
  readonly copies: Copies;
  readonly log: Log;
}

/** Files that continue an event of another one come after it. What the lane does not take any more is counted as lost. */
export async function finishDeleted(options: FinishOptions, reader: TailReader): Promise<void> {
  const { knownFiles, copies } = options;
  while (copies.decide()) await setImmediate();
  const gone = [...knownFiles.gone].sort((a, b) => placeInRow(a) - placeInRow(b));
  for (const file of gone)
    if (file.disk.fd !== undefined && lagOf(file) > 0 && !isCopySoFar(file, knownFiles))
      await finish(file, options, reader);
}

/** All that it has is in a file that is there, from which the next start reads it. */
function isCopySoFar(file: TrackedFile, knownFiles: KnownFiles): boolean {
  return knownFiles.isUndecided(file) && !file.disk.failure;
}

async function finish(file: TrackedFile, options: FinishOptions, reader: TailReader): Promise<void> {
  try {
    for (let before = -1; lagOf(file) > 0 && file.stream.position > before;) {
      before = file.stream.position;
      file.flushLineAt = Infinity;
      await reader.turn(file);
    }
  } catch (error) {
    if (codeOf(error) !== 'E_STOPPED') throw error;
  }
  const lostBytes = lagOf(file);
  if (lostBytes === 0) return;
  countLost(options, file.stream, lostBytes, file.stream.offset + lostBytes, 'not_taken');
  options.log.error(
    { path: file.disk.path, offset: file.stream.offset, lostBytes },
    `deleted file could not be read to its end before the stop${LOWER_BOUND}`,
  );
}

/** How many files go before it that it goes on with. */
function placeInRow({ before }: TrackedFile): number {
  return before ? placeInRow(before) + 1 : 0;
}

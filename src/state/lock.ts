/**
 * One agent per data folder. The lock is an exclusive transaction on a small SQLite file, so the operating system lets
 * go of it however the process ends; the pid beside it only serves the message.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, TailraceError } from '../core/errors.ts';

export interface FolderLock {
  release(): void;
}

/** Takes the folder's lock or throws `E_DATA_DIR_LOCKED`, naming the process that holds it. */
export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'lock.pid');
  const database = new DatabaseSync(join(folder, 'lock'));
  try {
    database.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test(messageOf(error))) throw error;
    const holder = readPid(pidFile);
    throw new TailraceError(
      'E_DATA_DIR_LOCKED',
      `the data folder "${folder}" is in use by another agent${holder ? ` (process ${holder})` : ''}`,
      {
        fix: 'stop that agent first, or give this one a data_dir of its own',
        cause: error,
      },
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    release: () => {
      if (database.isOpen) database.close();
    },
  };
}

function readPid(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^\d+$/.test(text) ? text : '';
  } catch {
    return '';
  }
}

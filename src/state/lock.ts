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

/** Takes the folder's lock. Throws `E_DATA_DIR_LOCKED`, naming the process that holds it, or `E_STATE` when no lock can be had. */
export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'lock.pid');
  const database = openLock(folder, pidFile);
  try {
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch {
    // On a full disk it is empty; the message then names no process.
  }
  return {
    release: () => {
      if (database.isOpen) database.close();
    },
  };
}

function openLock(folder: string, pidFile: string): DatabaseSync {
  const file = join(folder, 'lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive');
    return database;
  } catch (error) {
    database?.close();
    if (!/locked|busy/i.test(messageOf(error))) {
      throw new TailraceError('E_STATE', `cannot lock the data folder with "${file}": ${messageOf(error)}`, {
        fix: 'check the free space and the permissions of data_dir; a damaged lock file may be removed while no agent runs',
        cause: error,
      });
    }
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
}

function readPid(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^\d+$/.test(text) ? text : '';
  } catch {
    return '';
  }
}

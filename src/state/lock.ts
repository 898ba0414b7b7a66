/**
 * One agent per data folder. The lock is an exclusive transaction on a small SQLite file, so the operating system releases
 * it however the process ends; the pid next to it is only for the message.
 */
import { closeSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, TailraceError } from '../core/errors.ts';
import { type Log, silentLog } from '../core/log.ts';
import { createFile, prepareFile } from './keep-owner.ts';

export interface FolderLock {
  release(): void;
}

/** SQLite's CORRUPT and NOTADB. */
const DAMAGED_CODES: ReadonlySet<number> = new Set([11, 26]);

/**
 * Takes the folder's lock; a damaged lock file is emptied, for it holds nothing. Throws `E_DATA_DIR_LOCKED`, naming the process
 * that holds it, or `E_STATE` when no lock can be had.
 */
export function lockFolder(folder: string, log: Log = silentLog): FolderLock {
  const pidFile = join(folder, 'lock.pid');
  const database = openLock(folder, pidFile, log);
  try {
    const fd = createFile(pidFile, 0o644);
    writeSync(fd, `${process.pid}\n`);
    closeSync(fd);
  } catch {
    // On a full disk it is empty; the message then names no process.
  }
  return {
    release: () => {
      if (database.isOpen) database.close();
    },
  };
}

function openLock(folder: string, pidFile: string, log: Log): DatabaseSync {
  const file = join(folder, 'lock');
  try {
    prepareFile(file);
    return openRepaired(file, log);
  } catch (error) {
    if (!/locked|busy/i.test(messageOf(error))) {
      throw new TailraceError('E_STATE', `cannot lock the data folder with "${file}": ${messageOf(error)}`, {
        fix: 'check the free space and the permissions of data_dir',
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

/**
 * SQLite can only find the content damaged once it has a shared lock, which nobody gets beside an agent. The file is emptied in
 * place: another process may take its lock meanwhile, and a lock is on the file, whatever its content.
 */
function openRepaired(file: string, log: Log): DatabaseSync {
  try {
    return openExclusively(file);
  } catch (error) {
    if (!DAMAGED_CODES.has((error as { errcode?: number }).errcode ?? 0)) throw error;
    truncateSync(file);
    log.warn({ file, reason: messageOf(error) }, 'the lock file was damaged; it holds no data and was emptied');
    return openExclusively(file);
  }
}

function openExclusively(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive');
    return database;
  } catch (error) {
    database.close();
    throw error;
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

/**
 * Reserves disk space for checkpoints while there is enough, so that a full disk stops neither saving nor delivery. The reserve is part of
 * the database's files: free pages of `state.db`, and a write-ahead log of its greatest length. SQLite rewrites the log from its start
 * after each checkpoint, and ignores bytes after the last frame.
 */
import { closeSync, constants, fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../core/errors.ts';
import { STATE_RESERVE_BYTES } from './limits.ts';
import type { Log } from '../core/log.ts';

/** The database's share of the reserve: it grows only when there are more streams and batches than ever before. */
const PAGES_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** Divisor: the reserve takes at most a third of the free space. */
const PART = 3;
/** Pages after which SQLite starts the log again; they fit the reserve, with the transaction that reaches the limit. */
export const CHECKPOINT_PAGES = 3000;

/** Fills the reserve if the disk has space for several of them. Never throws: without a reserve, saving waits for space. */
export function reserve(database: DatabaseSync, file: string, log: Log): void {
  try {
    const { bavail, bsize } = statfsSync(file);
    if (bavail * bsize < PART * STATE_RESERVE_BYTES) {
      log.debug(
        { file, freeBytes: bavail * bsize },
        'not enough free disk space to reserve 16 MiB for checkpoints: delivery waits while the disk is full',
      );
      return;
    }
    keepPages(database);
    lengthen(`${file}-wal`, STATE_RESERVE_BYTES - PAGES_BYTES);
  } catch (error) {
    log.warn(
      { file, reason: messageOf(error) },
      'cannot reserve disk space for checkpoints: delivery waits while the disk is full',
    );
  }
}

function keepPages(database: DatabaseSync): void {
  const pageSize = numberOf(database, 'page_size');
  if (numberOf(database, 'freelist_count') * pageSize >= PAGES_BYTES / 2) return;
  // Only pages written once take disk space. A process killed in between leaves the table in place.
  database.exec(
    `drop table if exists reserve; create table reserve (bytes blob) strict; insert into reserve values (zeroblob(${PAGES_BYTES}))`,
  );
  database.exec(
    'pragma wal_checkpoint(truncate); drop table reserve; pragma wal_checkpoint(truncate); pragma shrink_memory',
  );
}

function lengthen(wal: string, bytes: number): void {
  const fd = openSync(wal, constants.O_RDWR | constants.O_CREAT, 0o640);
  try {
    const zeros = Buffer.alloc(PIECE_BYTES);
    for (let at = fstatSync(fd).size; at < bytes; at += PIECE_BYTES)
      writeSync(fd, zeros, 0, Math.min(PIECE_BYTES, bytes - at), at);
  } finally {
    closeSync(fd);
  }
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(Object.values(database.prepare(`pragma ${pragma}`).get()!)[0]);
}

/**
 * Disk space for positions, taken while there is enough: a full disk then stops neither saving nor delivery. It lies in the database's own
 * files, where nothing else can take it: pages of `state.db` that are free, and a write-ahead log that is as long as it ever gets. SQLite
 * writes the log from its beginning again after each checkpoint, and takes what is behind its last frame for no frame.
 */
import { closeSync, constants, fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../core/errors.ts';
import { STATE_RESERVE_BYTES } from './limits.ts';
import type { Log } from '../core/log.ts';

/** Of the reserve, in the database: it grows only by the rows of more streams and batches than there ever were at once. */
const PAGES_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** It takes at most this fraction of the free space. */
const PART = 3;
/** SQLite's pages in the log after which it begins anew: with the transaction that reaches it they fit the reserve. */
export const CHECKPOINT_PAGES = 3000;

/** Fills the reserve up, if the disk has room for several of them. Never throws: without it saving waits for room. */
export function reserve(database: DatabaseSync, file: string, log: Log): void {
  try {
    const { bavail, bsize } = statfsSync(file);
    if (bavail * bsize < PART * STATE_RESERVE_BYTES) {
      log.debug({ file, freeBytes: bavail * bsize }, 'the disk has no room to keep some for positions: when it is full, delivery waits');
      return;
    }
    keepPages(database);
    lengthen(`${file}-wal`, STATE_RESERVE_BYTES - PAGES_BYTES);
  } catch (error) {
    log.warn({ file, reason: messageOf(error) }, 'no disk space could be kept for positions: when the disk is full, delivery waits');
  }
}

function keepPages(database: DatabaseSync): void {
  const pageSize = numberOf(database, 'page_size');
  if (numberOf(database, 'freelist_count') * pageSize >= PAGES_BYTES / 2) return;
  // Only pages that were written once have room on the disk. One that ended in between left the table.
  database.exec(
    `drop table if exists reserve; create table reserve (bytes blob) strict; insert into reserve values (zeroblob(${PAGES_BYTES}))`,
  );
  database.exec('pragma wal_checkpoint(truncate); drop table reserve; pragma wal_checkpoint(truncate)');
}

function lengthen(wal: string, bytes: number): void {
  const fd = openSync(wal, constants.O_RDWR | constants.O_CREAT, 0o640);
  try {
    const zeros = Buffer.alloc(PIECE_BYTES);
    for (let at = fstatSync(fd).size; at < bytes; at += PIECE_BYTES) writeSync(fd, zeros, 0, Math.min(PIECE_BYTES, bytes - at), at);
  } finally {
    closeSync(fd);
  }
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(Object.values(database.prepare(`pragma ${pragma}`).get()!)[0]);
}

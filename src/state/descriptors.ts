/**
 * The calls by which a file is written and made durable, on bare descriptors: half the CPU of `FileHandle`, which counts where each
 * batch is a file. Calls that may wait for the disk run in the thread pool; closing a synced file does not.
 */
import {
  closeSync,
  fsync,
  fsyncSync,
  open,
  openSync,
  rename,
  renameSync,
  rmSync,
  unlink,
  writeSync,
  writev,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { createFile, giveOpenFile } from './keep-owner.ts';

/** Opens a new file for writing; one of that name is removed first. */
export async function create(path: string, mode: number): Promise<number> {
  const fd = await openNew(path, mode).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
    await remove(path);
    return openNew(path, mode);
  });
  giveOpenFile(fd, path, mode);
  return fd;
}

/** Exclusive, so that root never writes through another user's link. */
function openNew(path: string, mode: number): Promise<number> {
  return new Promise((resolve, reject) => open(path, 'wx', mode, (error, fd) => (error ? reject(error) : resolve(fd))));
}

/** Writes all of the parts in order. */
export async function writeAll(fd: number, parts: readonly Uint8Array[]): Promise<void> {
  for (let left = parts; left.length > 0;) left = without(left, await write(fd, left));
}

/** Resolves once it is on the disk. */
export function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fsync(fd, (error) => (error ? reject(error) : resolve())));
}

export function move(from: string, to: string): Promise<void> {
  return new Promise((resolve, reject) => rename(from, to, (error) => (error ? reject(error) : resolve())));
}

/** A file that is gone already is no error. */
export function remove(path: string): Promise<void> {
  return new Promise((resolve, reject) =>
    unlink(path, (error) => (error && error.code !== 'ENOENT' ? reject(error) : resolve())),
  );
}

/** Resolves once the file's bytes, or the folder's names, are on the disk. */
export async function syncPath(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

function write(fd: number, parts: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) =>
    writev(fd, parts, (error, bytes) => (error ? reject(error) : resolve(bytes))),
  );
}

/** The parts without their first bytes. */
function without(parts: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes;
  return parts.flatMap((part) => {
    const skipped = Math.min(left, part.length);
    left -= skipped;
    return skipped === part.length ? [] : [part.subarray(skipped)];
  });
}

/** The same, synchronously: for a process that is about to end or must not continue before it. */
export function syncPathNow(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes a file so that it is there whole, or not at all, after a power cut: temp, fsync, rename, fsync of the folder. */
export function writeDurably(folder: string, name: string, bytes: Uint8Array): void {
  const temporary = join(folder, `${name}.tmp`);
  const fd = createFile(temporary);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, join(folder, name));
  syncPathNow(folder);
}

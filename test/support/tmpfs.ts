/** A small file system of its own, so that a test can fill it. Needs root, as the machines of the suite have. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeTree } from './temp-tree.ts';

/** Mounts a tmpfs of `kibibytes`, unmounted when the test ends; returns its path. Throws where mounting is not allowed. */
export function mountTmpfs(kibibytes: number): string {
  const folder = makeTree({});
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new Error(
      `this test fills a small disk and must mount one: ${stderr || String(error)}; run it as root, with CAP_SYS_ADMIN`,
    );
  }
  onTestFinished(() => {
    const { status } = spawnSync('umount', ['-l', folder]);
    if (status !== 0) throw new Error(`cannot unmount ${folder}`);
  });
  return folder;
}

/** Fills the file system to its last byte; the returned function frees it again. */
export function fillDisk(folder: string): () => void {
  const file = join(folder, 'filler');
  const fd = openSync(file, 'a');
  for (let size = 64 * 1024; size >= 1;) {
    try {
      writeSync(fd, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size = Math.floor(size / 2);
    }
  }
  closeSync(fd);
  return () => rmSync(file);
}

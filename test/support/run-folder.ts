/** What all files of a run share: a folder for what one builds for all, and one in memory, where there is room. Gone after the last file. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runFolder: string;
    /** Empty where memory has no room for the tests' folders, or runs no programs. */
    readonly memoryFolder: string;
    /** The machine's own temporary folder. */
    readonly diskFolder: string;
  }
}

const MEMORY = '/dev/shm';
const LEAST_FREE_BYTES = 4 * 2 ** 30;

let folders: string[];

export function setup({ provide }: TestProject): void {
  const run = mkdtempSync(join(tmpdir(), 'tailrace-run-'));
  folders = [run];
  provide('runFolder', run);
  provide('diskFolder', tmpdir());
  if (!hasRoom()) return provide('memoryFolder', '');
  const memory = mkdtempSync(join(MEMORY, 'tailrace-'));
  // As the temporary folder of a machine is.
  chmodSync(memory, 0o1777);
  folders.push(memory);
  provide('memoryFolder', memory);
}

export function teardown(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY);
  if (mount === undefined || !/ tmpfs /.test(mount) || /\bnoexec\b/.test(mount)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= LEAST_FREE_BYTES;
}

/**
 * Suites once more on the other kind of file system: tmpfs numbers files, gives numbers again and keeps times in another way than disks do. Where
 * the ordinary run is in memory (in-memory.ts) that is the disk, else tmpfs.
 */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, inject, test, vi } from 'vitest';

const TMPFS = 0x01021994;
const [MEMORY, DISK] = ['/dev/shm', '/var/tmp'];

/** Each in a block of its own, so that what one does before its tests is done for no other. */
export function onOtherFileSystem(suites: Readonly<Record<string, () => Promise<unknown>>>): void {
  const isOnDisk = isTmpfs(tmpdir());
  const folder = [...(isOnDisk ? [inject('diskFolder'), DISK] : [MEMORY])].find((path) => isTmpfs(path) !== isOnDisk);
  const needed =
    folder === undefined ? ` (needs ${isOnDisk ? `a disk under ${DISK}` : `mount -t tmpfs tmpfs ${MEMORY}`})` : '';
  describe.skipIf(folder === undefined)(`on ${isOnDisk ? 'a disk' : 'tmpfs'}${needed}`, () => {
    vi.stubEnv('TMPDIR', folder);
    test('the temporary folder is there', () => expect(isTmpfs(tmpdir())).toBe(!isOnDisk));
    for (const [name, load] of Object.entries(suites)) describe(name, async () => void (await load()));
  });
}

function isTmpfs(path: string): boolean {
  try {
    return statfsSync(path).type === TMPFS;
  } catch {
    return false;
  }
}

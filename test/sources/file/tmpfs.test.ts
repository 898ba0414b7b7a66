/**
 * The suites that are about inodes, renames and deletes, once more on tmpfs, which numbers files and keeps times in another
 * way than disks do. The temporary folder of the ordinary run is on a disk, as a rule.
 */
import { statfsSync } from 'node:fs';
import { describe, vi } from 'vitest';

const TMPFS = 0x01021994;
const MOUNTED = '/dev/shm';

function isTmpfs(path: string): boolean {
  try {
    return statfsSync(path).type === TMPFS;
  } catch {
    return false;
  }
}

describe.skipIf(!isTmpfs(MOUNTED))(`on tmpfs${isTmpfs(MOUNTED) ? '' : ` (mount -t tmpfs tmpfs ${MOUNTED})`}`, async () => {
  vi.stubEnv('TMPDIR', MOUNTED);
  for (const suite of ['identity', 'rotation', 'reuse', 'nth-call']) await import(`./${suite}.test.ts`);
});

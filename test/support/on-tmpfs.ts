/**
 * Suites once more on tmpfs, which numbers files, gives numbers again and keeps times in another way than disks do. The
 * temporary folder of the ordinary run is on a disk, as a rule.
 */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test, vi } from 'vitest';

const TMPFS = 0x01021994;
const MOUNTED = '/dev/shm';

/** Each in a block of its own, so that what one does before its tests is done for no other. */
export function onTmpfs(suites: Readonly<Record<string, () => Promise<unknown>>>): void {
  describe.skipIf(!isTmpfs(MOUNTED))(`on tmpfs${isTmpfs(MOUNTED) ? '' : ` (mount -t tmpfs tmpfs ${MOUNTED})`}`, () => {
    vi.stubEnv('TMPDIR', MOUNTED);
    test('the temporary folder is there', () => expect(isTmpfs(tmpdir())).toBe(true));
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

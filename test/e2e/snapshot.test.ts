/**
 * Symptom: after files and state went back to a snapshot, a line that came again at the same place was counted as delivered, and the service had dropped
 * it: one key stood for two events. Cause: the key named place and bytes, and not when they were read. Fix: it names the process, too.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startShipping, test, writeLines } from '../support/shipping.ts';

const line = (seq: number): string => `line seq=${seq}`;

test('agent whose files and state go back to a snapshot gives the same line at the same place another key', async ({
  site,
}) => {
  const copy = join(site.folder, 'copy');
  const folders = ['logs', 'agent'];
  writeLines(site, 1, line);
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  for (const name of folders)
    cpSync(join(site.folder, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  // In place, as with a snapshot of the disk: the same inode.
  const goBack = (): void => {
    rmSync(join(site.folder, 'agent'), { recursive: true });
    cpSync(join(copy, 'agent'), join(site.folder, 'agent'), { recursive: true, preserveTimestamps: true });
    writeFileSync(site.log, readFileSync(join(copy, 'logs', 'app.log')));
  };
  for (let round = 1; round <= 2; round += 1) {
    writeLines(site, 1, () => line(1));
    expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
    expect(site.service.stored).toHaveLength(1 + round);
    if (round === 1) goBack();
  }
  expect(site.service.misusedKeys).toEqual([]);
});

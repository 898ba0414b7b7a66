/** What `check` finds of a journal, by what `journalctl` says of it. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { checkJournal } from '../../../src/sources/journald/check-journal.ts';
import { lacksJournal } from '../../support/journal.ts';
import { journaldSourceConfig } from '../../support/source-config.ts';
import { makeTree } from '../../support/temp-tree.ts';

afterEach(() => void vi.unstubAllEnvs());

/** A machine whose `journalctl` says this, and ends so. */
function journalctlSays(text: string, code = 0): void {
  const folder = makeTree({ journalctl: `#!/bin/sh\nprintf '%s\\n' '${text}' >&2\nexit ${code}\n` });
  chmodSync(join(folder, 'journalctl'), 0o755);
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
}

const found = async (directory?: string) => checkJournal({ ...journaldSourceConfig('/nowhere'), directory });

test('check names the package where journalctl is missing', async () => {
  vi.stubEnv('PATH', makeTree({}));
  expect(await found()).toMatchObject([
    { path: 'sources.journal.type', fix: expect.stringContaining('apt-get install systemd') },
  ]);
  expect((await found())[0]!.isWarning).toBeUndefined();
});

test.each([
  ['Hint: You are currently not seeing messages from other users and the system.', 0],
  ['No journal files were opened due to insufficient permissions.', 1],
  ['Failed to open /var/log/journal/remote: Permission denied', 1],
])('check names the group where the user may not read the journal (%s)', async (text, code) => {
  journalctlSays(text, code);
  expect(await found()).toMatchObject([{ fix: expect.stringContaining('group `systemd-journal`'), isWarning: true }]);
  expect(await found('/remote')).toMatchObject([
    { path: 'sources.journal.directory', message: expect.stringContaining('/remote') },
  ]);
});

test('check names any other trouble of journalctl, and finds nothing where all is well', async () => {
  journalctlSays('Data from the specified boot is not available', 1);
  expect(await found()).toMatchObject([
    { message: expect.stringContaining('the specified boot'), fix: expect.stringContaining('--verify') },
  ]);
  journalctlSays('');
  expect(await found()).toEqual([]);
});

test.skipIf(lacksJournal !== undefined)('check warns where there is no journal', async () => {
  for (const folder of [makeTree({}), '/nowhere'])
    expect(await found(folder)).toMatchObject([{ fix: 'start systemd-journald', isWarning: true }]);
});

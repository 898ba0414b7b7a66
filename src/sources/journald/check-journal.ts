/** What `tailrace check` finds of a journal on this machine: no program to read it, no journal, or none that this user may read. */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../config/findings.ts';
import type { JournaldSourceConfig } from '../../config/model.ts';
import { filterArguments, findJournalctl, MISSING } from './journalctl.ts';

const TRY_MS = 10_000;
const JOURNALS = ['/var/log/journal', '/run/log/journal'];

export async function checkJournal(config: JournaldSourceConfig): Promise<Finding[]> {
  const path = `sources.${config.id}`;
  if (!findJournalctl()) return [{ path: `${path}.type`, ...MISSING }];
  const problem = await tryJournal(filterArguments(config));
  if (problem !== undefined)
    return [{ path: `${path}.type`, message: `\`journalctl\` cannot read the journal: ${problem}`, fix: 'see `journalctl --verify`' }];
  const folders = config.directory === undefined ? JOURNALS : [config.directory];
  const found = folders.filter((folder) => existsSync(folder));
  const key = config.directory === undefined ? 'type' : 'directory';
  if (found.length === 0)
    return [
      { path: `${path}.${key}`, message: `there is no journal in ${folders.join(' or ')}`, fix: 'start systemd-journald', isWarning: true },
    ];
  const closed = found.find((folder) => !isReadable(folder));
  if (closed === undefined) return [];
  const message = `this user may not read the journal in ${closed}, and sees no more than its own entries`;
  return [{ path: `${path}.${key}`, message, fix: 'add the user to the group `systemd-journal`', isWarning: true }];
}

function tryJournal(filter: readonly string[]): Promise<string | undefined> {
  return new Promise((done) => {
    execFile('journalctl', ['--quiet', '--no-pager', '--lines=1', '--output=cat', ...filter], { timeout: TRY_MS }, (error, _, stderr) =>
      done(error === null ? undefined : stderr.trim() || error.message),
    );
  });
}

/** Whether every folder of a machine in it can be read, and its files. */
function isReadable(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !isReadable(join(folder, entry.name))) return false;
      if (entry.name.startsWith('system') && entry.name.endsWith('.journal')) accessSync(join(folder, entry.name), constants.R_OK);
    }
    return true;
  } catch {
    return false;
  }
}

/** What `tailrace check` finds of a journal on this machine: no program to read it, no journal, or none that this user may read. */
import type { Finding } from '../../config/findings.ts';
import { systemClock } from '../../core/time/clock.ts';
import { filterArguments, findJournalctl, type JournalFilter, MISSING, runJournalctl } from './journalctl.ts';

const TRY_MS = 10_000;
/** What journalctl says where this user may read nothing, or no more than its own entries, and where there is no journal. */
const IS_CLOSED = /insufficient permissions|not seeing messages|Permission denied/;
const IS_ABSENT = /No journal files were found|No such file or directory/;

export async function checkJournal(config: JournalFilter & { readonly id: string }): Promise<Finding[]> {
  const path = `sources.${config.id}.${config.directory === undefined ? 'type' : 'directory'}`;
  if (!findJournalctl()) return [{ path: `sources.${config.id}.type`, ...MISSING }];
  const run = runJournalctl(['--no-pager', '--lines=0', ...filterArguments(config)]);
  const ended = new AbortController();
  void systemClock.sleep(TRY_MS, ended.signal).then(() => run.close());
  await run.read(Buffer.alloc(4096));
  const problem = await run.problem();
  ended.abort();
  const said = problem ?? run.said();
  const where = config.directory ?? '/var/log/journal or /run/log/journal';
  if (IS_CLOSED.test(said)) {
    const fix =
      'add the user to the group `systemd-journal` (usermod -aG systemd-journal USER), or to the one that owns the folder';
    return [
      {
        path,
        message: `this user may not read the journal in ${where}, or no more than its own entries`,
        fix,
        isWarning: true,
      },
    ];
  }
  if (IS_ABSENT.test(said))
    return [{ path, message: `there is no journal in ${where}`, fix: 'start systemd-journald', isWarning: true }];
  if (problem === undefined) return [];
  return [{ path, message: `\`journalctl\` cannot read the journal: ${problem}`, fix: 'see `journalctl --verify`' }];
}

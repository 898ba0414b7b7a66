/** The journal of a machine whose own log is in no file. */
import { existsSync } from 'node:fs';
import type { Proposal } from '../common/source-type.ts';

const JOURNALS = ['/run/log/journal', '/var/log/journal'];
/** Where a syslog daemon writes what journald hands to it. */
const SYSTEM_LOGS: ReadonlySet<string> = new Set(['/var/log/syslog', '/var/log/messages']);

const PROPOSAL: Proposal = {
  id: 'journal',
  entry: [
    '  journal:',
    "    # This machine's own log since the boot, which is in no file; `since: all` takes its whole history.",
    '    type: journald',
  ],
  text: "journal: this machine's own log, which is in no file\n  type: journald\n",
};

/** Only where nothing else was asked for: what a syslog daemon writes into a file would come twice. */
export function proposeJournal(
  paths: readonly string[],
  files: readonly { readonly path: string }[],
): Proposal | undefined {
  const hasJournal = JOURNALS.some((folder) => existsSync(folder));
  return hasJournal && paths.length === 0 && !files.some(({ path }) => SYSTEM_LOGS.has(path)) ? PROPOSAL : undefined;
}

export const remarkJournal = (include: readonly string[]): readonly string[] =>
  include.some((glob) => SYSTEM_LOGS.has(glob))
    ? ["Also holds the journal's entries: do not add `type: journald`, or each would come twice."]
    : [];

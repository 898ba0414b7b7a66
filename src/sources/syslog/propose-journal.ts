/** The journal of a machine whose own log is in no file: the source that takes what journald forwards, and what root does for it once. */
import { existsSync } from 'node:fs';
import type { Proposal } from '../common/source-type.ts';

const JOURNALS = ['/run/log/journal', '/var/log/journal'];
/** Where a syslog daemon writes what journald hands to it. */
const SYSTEM_LOGS: ReadonlySet<string> = new Set(['/var/log/syslog', '/var/log/messages']);

const STEPS: readonly string[] = [
  'mkdir -p /etc/systemd/journald.conf.d',
  "printf '[Journal]\\nForwardToSyslog=yes\\n' >/etc/systemd/journald.conf.d/tailrace.conf",
  'systemctl stop tailrace',
  'systemctl enable --now tailrace-journal.socket',
  'systemctl restart systemd-journald tailrace',
];

const PROPOSAL: Proposal = {
  id: 'journal',
  entry: [
    '  journal:',
    "    # This machine's own log is in the journal alone. journald forwards each new entry, once root has run:",
    ...STEPS.map((step) => `    #   ${step}`),
    '    type: syslog',
    '    listen: ["systemd://journal"]           # the socket of the unit tailrace-journal.socket',
    '    transform: where appname != "tailrace"  # the agent\'s own log would feed itself',
  ],
  text: `journal: what journald forwards from now on, as this machine's own log is in no file\n  listen: systemd://journal\n`,
  steps: STEPS,
};

/** Only where nothing else was asked for. */
export function proposeJournal(paths: readonly string[], files: readonly { readonly path: string }[]): Proposal | undefined {
  const hasOnlyJournal =
    paths.length === 0 && JOURNALS.some((folder) => existsSync(folder)) && !files.some(({ path }) => SYSTEM_LOGS.has(path));
  return hasOnlyJournal ? PROPOSAL : undefined;
}

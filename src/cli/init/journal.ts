/** The journal of a machine whose own log is in no file: the source that takes what journald forwards, and what root does for it once. */
import { existsSync } from 'node:fs';

const JOURNALS = ['/run/log/journal', '/var/log/journal'];
/** Where a syslog daemon writes what journald hands to it. */
const SYSTEM_LOGS: ReadonlySet<string> = new Set(['/var/log/syslog', '/var/log/messages']);

/** `files`: those that were found. */
export function hasOnlyJournal(paths: readonly string[], files: readonly { readonly path: string }[]): boolean {
  return paths.length === 0 && JOURNALS.some((folder) => existsSync(folder)) && !files.some(({ path }) => SYSTEM_LOGS.has(path));
}

export const JOURNAL_STEPS: readonly string[] = [
  'mkdir -p /etc/systemd/journald.conf.d',
  "printf '[Journal]\\nForwardToSyslog=yes\\n' >/etc/systemd/journald.conf.d/tailrace.conf",
  'systemctl stop tailrace',
  'systemctl enable --now tailrace-journal.socket',
  'systemctl restart systemd-journald tailrace',
];

/** The entry of `sources`. */
export const JOURNAL_SOURCE: readonly string[] = [
  '  journal:',
  "    # This machine's own log is in the journal alone. journald forwards each new entry, once root has run:",
  ...JOURNAL_STEPS.map((step) => `    #   ${step}`),
  '    type: syslog',
  '    listen: ["systemd://journal"]           # the socket of the unit tailrace-journal.socket',
  '    transform: where appname != "tailrace"  # the agent\'s own log would feed itself',
];

/** As init shows it. */
export const JOURNAL_TEXT = `journal: what journald forwards from now on, as this machine's own log is in no file\n  listen: systemd://journal\n`;

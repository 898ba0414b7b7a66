/** Debian's rsyslog as `.ci/unpack-rsyslog` brings it: beside syslog-ng, with which it conflicts as a package. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '.ci', 'rsyslog');

export const hasRsyslog = existsSync(join(FOLDER, 'rsyslogd'));

/** Starts it in the foreground on a configuration; the caller ends it. */
export function startRsyslog(folder: string, config: string): ChildProcess {
  const file = join(folder, 'rsyslog.conf');
  writeFileSync(file, config);
  const args = ['-n', '-M', join(FOLDER, 'modules'), '-i', join(folder, 'rsyslog.pid'), '-f', file];
  const env = { ...process.env, LD_LIBRARY_PATH: join(FOLDER, 'lib') };
  return spawn(join(FOLDER, 'rsyslogd'), args, { stdio: ['ignore', 'ignore', 'inherit'], env });
}

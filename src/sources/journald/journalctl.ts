/** The program that reads the journal: its arguments, and one run of it, whose output is read as bytes. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { JournaldConfig } from './journald-type.ts';
import { FIELDS } from '../../kernel/journal.ts';
import { messageOf } from '../../core/errors.ts';
import { type ByteInput, fromReadable } from '../stdin/stdin-input.ts';
import { JOURNAL_STDERR_BYTES } from './limits.ts';

export type JournalFilter = Pick<JournaldConfig, 'units' | 'identifiers' | 'priority' | 'namespaces' | 'directory'>;

/** Which entries are wanted: with the same arguments the same are read again. */
export function filterArguments({ units, identifiers, priority, namespaces, directory }: JournalFilter): string[] {
  return [
    ...(directory === undefined ? [] : [`--directory=${directory}`]),
    ...(namespaces.length === 0 ? [] : [`--namespace=${namespaces.length === 1 ? namespaces[0]! : '*'}`]),
    ...units.map((unit) => `--unit=${unit}`),
    ...identifiers.map((identifier) => `--identifier=${identifier}`),
    ...(priority === 'debug' ? [] : [`--priority=${priority}`]),
    ...(namespaces.length > 1 ? namespaces.map((namespace) => `_NAMESPACE=${namespace}`) : []),
  ];
}

/** What a former configuration chose, in the folder of this one. */
export function placedAt({ directory }: JournalFilter, chosen: readonly string[]): string[] {
  return [
    ...(directory === undefined ? [] : [`--directory=${directory}`]),
    ...chosen.filter((each) => !each.startsWith('--directory=')),
  ];
}

export function outputArguments({ allFields }: JournaldConfig): string[] {
  return ['--output=export', '--quiet', '--no-pager', ...(allFields ? [] : [`--output-fields=${FIELDS.join(',')}`])];
}

/** Where the first start begins. By time: units and containers may see the id of another boot, and journals of other machines have none of this one. */
export function beginArguments({ since }: JournaldConfig, bootMs: number): string[] {
  return since === 'all' ? [] : [`--since=@${((since === 'boot' ? bootMs : since) / 1000).toFixed(3)}`];
}

/** Without `--merge` journalctl follows this boot alone: entries before a restart of the machine would be lost. With it, it reads other machines, too. */
export function followArguments({ directory }: JournaldConfig, machineIdFile = '/etc/machine-id'): string[] {
  const machineId =
    directory === undefined && existsSync(machineIdFile) ? readFileSync(machineIdFile, 'utf8').trim() : '';
  return ['--follow', '--no-tail', '--merge', ...(machineId === '' ? [] : [`_MACHINE_ID=${machineId}`])];
}

/** Where the program is; undefined where it is not installed. */
export function findJournalctl(path = process.env['PATH'] ?? ''): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, 'journalctl'))
    .find((file) => existsSync(file));
}

export const MISSING = {
  message: '`journalctl` is not installed, and a journald source reads the journal through it',
  fix: 'install the package `systemd` (apt-get install systemd, dnf install systemd), or remove the source',
};

export interface JournalRun extends ByteInput {
  /** How it ended, once `read` gave 0: undefined where that was as it should. */
  problem(): Promise<string | undefined>;
  /** The end of its messages so far. */
  said(): string;
}

export function runJournalctl(args: readonly string[]): JournalRun {
  const child = spawn('journalctl', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  const input = fromReadable(child.stdout);
  let said = '';
  let isClosed = false;
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-JOURNAL_STDERR_BYTES)));
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(messageOf(error)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(`${code === null ? `ended by ${signal}` : `exit code ${code}`}${said.trim() && `: ${said.trim()}`}`);
    });
  });
  return {
    read: (into) => (isClosed ? Promise.resolve(0) : input.read(into)),
    close() {
      if (isClosed) return;
      isClosed = true;
      // It only reads; one that was stopped takes no other signal.
      child.kill('SIGKILL');
      input.close();
    },
    problem: () => ended,
    said: () => said.trim(),
  };
}

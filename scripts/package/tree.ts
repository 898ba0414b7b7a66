/** The files that a native package installs: the same for deb and rpm. */
import { chmodSync, lutimesSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CommandEntry } from './command-table.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './completions.ts';
import { manualPage } from './man.ts';

export interface PackageFile {
  /** Absolute, where it is installed. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
  /** A configuration file: an upgrade keeps what the user changed. */
  readonly isConfig?: boolean;
}

export interface TreeOptions {
  readonly root: string;
  readonly executable: string;
  readonly commands: readonly CommandEntry[];
  readonly version: string;
  readonly date: Date;
  /** Licences of the executable's parts, as text. */
  readonly licences: string;
}

const UNITS = ['tailrace.service', 'tailrace@.service', 'tailrace-syslog.socket', 'tailrace-journal.socket'];

export function packageFiles({ root, executable, commands, version, date, licences }: TreeOptions): PackageFile[] {
  const read = (path: string): Buffer => readFileSync(join(root, path));
  const text = (path: string, content: string | Buffer, mode = 0o644): PackageFile => ({
    path,
    mode,
    content: Buffer.from(content),
  });
  const packed = (path: string, content: string | Buffer): PackageFile =>
    // Level 9 and no time: the same bytes in every build.
    text(path, gzipSync(content, { level: 9 }));
  const man = manualPage(commands, { version, date: date.toISOString().slice(0, 10) });
  return [
    { path: '/usr/bin/tailrace', mode: 0o755, content: readFileSync(executable) },
    { ...text('/etc/tailrace/tailrace.yaml', read('packaging/tailrace.yaml')), isConfig: true },
    { ...text('/etc/tailrace/conf.d/README', read('packaging/conf.d-readme')), isConfig: true },
    ...UNITS.map((unit) => text(`/usr/lib/systemd/system/${unit}`, read(`systemd/${unit}`))),
    text('/usr/lib/sysusers.d/tailrace.conf', read('packaging/tailrace.sysusers')),
    packed('/usr/share/man/man1/tailrace.1.gz', man),
    text('/usr/share/bash-completion/completions/tailrace', bashCompletion(commands)),
    text('/usr/share/zsh/vendor-completions/_tailrace', zshCompletion(commands)),
    text('/usr/share/fish/vendor_completions.d/tailrace.fish', fishCompletion(commands)),
    text('/usr/share/doc/tailrace/config.example.yaml', read('config.example.yaml')),
    packed('/usr/share/doc/tailrace/CHANGELOG.md.gz', read('CHANGELOG.md')),
    packed('/usr/share/doc/tailrace/THIRD-PARTY-LICENSES.gz', licences),
    text('/usr/share/doc/tailrace/copyright', read('packaging/copyright')),
  ];
}

/** Writes them below `folder`, with the modes and one time for all. */
export function writeTree(folder: string, files: readonly PackageFile[], date: Date): void {
  for (const { path, mode, content } of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    writeFileSync(target, content);
    chmodSync(target, mode);
  }
  setTimes(folder, date);
}

function setTimes(folder: string, date: Date): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      chmodSync(path, 0o755);
      setTimes(path, date);
    } else lutimesSync(path, date, date);
  }
  utimesSync(folder, date, date);
}

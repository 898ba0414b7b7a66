/** What `tailrace check` finds on this machine beside the configuration's text: globs without files, secrets, buffers. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeShortMemory } from '../../agent/build/memory-limit.ts';
import type { Problem } from '../../config/config-error.ts';
import type { Config, FileSourceConfig } from '../../config/model.ts';
import { findTlsProblem } from '../../config/connect/tls-files.ts';
import { UDP_RECEIVE_BUFFER_BYTES } from '../../sources/syslog/limits.ts';
import { silentLog } from '../../core/log.ts';
import type { PrivateFiles } from '../../core/source.ts';
import { systemClock } from '../../core/time/clock.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';
import { findFiles } from '../../sources/file/scan/find-files.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { isGzipOrZstdName } from '../../sources/file/scan/rotated-names.ts';
import { describeSharedFiles } from '../agent/shared-files.ts';
import { plural } from '../output/say.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

/** The place of a configuration path such as `sources.app.include.0`. */
export type Locate = (path: string) => Pick<Problem, 'file' | 'line' | 'column'>;

export interface MachineFindings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

const RMEM_MAX = '/proc/sys/net/core/rmem_max';

/** Reads folders, token and certificate files, nothing else. `rmemMaxFile` holds the largest receive buffer that the kernel grants. */
export async function checkMachine(config: Config, locate: Locate, rmemMaxFile = RMEM_MAX): Promise<MachineFindings> {
  const warnings: Problem[] = [...checkDataDir(config.dataDir, locate)];
  const privateFiles = new ListedPrivateFiles(() => config, systemClock);
  for (const source of config.sources) {
    if (source.type === 'file') warnings.push(...(await checkGlobs(source, locate, privateFiles)));
    if (source.type !== 'syslog') continue;
    const udp = source.listen.findIndex(({ protocol }) => protocol === 'udp');
    const warning = udp < 0 ? undefined : udpWarning(rmemMaxFile);
    if (warning !== undefined) warnings.push({ ...locate(`sources.${source.id}.listen.${udp}`), ...warning });
  }
  for (const { source, message, fix } of describeSharedFiles(config))
    warnings.push({ ...locate(`sources.${source}.include`), message, fix });
  const short = describeShortMemory();
  if (short) warnings.push({ ...locate('sinks'), ...short });
  const problems: Problem[] = [];
  for (const source of config.sources) {
    if (source.type === 'syslog' && source.listen.some(({ protocol }) => protocol === 'tls' || protocol === 'systemd-tls'))
      problems.push(
        ...findTlsProblem(`sources.${source.id}.tls`, source.tls).map(({ path, ...problem }) => ({ ...locate(path), ...problem })),
      );
  }
  for (const { path, message, fix, isWarning = false } of config.sinks.flatMap((sink) => sinkTypeOf(sink).check?.(sink) ?? []))
    (isWarning ? warnings : problems).push({ ...locate(path), message, fix });
  return { problems, warnings };
}

/** The folder may be missing: the agent makes it. */
function checkDataDir(folder: string, locate: Locate): Problem[] {
  let there = folder;
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  if (may(there, constants.W_OK | constants.X_OK)) return [];
  const message = `this user cannot write to ${there}, where the data folder ${there === folder ? 'is' : `\`${folder}\` would be`}`;
  return [{ ...locate('data_dir'), message, fix: 'give the user that runs the agent the right to, or set data_dir to another folder' }];
}

async function checkGlobs(source: FileSourceConfig, locate: Locate, privateFiles: PrivateFiles): Promise<Problem[]> {
  const warnings: Problem[] = [];
  for (const [index, glob] of source.include.entries()) {
    const hidden: string[] = [];
    const log = {
      ...silentLog,
      warn: ({ path, code }: { path?: string; code?: string }) => void (code === 'EACCES' && path !== undefined && hidden.push(path)),
    };
    const { found: all, refused } = await findFiles(source, privateFiles, log, [glob]);
    const found = [...all.keys()];
    const warn = (message: string, fix: string): void =>
      void warnings.push({ ...locate(`sources.${source.id}.include.${index}`), message, fix });
    if (hidden.length > 0)
      warn(
        `this user may not look at ${plural(hidden.length, 'path')} that \`${glob}\` leads to, such as ${hidden[0]}`,
        'give the user that runs the agent the right to list and search the folders',
      );
    else if (found.length + refused.size === 0) warn(...noFile(glob));
    const [links, secrets] = [[...refused].filter(([, { isLink }]) => isLink), [...refused].filter(([, { isLink }]) => !isLink)];
    for (const [what, [first, ...others]] of [
      ['symbolic link', links],
      ['path', secrets],
    ] as const) {
      if (!first) continue;
      const [path, { path: at, reason, fix }] = first;
      const more = `${path === at ? '' : ` (it leads through ${at})`}: ${reason}`;
      warn(`${plural(others.length + 1, what)} that \`${glob}\` matches will be left out, such as ${path}${more}`, fix);
    }
    const compressed = source.readCompressed ? [] : found.filter(isGzipOrZstdName);
    if (compressed.length > 0)
      warn(
        `${plural(compressed.length, 'compressed file')} that \`${glob}\` matches will be left out, such as ${compressed[0]}`,
        'set `read_compressed: true` to read what was never read in its plain form, or exclude them',
      );
    const unreadable = found.filter((path) => !compressed.includes(path) && !may(path, constants.R_OK));
    if (unreadable.length > 0)
      warn(
        `${plural(unreadable.length, 'file')} that \`${glob}\` matches cannot be read by this user, such as ${unreadable[0]}`,
        'give the user that runs the agent the right to read them',
      );
  }
  return warnings;
}

function noFile(glob: string): [message: string, fix: string] {
  // With a slash after it only a folder exists.
  if (existsSync(`${glob}/`)) {
    const folder = trimEndOf(glob, '/');
    return [
      `\`${glob}\` is a folder, no file`,
      `write \`${folder}/*.log\` for the logs in it, \`${folder}/**/*.log\` for those in its folders, too`,
    ];
  }
  const fix = glob.includes('/~/')
    ? 'write the folder out, or `${HOME}` in quotes: `~` is a name like any other'
    : 'files that appear later are read; check the path, and that this user may list its folder';
  return [`no file matches \`${glob}\` now`, fix];
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function udpWarning(file: string): { message: string; fix: string } | undefined {
  let bytes;
  try {
    bytes = Number(readFileSync(file, 'utf8'));
  } catch {
    // Other systems have no such limit to read.
    return undefined;
  }
  if (!(bytes < UDP_RECEIVE_BUFFER_BYTES)) return undefined;
  const message = `UDP bursts will be lost: the kernel's largest receive buffer (net.core.rmem_max) is ${bytes} bytes, below 4 MiB`;
  return { message, fix: `run \`sysctl -w net.core.rmem_max=${UDP_RECEIVE_BUFFER_BYTES}\` as root, and keep it in /etc/sysctl.d` };
}

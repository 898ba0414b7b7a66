/** What `tailrace check` finds of the patterns of files on this machine: those without files, files that will be left out or cannot be read. */
import { accessSync, constants, existsSync } from 'node:fs';
import type { FileConfig } from './file-type.ts';
import { silentLog } from '../../core/log.ts';
import type { PrivateFiles } from '../../core/source.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';
import type { Finding } from '../../config/findings.ts';
import { findFiles } from './scan/find-files.ts';
import { isGzipOrZstdName } from './scan/rotated-names.ts';

export async function checkGlobs(source: FileConfig, privateFiles: PrivateFiles): Promise<Finding[]> {
  const warnings: Finding[] = [];
  for (const [index, glob] of source.include.entries()) {
    const hidden: string[] = [];
    const log = {
      ...silentLog,
      warn: ({ path, code }: { path?: string; code?: string }) =>
        void (code === 'EACCES' && path !== undefined && hidden.push(path)),
    };
    const { found: all, refused } = await findFiles(source, privateFiles, log, [glob]);
    const found = [...all.keys()];
    const warn = (message: string, fix: string): void =>
      void warnings.push({ path: `sources.${source.id}.include.${index}`, message, fix, isWarning: true });
    if (hidden.length > 0)
      warn(
        `this user may not look at ${plural(hidden.length, 'path')} that \`${glob}\` leads to, such as ${hidden[0]}`,
        'give the user that runs the agent the right to list and search the folders',
      );
    else if (found.length + refused.size === 0) warn(...noFile(glob));
    const [links, secrets] = [
      [...refused].filter(([, { isLink }]) => isLink),
      [...refused].filter(([, { isLink }]) => !isLink),
    ];
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
    const unreadable = found.filter((path) => !compressed.includes(path) && !isReadable(path));
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

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

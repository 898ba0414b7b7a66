/** The embedded engine as `tailrace engine install` puts it on a machine, for a program that has no node_modules. */
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import type * as Chdb from 'chdb';
import { TailraceError } from '../../core/errors.ts';
import { enginePackages } from './packages.ts';

const DEFAULT_FOLDER = '/var/lib/tailrace/engine';

/** npm's name for what this machine runs. */
const PLATFORM = `${process.platform}-${process.arch}`;

/** The engine's own package, and the one that holds its library for this machine; undefined where the registry has none. */
export function packagesFor(platform = PLATFORM): typeof enginePackages | undefined {
  const library = enginePackages.find(({ name }) => name.startsWith(`@chdb/lib-${platform}`));
  const engine = enginePackages.find(({ name }) => name === 'chdb');
  return library && engine && [engine, library];
}

export const engineVersion = enginePackages.find(({ name }) => name === 'chdb')!.version;

/** `TAILRACE_ENGINE_FOLDER`, or /var/lib/tailrace/engine. */
export function engineFolder(env: NodeJS.ProcessEnv): string {
  return env['TAILRACE_ENGINE_FOLDER'] || DEFAULT_FOLDER;
}

/** The subfolder of the version that this program was built with. */
export function versionFolder(folder: string): string {
  return join(folder, `chdb-${engineVersion}`);
}

/** Loads the engine; undefined where it is not installed. Throws when loading fails, and when another user may write the folder. */
export function loadInstalled(env: NodeJS.ProcessEnv): typeof Chdb | undefined {
  const folder = versionFolder(engineFolder(env));
  const path = join(folder, 'node_modules', 'chdb');
  if (!existsSync(path)) return undefined;
  const { uid, mode } = statSync(folder);
  if ((uid !== 0 && uid !== process.getuid?.()) || (mode & 0o022) !== 0)
    throw new TailraceError(
      'E_ENGINE_FOLDER',
      `the engine in ${folder} is not loaded: another user than root and this one may change it`,
      {
        fix: 'remove it and run tailrace engine install again',
      },
    );
  return createRequire(join(path, 'package.json'))(path) as typeof Chdb;
}

/** The command that installs the engine here. */
export function howToInstall(): string {
  if (!packagesFor())
    return `there is none for ${PLATFORM} in the npm registry: use a ClickHouse server, --engine clickhouse://…`;
  return isSea()
    ? 'tailrace engine install (170 MB from the npm registry), or --engine clickhouse://…'
    : `npm install chdb@${engineVersion}`;
}

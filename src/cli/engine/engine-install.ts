/** `tailrace engine install`: the embedded engine for a program that came without it. */
import { resolve, dirname, join } from 'node:path';
import { TailraceError, UsageError, codeOf, messageOf } from '../../core/errors.ts';
import {
  engineFolder,
  engineVersion,
  howToInstall,
  packagesFor,
  versionFolder,
} from '../../service/engine/installed.ts';
import { untilStopped } from '../client/output/progress.ts';
import type { ArgumentsOf } from '../options/command-options.ts';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { syncPath } from '../../state/descriptors.ts';
import type { EnginePackage } from '../../service/engine/packages.ts';
import { download } from './download.ts';
import { unpack } from './unpack.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

const NPM = 'https://registry.npmjs.org/';

/** Resolves to the exit code: 0 installed or there already, 1 failed. Throws `TailraceError`. */
export async function engineInstall({
  folder,
  registry,
  json = false,
}: ArgumentsOf<'engine install'>): Promise<number> {
  const packages = packagesFor();
  if (!packages)
    throw new TailraceError('E_ENGINE_MISSING', 'there is no embedded engine for this machine', {
      fix: howToInstall(),
    });
  const from = registry ?? process.env['npm_config_registry'] ?? NPM;
  if (!/^https?:\/\/[^/]/.test(from))
    throw new UsageError('E_REGISTRY', `--registry ${JSON.stringify(from)}: wanted an address`, {
      fix: `write it as ${NPM}`,
    });
  const root = folder === undefined ? engineFolder(process.env) : resolve(folder);
  const target = versionFolder(root);
  const isNew = await untilStopped(
    (bar, signal) => {
      let current = '';
      const progress = (name: string, bytes: number, total: number | undefined): void => {
        if (name !== current) bar.say(`fetching ${(current = name)} from ${new URL(from).host}`);
        bar.show(() => `${name}: ${megabytes(bytes)}${total === undefined ? '' : ` of ${megabytes(total)}`} MB`);
      };
      return installEngine({ packages, target, registry: from, signal, progress });
    },
    new TailraceError('E_STOPPED', 'stopped; nothing was installed'),
  );
  const message = `the embedded engine chdb ${engineVersion} is in ${target}${isNew ? '' : ' already'}`;
  process.stdout.write(
    json ? `${JSON.stringify({ version: engineVersion, folder: target, installed: isNew })}\n` : `${message}\n`,
  );
  if (root !== engineFolder(process.env))
    process.stderr.write(`so that \`tailrace serve\` finds it: export TAILRACE_ENGINE_FOLDER=${root}\n`);
  return 0;
}

const megabytes = (bytes: number): string => String(Math.round(bytes / 1e6));

interface EngineInstall {
  readonly packages: readonly EnginePackage[];
  /** Where they are installed; its parent may be missing. */
  readonly target: string;
  /** `https://registry.npmjs.org/` or one like it. */
  readonly registry: string;
  readonly signal: AbortSignal;
  readonly progress: (name: string, bytes: number, total: number | undefined) => void;
}

/** Resolves to false where it was there already. Throws `TailraceError`. */
export async function installEngine({ packages, target, registry, signal, progress }: EngineInstall): Promise<boolean> {
  if (existsSync(target)) return false;
  const parent = dirname(target);
  const work = join(parent, `.partial-${process.pid}`);
  try {
    await mkdir(parent, { recursive: true });
    await removeLeftovers(parent);
    await mkdir(work, { mode: 0o755 });
    for (const { name, version, integrity } of packages) {
      const archive = join(work, 'package.tgz');
      const url = `${trimEndOf(registry, '/')}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
      await download({ url, integrity, to: archive, signal, progress: (bytes, total) => progress(name, bytes, total) });
      await unpack(createReadStream(archive).pipe(createGunzip()), join(work, 'node_modules', name));
      await rm(archive);
    }
    signal.throwIfAborted();
    await rename(work, target);
    await syncPath(parent);
    return true;
  } catch (error) {
    // Another run was faster.
    if (existsSync(target) && ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false;
    if (error instanceof TailraceError) throw error;
    throw new TailraceError('E_ENGINE_INSTALL', `cannot install the engine into ${target}: ${messageOf(error)}`, {
      fix: 'run it as root, or name a folder that you may write, with 800 MB free, with --folder',
      cause: error,
    });
  } finally {
    // Where it was never made, its parent may not be a folder, which the first error reports.
    await rm(work, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Of runs that were killed. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /^\.partial-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

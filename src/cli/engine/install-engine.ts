/**
 * Brings the embedded engine onto a machine without npm: fetches its packages, holds each against the checksum that this program was built
 * with, and renames the whole into place. Promises: the engine is there whole or not at all; what a failed run made is removed.
 */
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { syncPath } from '../../state/descriptors.ts';
import type { EnginePackage } from '../../service/engine/packages.ts';
import { download } from './download.ts';
import { unpack } from './unpack.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

export interface EngineInstall {
  readonly packages: readonly EnginePackage[];
  /** Where they come to stand; its parent may be missing. */
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

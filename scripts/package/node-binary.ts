/** The Node that goes into an executable: the pinned one of scripts/runtime, from its npm package. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arch } from './executable.ts';
import { run } from './run.ts';

/** Its path; fetched with npm into `folder` where set-up has not brought it (another architecture). Throws when npm cannot. */
export function findNode(root: string, arch: Arch, folder: string): string {
  const runtime = join(root, 'scripts', 'runtime');
  const installed = join(runtime, 'node_modules', `node-linux-${arch}`, 'bin', 'node');
  if (existsSync(installed)) return installed;
  const lock = JSON.parse(readFileSync(join(runtime, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>;
  };
  const locked = lock.packages[`node_modules/node-linux-${arch}`];
  if (!locked) throw new Error(`the lock file names no node-linux-${arch}`);
  const { version, integrity } = locked;
  mkdirSync(folder, { recursive: true });
  const packed = JSON.parse(run('npm', ['pack', '--json', `node-linux-${arch}@${version}`], { cwd: folder })) as {
    integrity: string;
  }[];
  if (packed[0]?.integrity !== integrity)
    throw new Error(`node-linux-${arch}@${version} does not have the integrity that the lock file names`);
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  run('tar', ['-xzf', join(folder, archive), '-C', folder]);
  return join(folder, 'package', 'bin', 'node');
}

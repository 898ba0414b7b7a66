/** `tailrace engine install`: the embedded engine for a program that came without it. */
import { resolve } from 'node:path';
import { TailraceError, UsageError } from '../../core/errors.ts';
import { engineFolder, engineVersion, howToInstall, packagesFor, versionFolder } from '../../service/engine/installed.ts';
import { startProgress } from '../client/output/progress.ts';
import { installEngine } from './install-engine.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

const NPM = 'https://registry.npmjs.org/';

/** Resolves to the exit code: 0 installed or there already, 1 failed. Throws `TailraceError`. */
export async function engineInstall({ folder, registry, json = false }: ArgumentsOf<'engine install'>): Promise<number> {
  const packages = packagesFor();
  if (!packages) throw new TailraceError('E_ENGINE_MISSING', 'there is no embedded engine for this machine', { fix: howToInstall() });
  const from = registry ?? process.env['npm_config_registry'] ?? NPM;
  if (!/^https?:\/\/[^/]/.test(from))
    throw new UsageError('E_REGISTRY', `--registry ${JSON.stringify(from)}: wanted an address`, { fix: `write it as ${NPM}` });
  const root = folder === undefined ? engineFolder(process.env) : resolve(folder);
  const target = versionFolder(root);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new TailraceError('E_STOPPED', 'stopped; nothing was installed'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const bar = startProgress();
  let current = '';
  const progress = (name: string, bytes: number, total: number | undefined): void => {
    if (name !== current) bar.say(`fetching ${(current = name)} from ${new URL(from).host}`);
    bar.show(() => `${name}: ${megabytes(bytes)}${total === undefined ? '' : ` of ${megabytes(total)}`} MB`);
  };
  try {
    const isNew = await installEngine({ packages, target, registry: from, signal: stopping.signal, progress });
    bar.end();
    const message = `the embedded engine chdb ${engineVersion} is in ${target}${isNew ? '' : ' already'}`;
    process.stdout.write(json ? `${JSON.stringify({ version: engineVersion, folder: target, installed: isNew })}\n` : `${message}\n`);
    if (root !== engineFolder(process.env))
      process.stderr.write(`so that \`tailrace serve\` finds it: export TAILRACE_ENGINE_FOLDER=${root}\n`);
    return 0;
  } finally {
    bar.end();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
}

const megabytes = (bytes: number): string => String(Math.round(bytes / 1e6));

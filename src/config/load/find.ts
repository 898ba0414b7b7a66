/** Which configuration file a command uses. */
import { existsSync } from 'node:fs';
import { UsageError } from '../../core/errors.ts';
import type { Environment } from '../yaml/expand.ts';

/** Looked for in this order when no file is named. */
const DEFAULT_CONFIGS: readonly string[] = ['tailrace.yaml', '/etc/tailrace/tailrace.yaml'];

/**
 * The named file as it is, else the one in `TAILRACE_CONFIG`, else the first default that exists. Throws `UsageError` `E_NO_CONFIG` if none
 * exists.
 */
export function findConfig(named: string | undefined, env: Environment = process.env): string {
  if (named !== undefined) return named;
  const fromEnv = env['TAILRACE_CONFIG'];
  if (fromEnv !== undefined && fromEnv !== '') return fromEnv;
  const found = DEFAULT_CONFIGS.find((path) => existsSync(path));
  if (found !== undefined) return found;
  const misnamed = DEFAULT_CONFIGS.map((path) => path.replace(/yaml$/, 'yml')).find((path) => existsSync(path));
  const fix =
    misnamed === undefined
      ? 'name one with `--config FILE` or in TAILRACE_CONFIG, or start from config.example.yaml'
      : `rename ${misnamed} to ${misnamed.replace(/yml$/, 'yaml')}, or name it with \`--config ${misnamed}\``;
  throw new UsageError('E_NO_CONFIG', `no configuration found: neither ./${DEFAULT_CONFIGS.join(' nor ')} exists`, {
    fix,
  });
}

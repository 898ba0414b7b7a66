/** Which configuration file a command uses. */
import { existsSync } from 'node:fs';
import { UsageError } from '../core/errors.ts';

/** Looked for in this order when no file is named. */
const DEFAULT_CONFIGS: readonly string[] = ['tailrace.yaml', '/etc/tailrace/tailrace.yaml'];

/** The named file as it is, else the first default that exists. Throws `UsageError` `E_NO_CONFIG` when there is none. */
export function findConfig(named: string | undefined): string {
  if (named !== undefined) return named;
  const found = DEFAULT_CONFIGS.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new UsageError('E_NO_CONFIG', `no configuration found: neither ./${DEFAULT_CONFIGS.join(' nor ')} exists`, {
    fix: 'name one with `--config FILE`, or start from config.example.yaml',
  });
}

/** Runs a program to its end. */
import { spawnSync, type SpawnSyncOptions } from 'node:child_process';

/** What it printed. Throws with what it printed when it fails. */
export function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): string {
  const result = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  if (result.status === 0) return String(result.stdout ?? '');
  throw new Error(
    `${program} ${args.join(' ')} failed: ${result.error?.message ?? `${String(result.stdout)}${String(result.stderr)}`}`,
  );
}

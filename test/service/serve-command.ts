/** `tailrace serve` in a process of its own. */
import { join } from 'node:path';
import type { ArgumentsOf } from '../../src/cli/options/command-options.ts';
import { type Program, startCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

interface Ready {
  readonly url: string;
  readonly org_id: string;
  readonly api_token: string | null;
  readonly personal_token: string | null;
  readonly ingest_token: string | null;
}

/** Starts it with these arguments, on a port of its own. */
export function run(
  args: ArgumentsOf<'serve'>,
  env: Record<string, string> = {},
): Program & { readonly ready: () => Promise<Ready> } {
  const script = join(import.meta.dirname, 'serve-process.ts');
  const program = startCommand(process.execPath, [script, JSON.stringify({ listen: '127.0.0.1:0', ...args })], env);
  return {
    ...program,
    /** The first line on stdout, parsed; rejects when the process ends without one. */
    async ready() {
      await until('its first line', () => program.stdout().includes('\n') || program.process.exitCode !== null);
      if (program.stdout() === '') throw new Error(`ended without a line: ${program.stderr()}`);
      return JSON.parse(program.stdout().split('\n')[0]!) as Ready;
    },
  };
}

/** A service as the clients of the API family find theirs: with their headers' prefix and one token for everything. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { serviceForSuite, type Client } from '../service/support.ts';

const INSTALLED = join(import.meta.dirname, '..', '..', '.ci', 'validators');

/** Where `.ci/run` put it; undefined where it is not. */
export function installed(...path: readonly string[]): string | undefined {
  const found = join(INSTALLED, ...path);
  return existsSync(found) ? found : undefined;
}

/** Call it at the top of a suite. */
export const serviceForClients = (): Client =>
  serviceForSuite({ headerPrefix: 'X-Axiom-', personalIngest: true }).client;

/** The variables that all official clients read. */
export const environmentOf = ({ url, personalToken, orgId }: Client) => ({
  AXIOM_URL: url,
  AXIOM_TOKEN: personalToken,
  AXIOM_ORG_ID: orgId,
});

/** Runs a program to its end, whatever its exit code. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env, input }: { readonly cwd?: string; readonly env: Record<string, string>; readonly input?: string },
): Promise<{ readonly code: number | null; readonly out: string; readonly errors: string }> {
  const child = spawn(command, args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } });
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, errors }));
  });
}

/** Runs `tailrace` once, to its end, against a service. */
import { spawn } from 'node:child_process';
import { BINARY } from '../support/program.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Stdout as JSON, a value for each line. */
  json<T = Record<string, unknown>>(): T[];
}

export interface Running {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  readonly cwd?: string;
}

const OURS = /^(TAILRACE_|NODE_COMPILE_CACHE$|https?_proxy$|no_proxy$)/i;
const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name)));

/** A `tailrace` that knows its service and token; what the environment of the tests says about either does not count. */
export function tailraceFor(
  env: Readonly<Record<string, string>>,
): (args: readonly string[], how?: Running) => Promise<Ended> {
  return (args, { env: more = {}, input, cwd } = {}) => {
    const child = spawn(BINARY, args, {
      env: { ...withoutOurs(process.env), ...env, ...more },
      ...(cwd !== undefined && { cwd }),
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) =>
        resolve({
          code,
          stdout,
          stderr,
          json: <T>() =>
            stdout
              .split('\n')
              .filter((line) => line !== '')
              .map((line) => JSON.parse(line) as T),
        }),
      );
    });
  };
}

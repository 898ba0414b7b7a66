/** The real command line as a child process, and a way to ask what it says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

/** `bin/tailrace`, for tests that name it in a shell's command line. */
export const BINARY = join(import.meta.dirname, '..', '..', 'bin', 'tailrace');

/** Ends what a test started when it ends; what a hook started is the hook's to end. */
export function endWithTest(end: () => unknown): void {
  try {
    onTestFinished(async () => void (await end()));
  } catch {
    // Started outside of a test.
  }
}

export interface Program {
  readonly process: ChildProcess;
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Waits for a line on stderr that contains `text`, and returns it. */
  readonly says: (text: string) => Promise<string>;
  /** Ends it with `signal` and waits. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
}

/** Starts `bin/tailrace` with these arguments. It is killed when the test that started it ends; one of a hook is to be ended by it. */
export function startProgram(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Program {
  return startCommand(BINARY, args, env, stdin);
}

/** The same for any command: a shell with a pipeline, a wrapper that takes privileges away. */
export function startCommand(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Program {
  // It starts as it does for people, without what the tests compiled before.
  const child = spawn(command, args, {
    stdio: [stdin, 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL')),
  );
  endWithTest(() => void child.kill('SIGKILL'));
  const program: Program = {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    says: async (text) => {
      await until(`"${text}" on stderr`, () => stderr.includes(text) || child.exitCode !== null || stderr.slice(-2000));
      const line = stderr.split('\n').find((each) => each.includes(text));
      if (line === undefined) throw new Error(`it never said "${text}"; it said:\n${stderr}`);
      return line;
    },
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
  return program;
}

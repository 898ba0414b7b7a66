/** A script in a process of its own, for what only the environment of a whole process decides. */
import { spawn } from 'node:child_process';

type Environment = Readonly<Record<string, string>>;

export interface Ended {
  /** Null after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it with this Node and resolves with what it printed; rejects when it fails. */
export async function runNode(args: readonly string[], env: Environment): Promise<string> {
  const { code, stdout, stderr } = await tryNode(args, env);
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr}`);
  return stdout;
}

/** The same, and failing is one way to end. Killed after `timeoutMs`, as it may never come to an end. */
export function tryNode(args: readonly string[], env: Environment = {}, timeoutMs?: number): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

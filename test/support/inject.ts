/** Makes the Nth system call of a kind fail in a running process, with strace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from './installed.ts';
import { until } from './until.ts';

/** Where strace is; undefined where it is not installed. */
export const STRACE = findProgram('strace');

/**
 * From now on the `nth` call (from 1) of `call` in each thread of the process fails with `code` and does nothing. Resolves with a
 * function that ends it and tells how many calls there were, the failed one included.
 */
export async function injectFault(
  pid: number,
  call: string,
  code: string,
  nth: number,
): Promise<() => Promise<number>> {
  const fault = `inject=${call}:error=${code}:when=${nth}`;
  const strace = spawn(STRACE!, ['-f', '-p', String(pid), '-e', `trace=${call}`, '-e', 'signal=none', '-e', fault]);
  let traced = '';
  strace.stderr.setEncoding('utf8').on('data', (text: string) => (traced += text));
  const closed = once(strace, 'close');
  await until('strace is attached', () => traced.includes('attached') || strace.exitCode !== null, { everyMs: 1 });
  if (strace.exitCode !== null) throw new Error(`strace cannot attach: ${traced}`);
  return async () => {
    strace.kill('SIGINT');
    await closed;
    return traced.split('\n').filter((line) => line.includes(`${call}(`)).length;
  };
}

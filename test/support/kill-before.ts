/**
 * For a process of its own: ends it with SIGKILL just before its Nth call that changes the disk, so that a test can try every
 * place between two steps. All functions of `node:fs` and `node:fs/promises` that the program uses to write are counted.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const CALLED = ['open', 'writev', 'fsync', 'rename', 'unlink'] as const;
const SYNC = [
  'mkdirSync',
  'openSync',
  'writeSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'rmSync',
  'writeFileSync',
] as const;
const ASYNC = ['mkdir', 'open', 'rename', 'rm'] as const;
const OF_FILES = ['write', 'sync', 'close'] as const;

let killAt = 0;
let isPassing = false;
/** The names of the calls since `killBefore`. */
export const calls: string[] = [];

/** Counts from now on; `nth` counts from 1, 0 kills never. */
export function killBefore(nth: number): void {
  killAt = nth;
  calls.length = 0;
}

/** Runs what belongs to the test itself, uncounted. */
export function uncounted(work: () => void): void {
  isPassing = true;
  work();
  isPassing = false;
}

type Callable = (...given: unknown[]) => unknown;

function count(target: object, name: string): void {
  const functions = target as Record<string, Callable>;
  const original = functions[name]!;
  functions[name] = function (this: unknown, ...given: unknown[]): unknown {
    if (!isPassing) {
      calls.push(name);
      if (calls.length === killAt) process.kill(process.pid, 'SIGKILL');
    }
    const result = original.apply(this, given);
    if (target === promises && name === 'open') return (result as Promise<object>).then((file) => countFile(file));
    return result;
  };
}

function countFile(file: object): object {
  for (const name of OF_FILES) count(file, name);
  return file;
}

for (const name of [...SYNC, ...CALLED]) count(fs, name);
for (const name of ASYNC) count(promises, name);
syncBuiltinESMExports();

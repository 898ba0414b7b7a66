/** Runs a program under a memory limit of the system's, where this machine lets a test make one. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

const V1 = '/sys/fs/cgroup/memory';

export interface MemoryCgroup {
  /** Before the program's own command line. */
  readonly launcher: readonly [command: string, ...args: string[]];
  /** Processes that the system killed in it for want of memory. */
  readonly kills: () => number;
  /** The most that was in use, caches included. */
  readonly peakBytes: () => number;
}

/** A group of its own; undefined where none can be made. Removed when the test ends, once its processes have ended. */
export function makeMemoryCgroup(limitBytes: number): MemoryCgroup | undefined {
  const isV1 = existsSync(V1);
  const folder = join(isV1 ? V1 : '/sys/fs/cgroup', `tailrace-test-${crypto.randomUUID()}`);
  const file = (name: string): string => join(folder, name);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  onTestFinished(async () => {
    await until('the group is empty', () => readFileSync(file('cgroup.procs'), 'utf8') === '');
    rmdirSync(folder);
  });
  try {
    writeFileSync(file(isV1 ? 'memory.limit_in_bytes' : 'memory.max'), String(limitBytes));
  } catch {
    return undefined;
  }
  const events = file(isV1 ? 'memory.oom_control' : 'memory.events');
  return {
    launcher: ['sh', '-c', `echo $$ >"${file('cgroup.procs')}" && exec "$@"`, 'sh'],
    kills: () => Number(/^oom_kill (\d+)/m.exec(readFileSync(events, 'utf8'))?.[1]),
    peakBytes: () => Number(readFileSync(file(isV1 ? 'memory.max_usage_in_bytes' : 'memory.peak'), 'utf8')),
  };
}

/** Ends the wait between two scans early when something changed. Hints only: the scan is the truth. */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { FileSystem } from './file-system.ts';
import type { Finder } from './finder.ts';

export interface Hints {
  wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void>;
  follow(files: number): void;
  close(): Promise<void>;
}

export function createHints(_options: { finder: Finder; log: Log; fileSystem: FileSystem }): Hints {
  return { wait: (ms, clock, signal) => clock.sleep(ms, signal), follow() {}, async close() {} };
}

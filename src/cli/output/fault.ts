/** Faults of the program itself: how they are reported, and how they end a process that the engine would keep alive. */
import { messageOf } from '../../core/errors.ts';
import { say } from './say.ts';

export function sayFault(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  say(`tailrace: this is a fault of Tailrace itself, please report it: ${messageOf(error)}`, ...stack.split('\n'));
}

/**
 * From now on an uncaught error, a rejection that nobody handles too, ends the process at once. `process.exit` would wait until the engine's
 * statements have ended.
 */
export function endAtFaults(): void {
  process.on('uncaughtException', (error) => {
    sayFault(error);
    process.kill(process.pid, 'SIGABRT');
  });
}

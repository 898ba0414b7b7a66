/** A log line that may repeat: written at most every SYSLOG_NOTICE_MS, then with the number that was held back. */
import type { Clock } from '../../core/time/clock.ts';
import { SYSLOG_NOTICE_MS } from './limits.ts';

/** `write` gets how many were held back since the last time, and what the notice was called with. */
export function createNotice<A extends unknown[]>(clock: Clock, write: (heldBack: number, ...args: A) => void): (...args: A) => void {
  let writtenAt = -Infinity;
  let heldBack = 0;
  return (...args) => {
    const now = clock.monotonic();
    if (now - writtenAt < SYSLOG_NOTICE_MS) {
      heldBack += 1;
      return;
    }
    write(heldBack, ...args);
    writtenAt = now;
    heldBack = 0;
  };
}

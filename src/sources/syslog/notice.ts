/** A log line that may repeat: written at most every SYSLOG_NOTICE_MS, then with the number that was held back. */
import type { Clock } from '../../core/clock.ts';
import { SYSLOG_NOTICE_MS } from '../../core/limits.ts';

/** `write` gets how many were held back since the last time. */
export function createNotice(clock: Clock, write: (heldBack: number) => void): () => void {
  let writtenAt = -Infinity;
  let heldBack = 0;
  return () => {
    const now = clock.monotonic();
    if (now - writtenAt < SYSLOG_NOTICE_MS) {
      heldBack += 1;
      return;
    }
    write(heldBack);
    writtenAt = now;
    heldBack = 0;
  };
}

/**
 * Closes connections that bring nothing for the idle timeout. One whose sender waits for us is not idle. Promises: closed between one
 * and two timeouts after the last byte; no timer for each connection.
 */
import type { SyslogConnection } from './connection.ts';

export class IdleWatch {
  /** What each had read at the last look. */
  #seen = new Map<SyslogConnection, number>();

  /** Closes those of the open connections that have read nothing since the last look; called once every timeout. Returns how many. */
  look(open: Iterable<SyslogConnection>): number {
    const seen = new Map<SyslogConnection, number>();
    let closed = 0;
    for (const connection of open) {
      if (!connection.isPaused && this.#seen.get(connection) === connection.reads) {
        connection.close();
        closed += 1;
      } else if (!connection.isPaused) {
        seen.set(connection, connection.reads);
      }
    }
    this.#seen = seen;
    return closed;
  }
}

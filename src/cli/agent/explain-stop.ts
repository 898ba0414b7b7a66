/** Logs the events that a stop left undelivered. */
import type { StopReport } from '../../agent/stop.ts';
import type { Log } from '../../core/log.ts';

/** True when something is lost or was not delivered for good. */
export function explainStop(report: StopReport, log: Log): boolean {
  if (report.failure !== undefined) log.error({ reason: report.failure }, 'not everything was delivered');
  if (report.lostEvents > 0)
    log.error(
      { events: report.lostEvents },
      'events from sources that cannot be read again were not delivered and are lost with this process',
    );
  if (report.lostBytes > 0)
    log.error(
      { bytes: report.lostBytes },
      'bytes were read from sources that cannot be read again and found no memory or disk before the deadline; they are lost with this process and counted in source_lost_bytes_total',
    );
  if (report.deadLetters > 0)
    log.warn(
      { events: report.deadLetters },
      'events were refused by the service and are kept; see `tailrace dead-letters list`',
    );
  return report.failure !== undefined || report.lostEvents > 0 || report.lostBytes > 0;
}

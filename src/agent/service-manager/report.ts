/** Reports the running agent to the service manager: a status line when it changes, and that it works, as often as it is asked for. */
import type { Observed } from '../../telemetry/observed.ts';
import { NO_SERVICE_MANAGER, type ServiceManager } from './notify.ts';
import { statusLine } from './status-line.ts';

const STATUS_EVERY_MS = 5000;

export interface ReportOptions {
  readonly manager: ServiceManager;
  readonly observe: () => Observed;
  /** Names overdue work of the agent itself, such as a scan; undefined while all of it makes progress. */
  readonly overdue: () => string | undefined;
}

/** Starts reporting; returns the function that stops it. */
export function startReporting({ manager, observe, overdue }: ReportOptions): () => void {
  // Computing the line walks every file: skip it when nobody reads it.
  if (manager === NO_SERVICE_MANAGER) return () => {};
  const show = (): void => manager.status(statusLine(observe()));
  const timers = [setInterval(show, STATUS_EVERY_MS)];
  const { watchdogMs } = manager;
  if (watchdogMs !== undefined) {
    // Feed the watchdog three times in each period.
    timers.push(setInterval(() => overdue() === undefined && manager.alive(), watchdogMs / 3));
    manager.alive();
  }
  for (const timer of timers) timer.unref();
  return () => timers.forEach((timer) => clearInterval(timer));
}

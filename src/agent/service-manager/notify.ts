/**
 * Reports the status of the process to systemd (or whatever set `NOTIFY_SOCKET`), as sd_notify(3) describes. Promises: nothing is thrown and
 * nothing waits; without a service manager every call does nothing.
 */
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { nativeLibrary } from '../../sources/native/library.ts';
import { sendUnix } from '../../sources/native/sockets.ts';

export interface ServiceManager {
  /** Sources are open: the unit counts as started, or as reloaded. */
  ready(status: string): void;
  /** One line that `systemctl status` shows; sent only when it changed. */
  status(text: string): void;
  /** A reload begins; `ready` ends it. */
  reloading(): void;
  /** The drain begins. */
  stopping(): void;
  /** The process works: expected at least once in `watchdogMs`. */
  alive(): void;
  /** Interval of systemd's watchdog in milliseconds; undefined without one. */
  readonly watchdogMs: number | undefined;
}

export const NO_SERVICE_MANAGER: ServiceManager = {
  ready() {},
  status() {},
  reloading() {},
  stopping() {},
  alive() {},
  watchdogMs: undefined,
};

/** The service manager that the environment names. The variables are removed, so that no child process speaks for this one. */
export function connectServiceManager(env: NodeJS.ProcessEnv, log: Log): ServiceManager {
  const { NOTIFY_SOCKET: path, WATCHDOG_USEC: watchdogUsec, WATCHDOG_PID: watchdogPid } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (path === undefined || path === '') return NO_SERVICE_MANAGER;
  const library = nativeLibrary();
  if (!library) {
    log.warn(
      { socket: path },
      'systemd gets no status: this Node cannot send to unix datagram sockets; use Node 26.6 or newer, or Type=exec',
    );
    return NO_SERVICE_MANAGER;
  }
  let shown = '';
  let hasFailed = false;
  const send = (state: Readonly<Record<string, string>>): void => {
    try {
      sendUnix(
        library,
        path,
        Object.entries(state)
          .map(([name, value]) => `${name}=${value.replaceAll('\n', ' ')}\n`)
          .join(''),
      );
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.warn({ socket: path, reason: messageOf(error) }, 'cannot send the status to systemd');
      hasFailed = true;
    }
  };
  const isWatched = watchdogUsec !== undefined && (watchdogPid === undefined || Number(watchdogPid) === process.pid);
  return {
    ready(status) {
      shown = status;
      send({ READY: '1', STATUS: status });
    },
    status(text) {
      if (text === shown) return;
      shown = text;
      send({ STATUS: text });
    },
    // CLOCK_MONOTONIC, which Node's high-resolution time is on Linux.
    reloading: () => send({ RELOADING: '1', MONOTONIC_USEC: String(process.hrtime.bigint() / 1000n) }),
    stopping: () => send({ STOPPING: '1', STATUS: 'stopping: delivering what was read' }),
    alive: () => send({ WATCHDOG: '1' }),
    watchdogMs: isWatched ? Number(watchdogUsec) / 1000 : undefined,
  };
}

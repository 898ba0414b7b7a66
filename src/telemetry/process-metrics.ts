/** The process's own metrics under the names that Prometheus client libraries give them. Read at a scrape; costs nothing between. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';

const STARTED_AT_SECONDS = Math.round(performance.timeOrigin / 1000);

export function addProcessMetrics(registry: Registry): void {
  const add = (type: 'counter' | 'gauge', name: string, help: string, read: () => number | undefined): void => {
    const get = () => {
      const value = read();
      return { name, help, type, aggregator: 'sum', values: value === undefined ? [] : [{ labels: {}, value }] };
    };
    registry.registerMetric({ name, help, type, aggregator: 'sum', get } as never);
  };
  add('counter', 'process_cpu_user_seconds_total', 'User CPU time', () => process.cpuUsage().user / 1e6);
  add('counter', 'process_cpu_system_seconds_total', 'System CPU time', () => process.cpuUsage().system / 1e6);
  add('counter', 'process_cpu_seconds_total', 'User and system CPU time', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  add('gauge', 'process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  add('gauge', 'process_start_time_seconds', 'Start of the process since the epoch', () => STARTED_AT_SECONDS);
  add('gauge', 'process_open_fds', 'Open file descriptors', () => ask(() => readdirSync('/proc/self/fd').length - 1));
  add('gauge', 'process_max_fds', 'Limit of open file descriptors', () =>
    ask(() => Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])),
  );
}

/** Undefined where the system does not report it, such as outside of Linux. */
function ask(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

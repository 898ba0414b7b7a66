/** The agent's state as one line, for `systemctl status`: files and lag, then each sink with what is in its way. */
import type { Observed, ObservedSink } from '../../telemetry/observed.ts';

/** `formatBytes` without decimals: 1.5 MiB is `2 MiB`; the line is read at a glance. */
function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${Math.round(count / 1024 ** power)} ${units[power]}`;
}

export function statusLine({ sources, sinks }: Observed): string {
  const files = sources.reduce((sum, { stats }) => sum + Object.values(stats.files).reduce((a, b) => a + b, 0), 0);
  const lag = sources.reduce((sum, { stats }) => sum + stats.lagBytes, 0);
  const held = sources.reduce((sum, source) => sum + source.held, 0);
  const parts = [`${files} file${files === 1 ? '' : 's'}`, `lag ${bytes(lag)}`, ...(held > 0 ? [`${held} events not delivered yet`] : [])];
  return `${parts.join(', ')}; ${sinks.map(describeSink).join('; ')}`;
}

function describeSink({ id, pauses, lastFailure, missing }: ObservedSink): string {
  if (missing) return `${id} ships nothing: ${missing.detail}; ${missing.fix}`;
  const [paused] = pauses;
  if (paused) return `${id} paused: ${paused[1].detail}; ${paused[1].fix}`;
  return lastFailure === undefined ? `${id} delivers` : `${id} retries: ${lastFailure}`;
}

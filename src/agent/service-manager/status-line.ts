/** The agent's state as one line, for `systemctl status`: files and lag, then each sink with its problem. */
import { formatBytes } from '../../config/fields/units.ts';
import type { Observed, ObservedSink } from '../../telemetry/observed.ts';
import { describeBlock } from '../../telemetry/status.ts';

export function statusLine({ sources, sinks, checkpointRefusal }: Observed): string {
  const files = sources.reduce((sum, { stats }) => sum + Object.values(stats.files).reduce((a, b) => a + b, 0), 0);
  const lag = sources.reduce((sum, { stats }) => sum + stats.lagBytes, 0);
  const held = sources.reduce((sum, source) => sum + source.held, 0);
  const parts = [
    `${files} file${files === 1 ? '' : 's'}`,
    `lag ${formatBytes(lag)}`,
    ...(held > 0 ? [`${held} events not delivered yet`] : []),
    ...(checkpointRefusal === undefined
      ? []
      : [`positions cannot be saved: ${checkpointRefusal.reason}; ${checkpointRefusal.fix}`]),
  ];
  return `${parts.join(', ')}; ${sinks.map(describeSink).join('; ')}`;
}

function describeSink({ id, pauses, blocked, lastFailure, missing }: ObservedSink): string {
  if (missing) return `${id} ships nothing: ${missing.detail}; ${missing.fix}`;
  const [paused] = pauses;
  if (paused) return `${id} paused: ${paused[1].detail}; ${paused[1].fix}`;
  if (blocked) return `${id} blocked: ${describeBlock(blocked)}; ${blocked.fix}`;
  return lastFailure === undefined ? `${id} delivers` : `${id} retries: ${lastFailure}`;
}

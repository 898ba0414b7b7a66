/** The agent as commands start and stop it. */
import type { ConfigChanges } from '../config/compare.ts';
import type { Config } from '../config/model.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Log } from '../core/log.ts';
import type { ConfigReloads, Observed } from '../telemetry/observed.ts';
import type { TelemetryServer } from '../telemetry/server.ts';
import type { ReloadReport } from './reload/reload-report.ts';
import type { ReplayResult } from './control/replay.ts';
import type { StopReport } from './stop.ts';

export interface AgentOptions {
  readonly config: Config;
  /** Read what exists now to its end, deliver it, and end. */
  readonly once: boolean;
  readonly log: Log;
  readonly clock?: Clock;
  /** Counted by the caller, for the metrics: an agent does not outlive its configuration. */
  readonly reloads?: ConfigReloads;
  /** Has the caller take the changed configuration into force, as a command asked for through the control socket. */
  readonly reload?: () => Promise<ReloadReport>;
  /** Only sinks, to replay dead letters: no source is opened, and what an earlier process left stays as it is. */
  readonly sinksOnly?: boolean;
}

export interface Agent {
  readonly telemetry: TelemetryServer | undefined;
  /** Resolves when all sources have ended and everything is settled, or when `once` cannot go on. Without sources only then. */
  readonly ended: Promise<void>;
  observe(): Observed;
  /** Names a step of its own work that is past its deadline, such as a scan; undefined while all of it makes progress. */
  overdue(): string | undefined;
  /** Why it cannot take the configuration into force while it runs; undefined where it can. Waits a moment for what the last process left. */
  whyRestart(next: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<string | undefined>;
  /**
   * Applies the configuration; unchanged components keep running. Throws `TailraceError`, with the one before in force, when
   * it cannot. `stopping` aborts when the agent is to stop.
   */
  reconfigure(next: Config, changes: ConfigChanges, stopping: AbortSignal): Promise<void>;
  /** Sends dead letters again (all where no id is given), `through` one sink or each through its own; resolves when they are settled. */
  replay(ids: readonly string[], through?: string): Promise<ReplayResult>;
  /** Deletes dead letters (all without ids); returns the number of files deleted. */
  drop(ids: readonly string[]): number;
  /** Stops reading, drains until `deadline` aborts, saves positions. Idempotent. */
  stop(deadline: AbortSignal): Promise<StopReport>;
}

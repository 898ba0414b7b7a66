/**
 * SIGHUP: the changed configuration takes effect in the same process. What is in force is stopped as SIGTERM stops it
 * (nothing is lost by it), then the agent starts again. A configuration with problems changes nothing.
 */
import type { Agent } from '../agent/agent.ts';
import { loadRunnable } from '../agent/check-transforms.ts';
import { startAgent } from '../agent/start-agent.ts';
import { ConfigError, formatProblem } from '../config/config-error.ts';
import type { Config } from '../config/model.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { ConfigReloads } from '../telemetry/observed.ts';
import { explainStop } from './explain-stop.ts';

export interface InForce {
  readonly agent: Agent;
  readonly config: Config;
  /** True once a stop lost something: the process then ends with 1. */
  readonly hasLost: boolean;
}

export interface ReloadOptions {
  readonly log: Log;
  readonly reloads: ConfigReloads;
  /** Ends the stop of what is in force at once. */
  readonly atOnce: AbortSignal;
}

/** Resolves with what is in force from then on. Rejects when not even the configuration before can be started again. */
export async function reload(now: InForce, { log, reloads, atOnce }: ReloadOptions): Promise<InForce> {
  const next = await readNext(now.config, log);
  if (!next) {
    reloads.failure += 1;
    return now;
  }
  log.info({ config: next.file }, 'reloading the configuration: what was read is delivered first');
  const report = await now.agent.stop(AbortSignal.any([atOnce, AbortSignal.timeout(now.config.shutdownTimeoutMs)]));
  const hasLost = explainStop(report, log) || now.hasLost;
  try {
    const agent = await startAgent({ config: next, once: false, log, reloads });
    reloads.success += 1;
    log.info({ config: next.file, telemetry: agent.telemetry?.address }, 'the changed configuration is in force');
    return { agent, config: next, hasLost };
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    reloads.failure += 1;
    log.error({ reason: messageOf(error), fix: error.fix }, 'cannot run with the changed configuration; going back to the one before');
    return { agent: await startAgent({ config: now.config, once: false, log, reloads }), config: now.config, hasLost };
  }
}

/** The file as it is now; undefined, and said, when it cannot take effect. */
async function readNext(config: Config, log: Log): Promise<Config | undefined> {
  let next: Config;
  try {
    next = await loadRunnable(config.file, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof TailraceError)) throw error;
    const problems = error instanceof ConfigError ? error.problems.map((problem) => formatProblem(problem)) : [error.message];
    log.error({ problems }, 'the changed configuration has problems; the one before stays in force');
    return undefined;
  }
  const pipe = [...config.sources, ...next.sources].find(({ type }) => type === 'stdin');
  if (!pipe) return next;
  log.error(
    { source: pipe.id },
    'standard input cannot be handed over to a changed configuration; the one before stays in force: restart instead',
  );
  return undefined;
}

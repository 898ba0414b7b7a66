/**
 * Takes the changed configuration into force in the same process. The agent is stopped as SIGTERM stops it (nothing is lost by it),
 * then it starts again. A configuration with problems changes nothing.
 */
import type { Agent, AgentOptions } from '../agent/agent.ts';
import { loadRunnable } from '../agent/check-transforms.ts';
import type { ReloadReport } from '../agent/reload-report.ts';
import { startAgent } from '../agent/start-agent.ts';
import { compareConfigs } from '../config/compare.ts';
import { ConfigError, formatProblem, type Problem } from '../config/config-error.ts';
import type { Config } from '../config/model.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import { explainStop } from './explain-stop.ts';
import type { Signals } from './signals.ts';

export interface InForce {
  readonly agent: Agent;
  readonly config: Config;
  /** True once a stop lost something: the process then ends with 1. */
  readonly hasLost: boolean;
}

export interface ReloadOptions {
  /** What every agent of this process is started with. */
  readonly common: Required<Pick<AgentOptions, 'once' | 'log' | 'reloads' | 'reload'>>;
  readonly signals: Pick<Signals, 'stopping' | 'atOnce'>;
}

export interface Reloaded {
  /** What is in force from now on. Its agent is stopped where a signal came meanwhile. */
  readonly now: InForce;
  readonly report: ReloadReport;
}

/** Rejects when not even the configuration before can be started again. */
export async function reloadAgent(now: InForce, options: ReloadOptions): Promise<Reloaded> {
  const reloaded = await takeChanges(now, options);
  const { reloads } = options.common;
  reloads[reloaded.report.ok ? 'success' : 'failure'] += 1;
  return reloaded;
}

async function takeChanges(now: InForce, { common, signals }: ReloadOptions): Promise<Reloaded> {
  const { log } = common;
  const { next, problems = [] } = await readNext(now.config.file);
  if (!next) {
    log.error(
      { problems: problems.map((problem) => formatProblem(problem)) },
      'the changed configuration has problems; the one before stays in force',
    );
    return { now, report: { ok: false, problems } };
  }
  const pipe = [...now.config.sources, ...next.sources].find(({ type }) => type === 'stdin');
  if (pipe) {
    const error = `source "${pipe.id}": standard input cannot be handed over to a changed configuration`;
    const fix = 'restart the agent instead';
    log.error({ source: pipe.id, fix }, `${error}; the one before stays in force`);
    return { now, report: { ok: false, error, fix } };
  }
  const changes = compareConfigs(now.config, next);
  log.info({ config: next.file, ...changes }, 'reloading the configuration: what was read is delivered first');
  const report = await now.agent.stop(AbortSignal.any([signals.atOnce, AbortSignal.timeout(now.config.shutdownTimeoutMs)]));
  if (signals.stopping.aborted) return { now, report: { ok: false, error: 'the agent was asked to stop during the reload' } };
  const hasLost = explainStop(report, log) || now.hasLost;
  try {
    const agent = await startAgent({ ...common, config: next });
    log.info({ config: next.file, telemetry: agent.telemetry?.address }, 'the changed configuration is in force');
    return { now: { agent, config: next, hasLost }, report: { ok: true, changes } };
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const { fix } = error;
    log.error({ reason: messageOf(error), fix }, 'cannot run with the changed configuration; going back to the one before');
    const agent = await startAgent({ ...common, config: now.config });
    return {
      now: { agent, config: now.config, hasLost },
      report: { ok: false, error: messageOf(error), ...(fix === undefined ? {} : { fix }) },
    };
  }
}

async function readNext(file: string): Promise<{ readonly next?: Config; readonly problems?: readonly Problem[] }> {
  try {
    return { next: await loadRunnable(file, process.env) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems };
  }
}

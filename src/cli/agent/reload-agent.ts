/**
 * Takes the changed configuration into force in the same process: while the agent runs, or where that cannot be by a restart of it, which stops
 * it as SIGTERM does (nothing is lost by it). A configuration with problems changes nothing.
 */
import type { Agent } from '../../agent/agent.ts';
import { loadRunnable } from '../../agent/build/check-transforms.ts';
import type { ReloadReport } from '../../agent/reload/reload-report.ts';
import { compareConfigs, type ConfigChanges } from '../../config/compare.ts';
import { ConfigError, formatProblem, type ConfigProblem } from '../../config/config-error.ts';
import type { Config } from '../../config/model.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import type { ConfigReloads } from '../../telemetry/observed.ts';
import { explainStop } from './explain-stop.ts';
import type { Signals } from './signals.ts';

export interface InForce {
  readonly agent: Agent;
  readonly config: Config;
  /** True once a stop lost something: the process then ends with 1. */
  readonly hasLost: boolean;
}

export interface ReloadOptions {
  /** Starts an agent with this process's log, counters and reload. */
  readonly start: (config: Config) => Promise<Agent>;
  readonly log: Log;
  readonly reloads: ConfigReloads;
  readonly signals: Pick<Signals, 'stopping' | 'atOnce'>;
}

export interface Reloaded {
  /** The configuration now in force. Its agent is stopped if a signal came meanwhile. */
  readonly now: InForce;
  readonly report: ReloadReport;
}

/** Rejects when not even the configuration before can be started again. */
export async function reloadAgent(now: InForce, options: ReloadOptions): Promise<Reloaded> {
  const reloaded = await takeChanges(now, options);
  options.reloads[reloaded.report.ok ? 'success' : 'failure'] += 1;
  return reloaded;
}

async function takeChanges(now: InForce, options: ReloadOptions): Promise<Reloaded> {
  const { log, signals } = options;
  const { next, problems = [] } = await readNext(now.config.file);
  if (!next) {
    log.error(
      { problems: problems.map((problem) => formatProblem(problem)) },
      'the changed configuration has problems; the one before stays in force',
    );
    return { now, report: { ok: false, problems } };
  }
  const changes = compareConfigs(now.config, next);
  if (next.dataDir !== now.config.dataDir) {
    const error = `data_dir changed from "${now.config.dataDir}" to "${next.dataDir}", and a running agent keeps its folder`;
    const fix = 'restart the agent; copy the folder first where its positions are to be kept';
    log.error({ fix }, `${error}; the configuration before stays in force`);
    return { now, report: { ok: false, error, fix } };
  }
  const restart = await now.agent.whyRestart(next, changes, signals.stopping);
  if (signals.stopping.aborted) return { now, report: STOPPED };
  const { untouched } = changes.sources;
  const pipes = [...now.config.sources, ...next.sources].filter(
    (source) => sourceTypeOf(source).onlyInput !== undefined,
  );
  const pipe = pipes.find(({ id }) => restart !== undefined || !untouched.includes(id));
  if (pipe) {
    const error = `source "${pipe.id}": ${sourceTypeOf(pipe).onlyInput} cannot be handed over to a changed configuration`;
    const fix = 'restart the agent instead';
    log.error({ source: pipe.id, fix }, `${error}; the one before stays in force`);
    return { now, report: { ok: false, error, fix } };
  }
  if (restart !== undefined) return restartAgent(now, next, changes, restart, options);
  log.info({ config: next.file, ...changes }, 'reloading the configuration: what did not change goes on');
  try {
    await now.agent.reconfigure(next, changes, signals.stopping);
    if (signals.stopping.aborted) return { now, report: STOPPED };
    log.info({ config: next.file, telemetry: now.agent.telemetry?.address }, 'the changed configuration is in force');
    return { now: { ...now, config: next }, report: { ok: true, changes } };
  } catch (error) {
    if (codeOf(error) === 'E_KERNEL_MEMORY' && pipes.length === 0)
      return restartAgent(now, next, changes, messageOf(error), options);
    if (!(error instanceof TailraceError)) throw error;
    const { message, fix } = error;
    log.error({ reason: message, fix }, 'cannot run with the changed configuration; the one before stays in force');
    return { now, report: { ok: false, error: message, fix } };
  }
}

const STOPPED: ReloadReport = { ok: false, error: 'the agent was asked to stop during the reload' };

/** Listeners are closed for a moment, and counters start from zero. */
async function restartAgent(
  now: InForce,
  next: Config,
  changes: ConfigChanges,
  why: string,
  { start, log, signals }: ReloadOptions,
): Promise<Reloaded> {
  log.info(
    { config: next.file, why, ...changes },
    'reloading the configuration by a restart of the agent: what was read is delivered first',
  );
  const report = await now.agent.stop(
    AbortSignal.any([signals.atOnce, AbortSignal.timeout(now.config.shutdownTimeoutMs)]),
  );
  if (signals.stopping.aborted) return { now, report: STOPPED };
  const hasLost = explainStop(report, log) || now.hasLost;
  try {
    const agent = await start(next);
    log.info({ config: next.file, telemetry: agent.telemetry?.address }, 'the changed configuration is in force');
    return { now: { agent, config: next, hasLost }, report: { ok: true, changes, restarted: why } };
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    const { message, fix } = error;
    log.error({ reason: message, fix }, 'cannot run with the changed configuration; going back to the one before');
    const agent = await start(now.config);
    return {
      now: { agent, config: now.config, hasLost },
      report: { ok: false, error: message, fix },
    };
  }
}

async function readNext(
  file: string,
): Promise<{ readonly next?: Config; readonly problems?: readonly ConfigProblem[] }> {
  try {
    return { next: await loadRunnable(file, process.env) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems };
  }
}

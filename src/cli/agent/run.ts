/** `tailrace run`: the agent in the foreground, until its sources end or a signal comes. */
import { usageError } from '../output/say.ts';
import { loadRunnable } from '../../agent/build/check-transforms.ts';
import { describeShortMemory } from '../../agent/build/memory-limit.ts';
import { connectServiceManager } from '../../agent/service-manager/notify.ts';
import { startReporting } from '../../agent/service-manager/report.ts';
import { statusLine } from '../../agent/service-manager/status-line.ts';
import { startAgent } from '../../agent/start-agent.ts';
import type { Config } from '../../config/model.ts';
import { findConfig } from '../../config/load/find.ts';
import { createLog } from '../../telemetry/log.ts';
import { explainStop } from './explain-stop.ts';
import { type InForce, reloadAgent } from './reload-agent.ts';
import { describeSharedFiles } from './shared-files.ts';
import { listenForSignals } from './signals.ts';
import type { ReloadReport } from '../../agent/reload/reload-report.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Resolves with the exit code: 0 done, 1 something was not delivered and cannot be had again, or `--once` did not get through. Throws `TailraceError`. */
export async function run(args: ArgumentsOf<'run'>): Promise<number> {
  const file = findConfig(args.config);
  if (args.once && args.watchConfig)
    throw usageError('run takes --once or --watch-config, not both', 'leave one out: a run with --once ends by itself');
  const watch = args.watchConfig ? (await import('./watch-config.ts')).prepareWatch(file) : undefined;
  const config = await loadRunnable(file, process.env);
  const log = await createLog({ level: args.logLevel ?? config.telemetry.logLevel });
  const short = describeShortMemory();
  if (short) log.warn({ fix: short.fix }, short.message);
  for (const { source, message, fix } of await describeSharedFiles(config)) log.warn({ source, fix }, message);
  const once = args.once ?? false;
  const requests = new ReloadRequests();
  const signals = listenForSignals(() => void requests.ask());
  const manager = connectServiceManager(process.env, log);
  // `--once` ends by itself; a changed configuration is for the next run.
  if (once)
    requests.end({
      ok: false,
      error: 'a run with --once does not reload; the next one reads the changed configuration',
    });
  const reloads = { success: 0, failure: 0 };
  const start = (next: Config) => startAgent({ config: next, once, log, reloads, reload: () => requests.ask() });
  const agent = await start(config);
  log.info(
    {
      config: config.file,
      sources: config.sources.map(({ id }) => id),
      sinks: config.sinks.map(({ id }) => id),
      telemetry: agent.telemetry?.address,
    },
    'tailrace runs',
  );
  let now: InForce = { agent, config, hasLost: false };
  const watcher = await watch?.(log, () => requests.ask());
  manager.ready(statusLine(agent.observe()));
  const endReports = startReporting({
    manager,
    observe: () => now.agent.observe(),
    overdue: () => now.agent.overdue(),
  });
  const next = () => Promise.race([signals.stop, now.agent.ended, requests.next().then(() => 'reload' as const)]);
  let why = await next();
  while (why === 'reload') {
    manager.reloading();
    await requests.answer(async () => {
      const reloaded = await reloadAgent(now, { start, log, reloads, signals });
      now = reloaded.now;
      log.setLevel(args.logLevel ?? now.config.telemetry.logLevel);
      if (!signals.stopping.aborted) manager.ready(statusLine(now.agent.observe()));
      return reloaded.report;
    });
    why = await next();
  }
  requests.end({ ok: false, error: 'the agent stops' });
  await watcher?.close();
  manager.stopping();
  if (why)
    log.info(
      { signal: why, shutdownTimeoutMs: now.config.shutdownTimeoutMs },
      'stopping: no more is read, what was read is delivered; the signal again ends it at once',
    );
  const report = await now.agent.stop(
    AbortSignal.any([signals.atOnce, AbortSignal.timeout(now.config.shutdownTimeoutMs)]),
  );
  endReports();
  const { sources } = now.agent.observe();
  // `held` makes the counts of each source add up to `accepted` while filtered events wait with their batch.
  const totals = sources.map(({ id, stats, accepted, settled, held }) => ({
    source: id,
    readBytes: stats.readBytes,
    accepted,
    ...settled,
    held,
  }));
  const unreadFiles = once ? sources.reduce((sum, { stats }) => sum + (stats.files['failed'] ?? 0), 0) : 0;
  const hasLost = explainStop(report, log) || now.hasLost;
  if (unreadFiles > 0) log.error({ files: unreadFiles }, 'files could not be read; each was named above');
  if (once && report.keptEvents > 0 && report.failure === undefined)
    log.error({ events: report.keptEvents }, 'not everything was delivered; it is kept, and the next run sends it');
  const fields = { sources: totals, keptEvents: report.keptEvents };
  if (report.arePositionsSaved) log.info(fields, 'stopped; positions are saved');
  else
    log.error(
      fields,
      'stopped; positions could not be saved: the next start sends again what was delivered since they last were',
    );
  const undelivered = once && (report.keptEvents > 0 || report.deadLetters > 0);
  return hasLost || undelivered || unreadFiles > 0 ? 1 : 0;
}

/** Pending reload requests, by SIGHUP or the control socket. Requests made before a reload begins share it; later ones get the next. */
class ReloadRequests {
  #asked = Promise.withResolvers<void>();
  #waiting: ((report: ReloadReport) => void)[] = [];
  #last: ReloadReport | undefined;

  ask(): Promise<ReloadReport> {
    if (this.#last) return Promise.resolve(this.#last);
    this.#asked.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves once somebody asks, or has asked. */
  next(): Promise<void> {
    return this.#asked.promise;
  }

  /** Runs the reload that was asked for, and answers those who asked before it began. */
  async answer(reload: () => Promise<ReloadReport>): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#asked = Promise.withResolvers();
    const report = await reload();
    for (const resolve of waiting) resolve(report);
  }

  /** Answers all pending and later requests: there are no more reloads. */
  end(report: ReloadReport): void {
    this.#last = report;
    for (const resolve of this.#waiting.splice(0)) resolve(report);
  }
}

/** `tailrace run`: the agent in the foreground, until its sources end or a signal comes. */
import { startAgent } from '../agent/agent.ts';
import { loadConfig } from '../config/load.ts';
import { createLog } from '../telemetry/log.ts';
import { findConfig } from '../config/find.ts';

export interface RunArguments {
  readonly config?: string;
  readonly once?: boolean;
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

/** Resolves with the exit code: 0 done, 1 something was not delivered and cannot be had again, or `--once` did not get through. Throws `TailraceError`. */
export async function run(args: RunArguments): Promise<number> {
  const config = loadConfig(findConfig(args.config), process.env);
  const log = await createLog({ level: args.logLevel ?? config.telemetry.logLevel });
  const deadline = new AbortController();
  const asked = Promise.withResolvers<string>();
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1;
    if (signals > 1) return deadline.abort();
    asked.resolve(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () =>
    log.warn({}, 'SIGHUP: reloading is not available in this version yet; restart to use a changed configuration'),
  );

  const agent = await startAgent({ config, once: args.once ?? false, log });
  log.info(
    {
      config: config.file,
      sources: config.sources.map(({ id }) => id),
      sinks: config.sinks.map(({ id }) => id),
      telemetry: agent.telemetry?.address,
    },
    'tailrace runs',
  );
  const signal = await Promise.race([asked.promise, agent.ended.then(() => undefined)]);
  if (signal)
    log.info(
      { signal, shutdownTimeoutMs: config.shutdownTimeoutMs },
      'stopping: no more is read, what was read is delivered; the signal again ends it at once',
    );
  setTimeout(() => deadline.abort(), config.shutdownTimeoutMs).unref();
  const report = await agent.stop(deadline.signal);
  const { sources } = agent.observe();
  const totals = sources.map(({ id, stats, accepted, settled }) => ({ source: id, readBytes: stats.readBytes, accepted, ...settled }));
  const unreadFiles = args.once === true ? sources.reduce((sum, { stats }) => sum + (stats.files['failed'] ?? 0), 0) : 0;
  if (report.failure !== undefined) log.error({ reason: report.failure }, 'not everything was delivered');
  if (report.lostEvents > 0)
    log.error(
      { events: report.lostEvents },
      'events from sources that cannot be read again were not delivered and are lost with this process',
    );
  if (report.lostBytes > 0)
    log.error(
      { bytes: report.lostBytes },
      'bytes were read from sources that cannot be read again and there was no room for them before the deadline; they are lost with this process and counted in source_lost_bytes_total',
    );
  if (report.deadLetters > 0)
    log.warn({ events: report.deadLetters }, 'events were refused by the service and are kept; see `tailrace dead-letters list`');
  if (unreadFiles > 0) log.error({ files: unreadFiles }, 'files could not be read; each was named above');
  log.info({ sources: totals, keptEvents: report.keptEvents }, 'stopped; positions are saved');
  const undelivered = args.once === true && (report.keptEvents > 0 || report.deadLetters > 0);
  return report.failure !== undefined || report.lostEvents > 0 || report.lostBytes > 0 || undelivered || unreadFiles > 0 ? 1 : 0;
}

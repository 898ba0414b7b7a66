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

/** Resolves with the exit code: 0 done, 1 something was not delivered and cannot be had again. Throws `TailraceError`. */
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
  const totals = agent.observe().sources.map(({ id, accepted, settled }) => ({ source: id, accepted, ...settled }));
  if (report.failure !== undefined) log.error({ reason: report.failure }, 'not everything was delivered');
  if (report.lostEvents > 0)
    log.error(
      { events: report.lostEvents },
      'events from sources that cannot be read again were not delivered and are lost with this process',
    );
  if (report.deadLetters > 0)
    log.warn({ events: report.deadLetters }, 'events were refused by the service and are kept; see `tailrace dead-letters list`');
  log.info({ sources: totals, keptEvents: report.keptEvents }, 'stopped; positions are saved');
  const undelivered = args.once === true && (report.keptEvents > 0 || report.deadLetters > 0);
  return report.failure !== undefined || report.lostEvents > 0 || undelivered ? 1 : 0;
}

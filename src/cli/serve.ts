/** `tailrace serve`: runs the local service until SIGTERM or SIGINT. What a script reads goes to stdout, everything else to stderr. */
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { messageOf, TailraceError, UsageError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { startService, type Service } from '../service/service.ts';

export interface ServeArgs {
  /** `host:port`, default 127.0.0.1:4100. */
  readonly listen?: string;
  /** The data folder, default ./tailrace-service. */
  readonly data?: string;
  /** `embedded`, the default; a server's address later. */
  readonly engine?: string;
  readonly headerPrefix?: string;
  /** One line of JSON on stdout instead of text. */
  readonly json?: boolean;
}

/** Resolves to the exit code once the service has ended: 0 drained, 1 could not start, 2 wrong usage. */
export async function serve(args: ServeArgs, log: Log = stderrLog): Promise<number> {
  let service: Service;
  // Before the start, which says "ready": who reads that may stop it at once.
  const stopped = nextSignal();
  try {
    checkEngine(args.engine ?? 'embedded');
    service = await startService({
      listen: parseListen(args.listen ?? '127.0.0.1:4100'),
      dataDir: resolve(args.data ?? 'tailrace-service'),
      ...(args.headerPrefix !== undefined && { headerPrefix: args.headerPrefix }),
      log,
    });
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    process.stderr.write(`tailrace serve: ${error.message}\n${error.fix === undefined ? '' : `  fix: ${error.fix}\n`}`);
    return error instanceof UsageError ? 2 : 1;
  }
  announce(service, args.json ?? false);
  const signal = await stopped;
  log.info({ signal }, 'draining');
  try {
    await service.close();
    return 0;
  } catch (error) {
    log.error({ error: messageOf(error) }, 'the service did not end cleanly');
    return 1;
  }
}

function checkEngine(engine: string): void {
  if (engine === 'embedded') return;
  if (engine.startsWith('clickhouse://'))
    throw new UsageError('E_ENGINE', `--engine ${engine}: a ClickHouse server as the engine is not available yet`, {
      fix: 'use --engine embedded',
    });
  throw new UsageError('E_ENGINE', `--engine ${JSON.stringify(engine)} is not known`, { fix: 'use --engine embedded' });
}

function parseListen(text: string): { host: string; port: number } {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]/]+)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (!found || port > 65_535)
    throw new UsageError('E_LISTEN', `--listen ${JSON.stringify(text)}: wanted host:port with a port of 0 to 65535`, {
      fix: 'write it as 127.0.0.1:4100 or [::1]:4100',
    });
  return { host: (found[1] ?? found[2])!, port };
}

function announce({ address, credentials }: Service, json: boolean): void {
  const { orgId, apiToken, personalToken } = credentials;
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ url: address, org_id: orgId, api_token: apiToken ?? null, personal_token: personalToken ?? null })}\n`,
    );
    return;
  }
  const lines = [`serving on      ${address}`, `organisation    ${orgId}`];
  if (apiToken !== undefined) lines.push(`API token       ${apiToken}`);
  if (personalToken !== undefined) lines.push(`personal token  ${personalToken}`);
  if (apiToken ?? personalToken) lines.push('Keep the tokens: only their hashes are stored, they are not shown again.');
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The first SIGTERM or SIGINT; a second one ends the process at once, as without a handler. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done(signal));
  });
}

const write = (level: 'info' | 'warn' | 'error', colour: 'dim' | 'yellow' | 'red') => (fields: object, message: string) => {
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const label = styleText(colour, level, { stream: process.stderr });
  process.stderr.write(`${new Date().toISOString()} ${label} ${message}${facts.length > 0 ? ` ${facts.join(' ')}` : ''}\n`);
};

/** Lines on stderr, for when no other log is given. */
const stderrLog: Log = { debug() {}, info: write('info', 'dim'), warn: write('warn', 'yellow'), error: write('error', 'red') };

/** `tailrace serve`: runs the local service until SIGTERM or SIGINT. What a script reads goes to stdout, everything else to stderr. */
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { sayError } from '../output/say.ts';
import { printable, printableLines } from '../../config/quote.ts';
import { messageOf, TailraceError, UsageError } from '../../core/errors.ts';
import { memoryShares, SERVICE_MOST_BODY_BYTES, SERVICE_MOST_FIELDS, serviceThreads } from '../../service/limits.ts';
import type { Log } from '../../core/log.ts';
import { parseDuration, parseSize, type ParsedQuantity } from '../../config/fields/units.ts';
import type { ServiceLimits } from '../../service/limits.ts';
import { JSON_NAMES, madeTokens, type MadeTokens, signedIn, writeFirstTokens } from './first-tokens.ts';
import { boundHeap, readMemory, shortMemory } from './memory.ts';
import { startService, type Service } from '../../service/run/service.ts';
import { refuseForeignFolder, shellWord } from '../../state/keep-owner.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

const DEFAULT_DATA = 'tailrace-service';

/** Resolves to the exit code once the service has ended: 0 drained, 1 could not start, 2 wrong usage. */
export async function serve(args: ArgumentsOf<'serve'>, log: Log = stderrLog): Promise<number> {
  let service: Service;
  // Before the start, which says "ready": who reads that may stop it at once.
  const stopped = nextSignal();
  const data = args.data ?? DEFAULT_DATA;
  // What the engine writes is for nobody else, either.
  process.umask(0o077);
  try {
    const memoryBytes = readMemory(args.memory);
    // Before the first call that takes one.
    process.env['UV_THREADPOOL_SIZE'] ??= String(serviceThreads(memoryBytes));
    const limits = readLimits(args);
    const isEmbedded = args.engine === undefined || args.engine === 'embedded';
    boundHeap(memoryShares(memoryBytes, isEmbedded, 0, limits.queryMemoryBytes).heapBytes);
    const short = shortMemory(memoryBytes);
    if (short !== undefined) log.warn({}, short);
    refuseForeignFolder(resolve(data));
    service = await startService({
      memoryBytes,
      listen: parseListen(args.listen ?? '127.0.0.1:4100'),
      dataDir: resolve(data),
      ...(args.engine !== undefined && { engine: args.engine }),
      ...(args.allowHost && { allowHosts: args.allowHost }),
      ...(args.cors && { corsOrigins: args.cors.map(readOrigin) }),
      ...(args.headerPrefix !== undefined && { headerPrefix: args.headerPrefix }),
      sync: args.sync ?? false,
      personalIngest: args.acceptPersonalTokensForIngest ?? false,
      ...(args.accessLog === true && { accessLog: (line: string) => void process.stderr.write(printableLines(line)) }),
      limits,
      log,
    });
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    sayError('tailrace serve', error);
    return error instanceof UsageError ? 2 : 1;
  }
  announce(service, data, args.json ?? false);
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

/** The limits that the options set, in the service's units. Throws a `UsageError`. */
function readLimits(args: ArgumentsOf<'serve'>): Partial<ServiceLimits> {
  const read = (
    option: string,
    text: string | undefined,
    parse: (text: string) => ParsedQuantity,
    most: number,
  ): number | undefined => {
    if (text === undefined) return undefined;
    const parsed = parse(text);
    const problem = parsed.ok ? `wanted a value from 1 to ${most}` : parsed.message;
    if (!parsed.ok || parsed.value < 1 || parsed.value > most)
      throw new UsageError('E_LIMIT', `--${option} ${JSON.stringify(text)} ${problem}`, {
        fix: parsed.ok ? `leave --${option} out for the default` : parsed.fix,
      });
    return parsed.value;
  };
  const milliseconds = read('query-timeout', args.queryTimeout, parseDuration, 3_600_000);
  const limits = {
    ratePerSecond: read('rate-limit', args.rateLimit, parseCount, 1_000_000),
    datasetFields: read('max-fields', args.maxFields, parseCount, SERVICE_MOST_FIELDS),
    monthlyBytes: read('monthly-quota', args.monthlyQuota, parseSize, 2 ** 50),
    bodyBytes: read('max-body', args.maxBody, parseSize, SERVICE_MOST_BODY_BYTES),
    queryMemoryBytes: read('query-memory', args.queryMemory, parseSize, 2 ** 40),
    querySeconds: milliseconds === undefined ? undefined : milliseconds / 1000,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

function parseCount(text: string): ParsedQuantity {
  if (/^\d{1,9}$/.test(text)) return { ok: true, value: Number(text) };
  return { ok: false, message: 'is not a whole number', fix: 'write digits only, such as `100`' };
}

/** An origin as browsers send it. Throws a `UsageError`. */
function readOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null';
  if (text === '*' || (origin !== 'null' && `${origin}/` === `${text.replace(/\/$/, '')}/`))
    return text === '*' ? text : origin;
  throw new UsageError('E_CORS', `--cors ${JSON.stringify(text)} is no origin`, {
    fix: 'write it as https://app.example.org, or * for every one',
  });
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

function announce({ address, credentials }: Service, data: string, json: boolean): void {
  const { orgId } = credentials;
  if (json) {
    const tokens = Object.entries(JSON_NAMES).map(([name, key]) => [
      key,
      credentials[name as keyof typeof JSON_NAMES] ?? null,
    ]);
    process.stdout.write(`${JSON.stringify({ url: address, org_id: orgId, ...Object.fromEntries(tokens) })}\n`);
    return;
  }
  const made = madeTokens(credentials, process.env);
  const lines = [`serving on      ${address}`, `organisation    ${orgId}`];
  if (Object.keys(made).length === 0 && credentials.apiToken === undefined)
    lines.push(
      'tokens          made at the first start; lost ones: stop the service, then make others',
      ...tokenCommands(data),
    );
  else if (process.stdout.isTTY) lines.push(...tokenLines(address, made));
  else if (Object.keys(made).length > 0)
    lines.push(
      `tokens          in ${writeFirstTokens(resolve(data), address, orgId, made)}, which only its owner can read; remove it once you have them`,
    );
  process.stdout.write(`${lines.join('\n')}\n`);
}

function tokenLines(address: string, { personalToken, apiToken, ingestToken }: MadeTokens): string[] {
  const lines: string[] = [];
  if (ingestToken !== undefined)
    lines.push(`ingest token    ${ingestToken}   for agents: ingests and creates datasets`);
  if (apiToken !== undefined) lines.push(`API token       ${apiToken}   for programs and queries`);
  if (personalToken !== undefined)
    lines.push(
      `personal token  ${personalToken}   for people and administration`,
      `explorer        ${signedIn(address, personalToken)}`,
    );
  if (lines.length > 0) lines.push('Keep the tokens: only their hashes are stored, they are not shown again.');
  return lines;
}

/** Commands that create tokens like those of the first start: a personal token may not ingest. */
function tokenCommands(data: string): string[] {
  const create = (rights: string): string => `tailrace tokens create NAME ${rights} --data ${shellWord(data)}`;
  return [
    `  agents            ${create("--ingest '*'")}  (with --manage-datasets for create_dataset)`,
    `  queries           ${create("--query '*'")}`,
    `  administration    ${create('--personal')}`,
  ];
}

/** The first SIGTERM or SIGINT; a second one ends the process at once, as without a handler. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done(signal));
  });
}

const write =
  (level: 'info' | 'warn' | 'error', colour: 'dim' | 'yellow' | 'red') => (fields: object, message: string) => {
    const facts = Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    const label = styleText(colour, level, { stream: process.stderr });
    process.stderr.write(
      `${new Date().toISOString()} ${label} ${printable(`${message}${facts.length > 0 ? ` ${facts.join(' ')}` : ''}`)}\n`,
    );
  };

/** Lines on stderr, for when no other log is given. */
const stderrLog: Log = {
  debug() {},
  info: write('info', 'dim'),
  warn: write('warn', 'yellow'),
  error: write('error', 'red'),
};

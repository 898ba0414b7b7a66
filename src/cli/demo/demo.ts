/**
 * `tailrace demo`, which `npm start` runs: a local service, a sample application and an agent that ships its log and this machine's own
 * into the service, with live counts. Ctrl-C drains and prints the stored events.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Agent } from '../../agent/agent.ts';
import { startAgent } from '../../agent/start-agent.ts';
import { type Client, createClient } from '../../client/client.ts';
import { loadConfig } from '../../config/load/load.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { TOKEN_VARIABLES } from '../../service/auth/auth.ts';
import type { Service } from '../../service/run/service.ts';
import { refuseForeignFolder, shellWord } from '../../state/keep-owner.ts';
import type { Observed } from '../../telemetry/observed.ts';
import { createLog } from '../../telemetry/log.ts';
import { FIRST_TOKENS_FILE, madeTokens, signedIn, writeFirstTokens } from '../serve/first-tokens.ts';
import { ensureDataset } from '../client/with-client.ts';
import { startDemoApp } from './demo-app.ts';
import { demoConfig } from './demo-config.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

const DATASET = 'demo-logs';
const KEPT_FOLDER = 'tailrace-demo';
const SHOW_EVERY_MS = 1000;
const SHOW_EVERY_PLAIN_MS = 3000;
/** A terminal sends Ctrl-C to the whole process group and npm forwards it: signals this close together are one. */
const SAME_SIGNAL_MS = 1500;

/** Runs until a signal; resolves with 0 once all is drained, 1 when something could not be delivered. */
export async function demo(args: ArgumentsOf<'demo'>): Promise<number> {
  const stopping = waitForSignal();
  const kept = args.data ?? (args.keep === true ? KEPT_FOLDER : undefined);
  const folder = makeFolder(kept);
  try {
    return await runDemo(folder, { ...args, keep: kept !== undefined }, stopping);
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(wanted: string | undefined): string {
  try {
    if (wanted === undefined) return mkdtempSync(join(tmpdir(), 'tailrace-demo-'));
    const folder = resolve(wanted);
    mkdirSync(folder, { recursive: true });
    refuseForeignFolder(folder);
    return folder;
  } catch (cause) {
    if (cause instanceof TailraceError) throw cause;
    throw new TailraceError('E_DATA_DIR', `cannot make the demo's data folder: ${messageOf(cause)}`, {
      fix: 'name a folder that this user can write with --data, or in TMPDIR',
      cause,
    });
  }
}

async function runDemo(folder: string, args: ArgumentsOf<'demo'>, stopping: Promise<AbortSignal>): Promise<number> {
  const { startService } = await import('../../service/run/service.ts');
  const log = await createLog({ level: 'warn' });
  process.umask(0o077);
  process.stderr.write('Starting the local service …\n');
  const dataDir = join(folder, 'service');
  const tokens = demoTokens();
  const service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    dataDir,
    log,
    env: { TAILRACE_ORG_ID: 'demo', ...process.env, ...tokens },
  });
  const client = createClient({ url: service.address, token: tokens.TAILRACE_API_TOKEN });
  const app = startDemoApp(join(folder, 'sample-app', 'app.log'));
  try {
    await ensureDataset(client, {
      name: DATASET,
      description: 'Logs of this machine and of a sample application',
    }).catch((cause: unknown) => {
      throw new TailraceError('E_DEMO', messageOf(cause), { fix: 'use another --data folder', cause });
    });
    const config = join(folder, 'tailrace.yaml');
    writeFileSync(config, await demoConfig(folder, { url: service.address, dataset: DATASET, exists: true }));
    const agent = await startAgent({
      config: loadConfig(config, { ...process.env, TAILRACE_TOKEN: tokens.TAILRACE_INGEST_TOKEN }),
      once: false,
      log,
    });
    const output = outputFor(args.json === true);
    if (!args.json)
      process.stdout.write(introduction(service.address, shownTokens(dataDir, service, tokens), config, agent));

    const timer = setInterval(
      () => output.show(countsOf(agent.observe())),
      process.stdout.isTTY ? SHOW_EVERY_MS : SHOW_EVERY_PLAIN_MS,
    );
    output.show(countsOf(agent.observe()));
    const deadline = await stopping;
    clearInterval(timer);
    app.stop();
    output.end('Stopping: delivering what was read …');
    await oneMoreScan();
    const report = await agent.stop(deadline);
    const counts = countsOf(agent.observe());
    const inEngine = await countStored(client);
    output.show(counts);
    output.end(
      `Done: stored ${inEngine} events, as the service counts them; ${counts.failed} failed, ${report.lostEvents} lost.`,
    );
    output.end(
      args.keep === true
        ? howToGoOn(folder, config, service.address)
        : `The demo's data and configuration are removed; \`${programName()} demo --keep\` keeps them.`,
    );
    return report.lostEvents === 0 ? 0 : 1;
  } finally {
    app.stop();
    await client.close();
    await service.close();
    if (args.keep === true) await endTokens(dataDir);
  }
}

/** Resolves at the first signal with what aborts at the second one, or after 30 s. */
function waitForSignal(): Promise<AbortSignal> {
  const deadline = new AbortController();
  return new Promise((resolve) => {
    let firstAt = 0;
    const onSignal = () => {
      if (firstAt === 0) {
        firstAt = Date.now();
        setTimeout(() => deadline.abort(), 30_000).unref();
        resolve(deadline.signal);
      } else if (Date.now() - firstAt > SAME_SIGNAL_MS) deadline.abort();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

/** Gives the agent one more scan for the sample app's last lines. */
function oneMoreScan(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1200));
}

type DemoTokens = Readonly<Record<(typeof TOKEN_VARIABLES)[keyof typeof TOKEN_VARIABLES], string>>;

/** Of this run alone. */
const demoTokens = (): DemoTokens => ({
  TAILRACE_PERSONAL_TOKEN: `xapt-${randomUUID()}`,
  TAILRACE_API_TOKEN: `xaat-${randomUUID()}`,
  TAILRACE_INGEST_TOKEN: `xaat-${randomUUID()}`,
});

/** What the introduction says in place of tokens: themselves on a terminal, else how to read them from the file that holds them. */
interface ShownTokens {
  readonly page: string;
  readonly api: string;
  readonly note: string;
}

function shownTokens(dataDir: string, { address, credentials }: Service, tokens: DemoTokens): ShownTokens {
  const { TAILRACE_PERSONAL_TOKEN: personal, TAILRACE_API_TOKEN: api } = tokens;
  if (process.stdout.isTTY) return { page: signedIn(address, personal), api, note: '' };
  const file = writeFirstTokens(dataDir, address, credentials.orgId, madeTokens(credentials, {}));
  return {
    page: `${address}/`,
    api: `$(grep -o 'xaat-[^"]*' ${shellWord(file)} | head -n 1)`,
    note: `  tokens   ${file}\n`,
  };
}

/** Ends the tokens of this run in a folder that is kept. */
async function endTokens(dataDir: string): Promise<void> {
  const { openOfflineTokens } = await import('../../service/run/offline-tokens.ts');
  rmSync(join(dataDir, FIRST_TOKENS_FILE), { force: true });
  const offline = openOfflineTokens(dataDir);
  for (const name of ['personal', 'api', 'ingest']) offline.revoke(`environment-${name}`);
  offline.close();
}

async function countStored(client: Client): Promise<number> {
  const { buckets } = await client.queryDataset(DATASET, {
    startTime: '1970-01-01T00:00:00Z',
    aggregations: [{ op: 'count' }],
  });
  return Number(buckets.totals?.[0]?.aggregations?.[0]?.value ?? 0);
}

function introduction(url: string, { page, api, note }: ShownTokens, config: string, agent: Agent): string {
  return `
Tailrace ships the logs of a sample application and of this machine into the local service.

  explorer ${page}
  status   ${agent.telemetry?.address ?? 'off'}/
  service  ${url}
  metrics  ${agent.telemetry?.address ?? 'off'}/metrics
  config   ${config}
${note}
Ask for the latest five events:

  curl -s ${url}/v1/datasets/${DATASET}/query -H "Authorization: Bearer ${api}" \\
    -H 'Content-Type: application/json' -d '{"startTime":"now-1h","limit":5}'

  TAILRACE_URL=${url} TAILRACE_TOKEN=${api} ${programName()} query "['${DATASET}'] | where _time > ago(1h) | sort by _time desc | take 5"

Ctrl-C ends it.

`;
}

function programName(): string {
  return existsSync(join('bin', 'tailrace')) ? 'bin/tailrace' : 'tailrace';
}

function howToGoOn(folder: string, config: string, url: string): string {
  const data = shellWord(join(folder, 'service'));
  return `
The configuration, the agent's positions and the service's events stay in ${folder}. The demo's tokens have ended. To go on:

  ${programName()} tokens create agent --ingest '*' --manage-datasets --data ${data}   # prints a token
  ${programName()} serve --data ${data} --listen ${new URL(url).host}
  TAILRACE_TOKEN=… ${programName()} run --config ${shellWord(config)}
`;
}

interface Counts {
  readonly files: number;
  readonly read: number;
  readonly stored: number;
  readonly failed: number;
  readonly lagBytes: number;
}

function countsOf(observed: Observed): Counts {
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  return {
    files: sum(observed.sources.flatMap(({ stats }) => Object.values(stats.files))),
    read: sum(observed.sources.map(({ accepted }) => accepted)),
    stored: sum(observed.sinks.flatMap(({ stored }) => [...stored.values()])),
    failed: sum(observed.sinks.flatMap(({ failed }) => [...failed.values()])),
    lagBytes: sum(observed.sources.map(({ stats }) => stats.lagBytes)),
  };
}

interface DemoOutput {
  show(counts: Counts): void;
  end(text: string): void;
}

function textOf({ files, read, stored, failed, lagBytes }: Counts): string {
  return `files ${files}  read ${read}  stored ${stored}  failed ${failed}  lag ${lagBytes} bytes`;
}

/** JSON for scripts, one line that is written over on a terminal, else a line each time. */
function outputFor(isJson: boolean): DemoOutput {
  const { stdout, stderr } = process;
  if (isJson)
    return { show: (counts) => stdout.write(`${JSON.stringify(counts)}\n`), end: (text) => stderr.write(`${text}\n`) };
  const [before, after] = stdout.isTTY ? ['\r\u001B[K', ''] : ['', '\n'];
  return {
    show: (counts) => stdout.write(`${before}${textOf(counts)}${after}`),
    end: (text) => stdout.write(`${after === '' ? '\n' : ''}${text}\n`),
  };
}

/** The agent as a program between files of numbered lines and a service that misbehaves as asked. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from 'vitest';
import { decodeSpoolFile } from '../../src/state/spool/spool-file.ts';
import { FaultService } from './fault-service.ts';
import { type Program, startProgram } from './program.ts';
import { type Family, parsePrometheus } from './prometheus-text.ts';
import { makeTree } from './temp-tree.ts';

/** Waits that are short enough for a test. */
export const QUICK = 'retry: {initial_backoff: 5ms, max_backoff: 50ms}';

/** A folder with logs, the agent's data and its configuration, and the service that it ships to. */
export interface Site {
  readonly folder: string;
  /** The file that `writeLines` writes to. */
  readonly log: string;
  readonly service: FaultService;
  readonly url: string;
  /** `store` by default. */
  readonly sinkId?: string;
}

export interface ShippingOptions {
  /** Entries of the sink's mapping beside type, url and dataset. */
  readonly sink?: string;
  readonly dataset?: string;
  /** The sources' mappings, by their ids; by default `app` follows the logs. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Further sinks' mappings, by their ids. */
  readonly sinks?: Readonly<Record<string, string>>;
  /** The data folder: by default `agent` in the site's. */
  readonly data?: string;
  /** Entries of the configuration's top. */
  readonly top?: string;
  readonly logLevel?: string;
  /** Entries of the mapping `telemetry` beside `log_level`. */
  readonly telemetry?: string;
  readonly args?: readonly string[];
  readonly stdin?: 'ignore' | 'pipe';
}

/** All of it goes when the test ends. */
export async function makeSite(): Promise<Site> {
  const folder = makeTree({ 'logs/.keep': '' });
  const service = await FaultService.start();
  return { folder, log: join(folder, 'logs', 'app.log'), service, url: service.url };
}

/** What a configuration needs: a folder, and the service that it ships to. */
export type Shipper = Pick<Site, 'folder' | 'url' | 'sinkId'>;

const mapping = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([id, text]) => `  ${id}: ${text}\n`)
    .join('');

/** Writes the configuration; returns its path. */
export function configure({ folder, url, sinkId = 'store' }: Shipper, options: ShippingOptions = {}): string {
  const {
    sink = QUICK,
    dataset = 'logs',
    sinks,
    top = '',
    logLevel = 'info',
    telemetry = 'listen: "127.0.0.1:0"',
  } = options;
  const config = join(folder, 'tailrace.yaml');
  const { sources = { app: `{type: file, include: ["${folder}/logs/*.log*"], scan_interval: 100ms}` } } = options;
  const store = `{type: ingest, url: "${url}", dataset: ${dataset}, ${sink}}`;
  writeFileSync(
    config,
    `data_dir: ${options.data ?? `${folder}/agent`}
${top}
sources:
${mapping(sources)}sinks:
${mapping({ [sinkId]: store, ...sinks })}telemetry: {${telemetry}, log_level: ${logLevel}}
`,
    { mode: 0o600 },
  );
  return config;
}

/** Starts the agent, on the same folder each time. */
export function startShipping(site: Shipper, options: ShippingOptions = {}): Program {
  const config = configure(site, options);
  return startProgram(['run', ...(options.args ?? []), '--config', config], {}, options.stdin);
}

/** Waits until it runs; the address of its telemetry. */
export async function addressOf(agent: Program): Promise<string> {
  return (JSON.parse(await agent.says('tailrace runs')) as { telemetry: string }).telemetry;
}

/** The metrics of an agent, or of one whose telemetry has this address. */
export async function metricsOf(agent: Program | string): Promise<Map<string, Family>> {
  const address = typeof agent === 'string' ? agent : await addressOf(agent);
  return parsePrometheus(await (await fetch(`${address}/metrics`)).text());
}

/** The sum over all samples of these metrics, from one answer. */
export async function sumOf(agent: Program | string, ...names: string[]): Promise<number> {
  const families = await metricsOf(agent);
  return names.flatMap((name) => families.get(name)?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
}

/** Events by their outcome, those that are held, and failures of transforms. */
export async function outcomes(agent: Program): Promise<Record<string, number>> {
  const families = await metricsOf(agent);
  const counts = (families.get('tailrace_events_total')?.samples ?? []).map(
    ({ labels, value }) => [labels['outcome']!, value] as const,
  );
  const held = families.get('tailrace_events_held')?.samples[0]?.value ?? NaN;
  return {
    ...Object.fromEntries(counts),
    held,
    errors: families.get('tailrace_transform_errors_total')?.samples[0]?.value ?? NaN,
  };
}

/** Files of the disk buffer, by their names. */
export function spooledFiles({ folder, sinkId = 'store' }: Site): string[] {
  const spool = join(folder, 'agent', 'spool', sinkId);
  return existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.batch')) : [];
}

/** Events in files of the disk buffer that are whole. */
export function spooledEvents(site: Site): number {
  const folder = join(site.folder, 'agent', 'spool', site.sinkId ?? 'store');
  const contents = spooledFiles(site).map((name) => decodeSpoolFile(readFileSync(join(folder, name))));
  return contents.reduce((sum, content) => sum + (content.ok ? content.header.events : 0), 0);
}

/** `message` of what the service has stored. */
export function messagesOf({ service }: Site): string[] {
  return service.stored.map((event) => (JSON.parse(event) as { message: string }).message);
}

/** Runs a command on the site's configuration to its end. */
export async function command(
  site: Pick<Site, 'folder'>,
  ...args: string[]
): Promise<Program & { readonly code: number | NodeJS.Signals }> {
  const program = startProgram([...args, '--config', join(site.folder, 'tailrace.yaml')]);
  return { ...program, code: await program.exited };
}

export const lineOf = (seq: number): string => `{"seq":${seq}}`;

/** Appends `count` numbered lines to the log. */
export function writeLines(site: Site, count: number, line: (seq: number) => string = lineOf): void {
  appendFileSync(
    site.log,
    range(count)
      .map((seq) => `${line(seq)}\n`)
      .join(''),
  );
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, seq) => seq);
}

/** The number that every line bears, JSON or text. */
export function seqOf(event: string): number {
  return Number(/"?seq"?[=:](\d+)/.exec(event)![1]);
}

/** What the service has stored, sorted. */
export function storedSeqs({ service }: Site): number[] {
  return service.stored.map(seqOf).sort((a, b) => a - b);
}

/** Where each line of `writeLines` begins in its file. */
export function offsetsOf(count: number, line: (seq: number) => string): number[] {
  let offset = 0;
  return range(count).map((seq) => {
    const own = offset;
    offset += Buffer.byteLength(line(seq)) + 1;
    return own;
  });
}

/** A line of `dead-letters list --json`. */
export interface ListedLetter {
  readonly id: string;
  readonly seq: number;
  readonly source: string;
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
  readonly status: number;
  readonly event: unknown;
}

/** By their number. */
export async function listDeadLetters(site: Site): Promise<ListedLetter[]> {
  const program = await command(site, 'dead-letters', 'list', '--json');
  expect(program.code).toBe(0);
  return program
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ListedLetter)
    .map((letter) => ({ ...letter, seq: seqOf(JSON.stringify(letter.event)) }))
    .sort((a, b) => a.seq - b.seq);
}

/** Tests that begin with a site. */
export const test = base.extend('site', () => makeSite());

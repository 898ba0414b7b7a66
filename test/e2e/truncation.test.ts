/** Truncation under the real agent: what only it still has survives a kill, and what is lost is counted to the byte. */
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { decodeSpoolFile } from '../../src/state/spool/spool-file.ts';
import { FaultService } from '../support/fault-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { parsePrometheus } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

let folder: string;
let log: string;
let service: FaultService;
let url: string;

beforeEach(async () => {
  folder = makeTree({ 'logs/.keep': '' });
  log = join(folder, 'logs', 'app.log');
  service = new FaultService();
  url = await service.start();
  onTestFinished(() => service.stop());
});

interface Running {
  readonly agent: Program;
  /** The sum over all samples of these metrics, from one answer. */
  readonly metric: (...names: string[]) => Promise<number>;
}

async function startAgent(buffer = '{}'): Promise<Running> {
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${folder}/agent
sources:
  app: {type: file, include: ["${log}*"], scan_interval: 100ms}
sinks:
  store: {type: ingest, url: "${url}", dataset: logs, retry: {initial_backoff: 50ms, max_backoff: 500ms}, batch: {max_age: 50ms}, buffer: ${buffer}}
telemetry: {listen: "127.0.0.1:0"}
`,
  );
  const agent = startProgram(['run', '--config', config]);
  onTestFinished(() => void agent.end('SIGKILL'));
  const { telemetry } = JSON.parse(await agent.says('tailrace runs')) as { telemetry: string };
  const metric = async (...names: string[]): Promise<number> => {
    const families = parsePrometheus(await (await fetch(`${telemetry}/metrics`)).text());
    return names.flatMap((name) => families.get(name)?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
  };
  return { agent, metric };
}

const lines = (from: number, to: number): string => Array.from({ length: to - from }, (_, n) => `{"seq":${from + n}}\n`).join('');
const stored = (): number[] => service.stored.map((event) => (JSON.parse(event) as { seq: number }).seq).sort((a, b) => a - b);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

/** Events that are in the disk buffer. */
function spooled(): number {
  const spool = join(folder, 'agent', 'spool', 'store');
  if (!existsSync(spool)) return 0;
  const files = readdirSync(spool).filter((name) => name.endsWith('.batch'));
  return files.reduce((sum, name) => {
    const content = decodeSpoolFile(readFileSync(join(spool, name)));
    return sum + (content.ok ? content.header.events : 0);
  }, 0);
}

// Symptom: lines that were read and not delivered when their file was truncated were lost with a kill. Cause: they count on
// being read again, and are in no file any more. Fix: they go to the disk buffer as those of a deleted file do.
test.each([
  ['emptied', false],
  ['copied, with less than was read, and emptied', true],
])('what was read of a file that is %s survives a kill', async (_, isCopied) => {
  service.respond = () => ({ status: 500 });
  appendFileSync(log, lines(0, 500));
  const { agent, metric } = await startAgent();
  await until('half is read', async () => (await metric('tailrace_events_held')) === 500);
  if (isCopied) copyFileSync(log, `${folder}/copy`);
  appendFileSync(log, lines(500, 1000));
  await until('all is read', async () => (await metric('tailrace_events_held')) === 1000);
  if (isCopied) copyFileSync(`${folder}/copy`, `${log}.1`);
  truncateSync(log, 0);
  await until('all that was read is in the disk buffer', () => spooled() === 1000);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');

  service.respond = () => undefined;
  appendFileSync(log, lines(1000, 1100));
  const next = await startAgent();
  await until('everything is stored', () => service.stored.length >= 1100);
  expect(await next.agent.end()).toBe(0);
  expect(stored()).toEqual(range(0, 1100));
  expect(service.misusedKeys).toEqual([]);
});

test('bytes that a truncation destroyed are counted exactly where a scan saw them, and nothing else is missing', async () => {
  // With the memory full nothing more is read.
  service.respond = () => ({ status: 500 });
  const { agent, metric } = await startAgent('{max_memory: 2MiB}');
  const pad = 'x'.repeat(1000);
  const large = (from: number, to: number): string =>
    range(from, to)
      .map((seq) => `{"seq":${seq},"pad":"${pad}"}\n`)
      .join('');
  writeFileSync(log, large(0, 10_000));
  const copied = Buffer.byteLength(large(0, 10_000));
  await until('reading waits', async () => (await metric('tailrace_backpressure_seconds_total')) > 0);
  copyFileSync(log, `${log}.1`);
  const destroyed = Buffer.byteLength(large(10_000, 10_500));
  appendFileSync(log, large(10_000, 10_500));
  const seen = (): Promise<number> => metric('tailrace_source_lag_bytes', 'tailrace_source_read_bytes_total');
  await until('a scan saw all of it', async () => (await seen()) === copied + destroyed);
  truncateSync(log, 0);
  appendFileSync(log, lines(20_000, 20_010));
  await until('the loss is counted', async () => (await metric('tailrace_source_lost_bytes_total')) > 0);
  service.respond = () => undefined;
  await until('everything else is stored', () => service.stored.length >= 10_010);
  expect(await metric('tailrace_source_lost_bytes_total')).toBe(destroyed);
  expect(await agent.end()).toBe(0);
  expect(stored()).toEqual([...range(0, 10_000), ...range(20_000, 20_010)]);
});

/** Files that are deleted while the service is away, with the real agent: what was read of them and what was not are sent all the same. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FaultService } from '../support/fault-service.ts';
import { type Program, startProgram } from '../support/program.ts';
import { parsePrometheus } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { findImbalances } from '../support/watch-books.ts';

interface Rig {
  readonly service: FaultService;
  readonly folder: string;
  log(name: string): string;
  start(): Promise<{ program: Program; address: string }>;
}

async function makeRig(sink = '', source = ''): Promise<Rig> {
  const service = new FaultService();
  const url = await service.start();
  onTestFinished(() => service.stop());
  const folder = makeTree({});
  mkdirSync(join(folder, 'logs'));
  writeFileSync(
    join(folder, 'tailrace.yaml'),
    `data_dir: ${join(folder, 'data')}
telemetry: {listen: "127.0.0.1:0"}
sources: {app: {type: file, include: ["${join(folder, 'logs')}/*.log"], scan_interval: 100ms${source}}}
sinks: {store: {type: ingest, url: "${url}", token: t, dataset: logs, batch: {max_age: 100ms}, retry: {initial_backoff: 5ms, max_backoff: 50ms}${sink}}}
`,
  );
  return {
    service,
    folder,
    log: (name) => join(folder, 'logs', name),
    async start() {
      const program = startProgram(['run', '--config', join(folder, 'tailrace.yaml')]);
      onTestFinished(() => void program.end('SIGKILL'));
      const line = await program.says('"telemetry":"http');
      return { program, address: /"telemetry":"(http[^"]+)"/.exec(line)![1]! };
    },
  };
}

const lineOf = (seq: number): string => `line ${seq} ${'.'.repeat(80)}`;

function linesOf(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `${lineOf(from + index)}\n`).join('');
}

function storedSeqs({ service }: Rig): number[] {
  return service.stored.map((event) => Number(/line (\d+)/.exec(event)![1])).sort((a, b) => a - b);
}

const range = (count: number): number[] => Array.from({ length: count }, (_, seq) => seq);

/** Deleted files that the process holds open. */
function heldBy({ process }: Program): string[] {
  return readdirSync(`/proc/${process.pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${process.pid}/fd/${fd}`);
      return path.includes('/logs/') && path.endsWith(' (deleted)') ? [path] : [];
    } catch {
      return [];
    }
  });
}

function spooledBytes({ folder }: Rig): number {
  const spool = join(folder, 'data/spool/store');
  return existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.batch')).length : 0;
}

async function metrics(address: string) {
  return parsePrometheus(await (await fetch(`${address}/metrics`)).text());
}

async function metric(address: string, name: string): Promise<number> {
  return (await metrics(address)).get(name)?.samples.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

test('a file that is deleted while the service is away goes into the disk buffer whole, is let go, and survives a kill', async () => {
  const rig = await makeRig();
  rig.service.respond = () => ({ status: 503 });
  const count = 100_000;
  writeFileSync(rig.log('keep.log'), linesOf(count, count + 1000));
  writeFileSync(rig.log('gone.log'), linesOf(0, count));
  const { program, address } = await rig.start();
  await until('the reader waits for the service', async () => (await metric(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  expect(await metric(address, 'tailrace_source_lag_bytes')).toBeGreaterThan(1_000_000);
  rmSync(rig.log('gone.log'));
  await until('all of it is read', async () => (await metric(address, 'tailrace_events_held')) >= count);
  await until('it is let go', () => heldBy(program).length === 0);
  expect(findImbalances(await metrics(address))).toEqual([]);
  expect(await metric(address, 'tailrace_source_lost_bytes_total')).toBe(0);
  // Of a file that is still there: at most what shares a batch with the other.
  appendFileSync(rig.log('keep.log'), linesOf(count + 1000, count + 2000));
  await program.end('SIGKILL');
  expect(spooledBytes(rig)).toBeGreaterThan(0);
  rig.service.respond = () => undefined;
  const again = await rig.start();
  await until('everything is stored', () => rig.service.stored.length >= count + 2000);
  await until('the disk buffer is empty', () => spooledBytes(rig) === 0);
  expect(storedSeqs(rig)).toEqual(range(count + 2000));
  expect(rig.service.misusedKeys).toEqual([]);
  expect(await metric(again.address, 'tailrace_source_lost_bytes_total')).toBe(0);
  expect(await again.program.end()).toBe(0);
  expect(again.program.stderr()).not.toContain('are gone');
});

test('batches under way keep their keys over a delete, a kill and a restart', async () => {
  const rig = await makeRig(', concurrency: 2');
  const keys = new Map<string, Set<string>>();
  rig.service.respond = ({ key, events }) => {
    for (const event of events) {
      const seq = /line \d+/.exec(event)![0];
      keys.set(seq, (keys.get(seq) ?? new Set()).add(key));
    }
    return { status: 503 };
  };
  writeFileSync(rig.log('a.log'), linesOf(0, 500));
  const { program } = await rig.start();
  await until('it is sent', () => keys.size === 500);
  rmSync(rig.log('a.log'));
  await until('it is in the disk buffer', () => spooledBytes(rig) > 0);
  await program.end('SIGKILL');
  const before = new Set([...keys.values()].flatMap((each) => [...each]));
  rig.service.respond = () => undefined;
  const again = await rig.start();
  await until('everything is stored', () => rig.service.stored.length >= 500);
  expect(await again.program.end()).toBe(0);
  expect(storedSeqs(rig)).toEqual(range(500));
  for (const { key, events } of rig.service.requests) if (events.length > 0) expect(before).toContain(key);
});

test('a stop keeps what is unread of deleted files', async () => {
  const rig = await makeRig(', buffer: {disk: {max_bytes: 1MiB}}');
  rig.service.respond = () => ({ status: 503 });
  const count = 60_000;
  writeFileSync(rig.log('a.log'), linesOf(0, count));
  const { program, address } = await rig.start();
  await until('the reader waits', async () => (await metric(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  rmSync(rig.log('a.log'));
  await program.says('file was deleted');
  expect(await program.end()).toBe(0);
  rig.service.respond = () => undefined;
  const again = await rig.start();
  await until('everything is stored', () => rig.service.stored.length >= count);
  expect(await again.program.end()).toBe(0);
  expect(storedSeqs(rig)).toEqual(range(count));
});

test('a deleted file that neither disk buffer nor budget has room for is given up, counted to the byte, and said', async () => {
  const rig = await makeRig(', buffer: {disk: {max_bytes: 1MiB}}, compression: none', ', max_deleted_bytes: 1MiB');
  rig.service.respond = () => ({ status: 503 });
  const count = 300_000;
  const text = linesOf(0, count);
  writeFileSync(rig.log('a.log'), text);
  const { program, address } = await rig.start();
  await until('the reader waits', async () => (await metric(address, 'tailrace_backpressure_seconds_total')) > 0.2);
  rmSync(rig.log('a.log'));
  await program.says('deleted file is given up before it was read');
  await until('it is let go', () => heldBy(program).length === 0);
  const lost = await metric(address, 'tailrace_source_lost_bytes_total');
  expect(lost).toBeGreaterThan(1_000_000);
  expect(findImbalances(await metrics(address))).toEqual([]);
  rig.service.respond = () => undefined;
  await until('the rest is stored', async () => (await metric(address, 'tailrace_events_held')) === 0);
  const seqs = storedSeqs(rig);
  expect(new Set(seqs).size).toBe(seqs.length);
  const missing = range(count).filter((seq) => seq >= seqs.length);
  expect(seqs).toEqual(range(seqs.length));
  expect(lost).toBe(missing.reduce((sum, seq) => sum + lineOf(seq).length + 1, 0));
  expect(await program.end()).toBe(0);
});

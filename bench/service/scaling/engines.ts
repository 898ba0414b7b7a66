/**
 * The same work on the embedded engine, on one ClickHouse server and on two shards, all on this machine: ingest, the examples, memory by concurrent
 * query, and the move from the one to the others. The servers are the engine's own library with its interfaces started, as the tests use it.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startClickhouse, type ClickhouseCluster } from '../../../test/support/clickhouse.ts';
import { writeInput, type Input } from '../../inputs.ts';
import { readCpuSeconds, startMeasured } from '../../measure.ts';
import { GIB, median } from '../../run.ts';
import { batchesOf, ingestPath, sendAll, SENDERS } from '../ingest.ts';
import { rest, startMeasuredService } from '../process.ts';
import { askAll, describeMemory, measureMemory, PATIENCE, type ExampleCosts, type Memory, type Target } from './ask.ts';

export const ENGINES = [
  { name: 'embedded', servers: 0 },
  { name: 'one server', servers: 1 },
  { name: 'two shards', servers: 2 },
] as const;
type EngineKind = (typeof ENGINES)[number];

export interface IngestCost {
  readonly serviceCpuPerGiB: number;
  readonly serversCpuPerGiB: number;
}

export interface MoveCost {
  readonly rows: number;
  /** Of the command, and of the servers until they are at rest. */
  readonly commandCpuSeconds: number;
  readonly serversCpuSeconds: number;
}

export interface EngineFigures {
  readonly inputBytes: number;
  readonly rows: number;
  /** By the engine's name. */
  readonly ingest: Readonly<Record<string, IngestCost>>;
  readonly moves: Readonly<Record<string, MoveCost>>;
  readonly examples: readonly ExampleCosts[];
  readonly memory: Readonly<Record<string, readonly Memory[]>>;
}

export interface EnginesOptions {
  readonly program: string;
  /** For the data; files made there are removed. */
  readonly folder: string;
  /** A data folder with `rows` events; it is copied. */
  readonly stored: string;
  readonly rows: number;
  /** Of the input of ingest. */
  readonly bytes: number;
  readonly runs: number;
  readonly turns: number;
  readonly say: (line: string) => void;
}

const SEED = 20_260_104;
const CLIENTS = [1, 4, 8];
/** What memory is looked at with: a group for each of many values. */
export const HEAVY = "summarize requests = count() by ['req.url'] | top 10 by requests";

export async function measureEngines(options: EnginesOptions): Promise<EngineFigures> {
  const { bytes, rows } = options;
  const ingest = await measureIngest(options);
  return { inputBytes: bytes, rows, ingest, ...(await measureQueries(options)) };
}

async function measureIngest({ program, folder, bytes, runs, say }: EnginesOptions): Promise<EngineFigures['ingest']> {
  const input = writeInput('json', SEED, bytes, join(folder, 'scaling.log'));
  const batches = batchesOf(input, 'none');
  const passes = new Map<string, IngestCost[]>(ENGINES.map(({ name }) => [name, []]));
  for (let run = 1; run <= runs; run++)
    for (const engine of ENGINES) {
      const cost = await ingestOnce(program, join(folder, 'ingest'), input, batches, engine);
      passes.get(engine.name)!.push(cost);
      say(
        `ingest, ${engine.name} ${run}/${runs}: ${(cost.serviceCpuPerGiB + cost.serversCpuPerGiB).toFixed(1)} CPU-s/GiB`,
      );
    }
  const middle = (costs: IngestCost[]): IngestCost => ({
    serviceCpuPerGiB: median(costs.map((cost) => cost.serviceCpuPerGiB)),
    serversCpuPerGiB: median(costs.map((cost) => cost.serversCpuPerGiB)),
  });
  return Object.fromEntries([...passes].map(([name, costs]) => [name, middle(costs)]));
}

async function ingestOnce(
  program: string,
  data: string,
  input: Input,
  batches: readonly Buffer[],
  { servers }: EngineKind,
): Promise<IngestCost> {
  rmSync(data, { recursive: true, force: true });
  const cluster = servers > 0 ? await startClickhouse(servers) : undefined;
  const service = await startMeasuredService(program, data, SENDERS, argumentsFor(cluster));
  try {
    await service.post('/v1/datasets', JSON.stringify({ name: 'bench' }));
    const others = pidsOf(cluster);
    await Promise.all([service.pid, ...others].map(rest));
    const [serviceFrom, serversFrom] = [cpuOf([service.pid]), cpuOf(others)];
    await sendAll(batches, (batch, n) => service.post(ingestPath(input.kind), batch, 'none', `batch-${n}`));
    await Promise.all([service.pid, ...others].map(rest));
    const gib = input.bytes / GIB;
    const cost = {
      serviceCpuPerGiB: (cpuOf([service.pid]) - serviceFrom) / gib,
      serversCpuPerGiB: (cpuOf(others) - serversFrom) / gib,
    };
    const { status } = (await service.post(
      '/v1/datasets/bench/query',
      JSON.stringify({ aggregations: [{ op: 'count' }] }),
    )) as {
      status: { rowsMatched: number };
    };
    if (status.rowsMatched !== input.lines)
      throw new Error(`the service has ${status.rowsMatched} of ${input.lines} events`);
    return cost;
  } finally {
    await service.stop();
    await cluster?.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Moves copies of the stored folder to the servers, and asks all three in turns. */
async function measureQueries({
  program,
  folder,
  stored,
  rows,
  turns,
  say,
}: EnginesOptions): Promise<Omit<EngineFigures, 'inputBytes' | 'rows' | 'ingest'>> {
  const data = join(folder, 'engines');
  const undo: (() => Promise<void> | void)[] = [() => rmSync(data, { recursive: true, force: true })];
  try {
    const moves: Record<string, MoveCost> = {};
    const targets: Target[] = [];
    for (const { name, servers } of ENGINES) {
      const own = join(data, name.replace(' ', '-'));
      cpSync(stored, own, { recursive: true });
      const cluster = servers > 0 ? await startClickhouse(servers) : undefined;
      if (cluster) {
        undo.push(() => cluster.stop());
        const move = await moveOnce(program, own, cluster, rows);
        moves[name] = move;
        const cpu = `${move.commandCpuSeconds.toFixed(1)} + ${move.serversCpuSeconds.toFixed(1)} CPU-s`;
        say(`the move, ${name}: ${cpu}`);
      }
      const service = await startMeasuredService(program, own, Math.max(...CLIENTS), argumentsFor(cluster));
      undo.push(() => service.stop());
      targets.push({ name, service, pids: [service.pid, ...pidsOf(cluster)] });
    }
    const examples = await askAll(targets, turns, say);
    const memory: Record<string, Memory[]> = {};
    for (const target of targets) {
      const found: Memory[] = [];
      for (const clients of CLIENTS) found.push(await measureMemory(target, HEAVY, clients));
      memory[target.name] = found;
      say(`memory, ${target.name}: ${found.map(describeMemory).join('; ')}`);
    }
    return { moves, examples, memory };
  } finally {
    for (const each of undo.reverse()) await each();
  }
}

async function moveOnce(program: string, data: string, cluster: ClickhouseCluster, rows: number): Promise<MoveCost> {
  const others = pidsOf(cluster);
  await Promise.all(others.map(rest));
  const from = cpuOf(others);
  const argv = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    program,
    'migrate',
    '--data',
    data,
    '--to',
    cluster.url,
  ];
  const { code, output, cpuSeconds } = await (await startMeasured(argv)).done;
  if (code !== 0) throw new Error(`the move ended with ${code}: ${output}`);
  await Promise.all(others.map(rest));
  return { rows, commandCpuSeconds: cpuSeconds, serversCpuSeconds: cpuOf(others) - from };
}

const argumentsFor = (cluster: ClickhouseCluster | undefined): string[] => [
  ...PATIENCE,
  ...(cluster ? ['--engine', cluster.url] : []),
];
const pidsOf = (cluster: ClickhouseCluster | undefined): number[] =>
  (cluster?.servers ?? []).map((server) => server.process.pid!);
const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + readCpuSeconds(pid), 0);

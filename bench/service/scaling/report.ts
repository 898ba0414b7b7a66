/** The tables of docs/scaling.md: CPU alone, as times say more of what else the machine did. */
import type { Cost, Memory } from './ask.ts';
import { ENGINES, type EngineFigures } from './engines.ts';
import type { GrowthRow } from './growth.ts';

const EMBEDDED = ENGINES[0].name;

export const renderLoad = ([before, after]: readonly [number, number]): string =>
  `The machine's load: ${before.toFixed(1)} before, ${after.toFixed(1)} after.`;

export const renderEngines = (figures: EngineFigures): string =>
  [renderIngest, renderMoves, renderExamples, renderMemory].map((render) => render(figures)).join('\n\n');

export const renderGrowth = (rows: readonly GrowthRow[]): string =>
  [renderSizes, renderExamplesBySize].map((render) => render(rows)).join('\n\n');

function renderIngest({ ingest, inputBytes }: EngineFigures): string {
  const total = (name: string): number => ingest[name]!.serviceCpuPerGiB + ingest[name]!.serversCpuPerGiB;
  const rows = Object.entries(ingest).map(([name, { serviceCpuPerGiB, serversCpuPerGiB }]) => [
    name,
    total(name).toFixed(1),
    `${serviceCpuPerGiB.toFixed(1)} + ${serversCpuPerGiB.toFixed(1)}`,
    times(total(name) / total(EMBEDDED)),
  ]);
  const title = `### Ingest, ${(inputBytes / 2 ** 20).toFixed(0)} MiB of JSON`;
  return section(title, ['engine', 'CPU-s/GiB', 'service + servers', 'by embedded'], rows);
}

function renderMoves({ moves }: EngineFigures): string {
  const rows = Object.entries(moves).map(([name, { rows: moved, commandCpuSeconds, serversCpuSeconds }]) => [
    name,
    moved.toLocaleString('en'),
    ((commandCpuSeconds + serversCpuSeconds) / (moved / 1e6)).toFixed(1),
    `${(commandCpuSeconds / (moved / 1e6)).toFixed(1)} + ${(serversCpuSeconds / (moved / 1e6)).toFixed(1)}`,
  ]);
  return section('### The move', ['to', 'events', 'CPU-s a million', 'command + servers'], rows);
}

function renderExamples({ examples, rows: stored }: EngineFigures): string {
  const rows = examples.map(({ example, costs }) => {
    const { [EMBEDDED]: embedded, ...others } = costs;
    const cells = Object.values(others).flatMap((cost) => [cpu(cost), byEmbedded(cost, embedded!)]);
    return [example.name, cpu(embedded!), ...cells];
  });
  const head = ['query', ...ENGINES.flatMap(({ name }) => (name === EMBEDDED ? [name] : [name, 'by embedded']))];
  return section(`### Queries on ${stored.toLocaleString('en')} events, ms of CPU`, head, rows);
}

function renderMemory({ memory }: EngineFigures): string {
  const rows = Object.entries(memory).map(([name, found]) => [name, ...found.map(memoryCell)]);
  const head = ['engine', ...Object.values(memory)[0]!.map(({ clients }) => `${clients} at a time`)];
  return section('### Memory by concurrent query', head, rows);
}

function renderSizes(growth: readonly GrowthRow[]): string {
  const rows = growth.map(({ rows: stored, bytes, parts, startSeconds, idleRssBytes, memory }) => [
    stored.toLocaleString('en'),
    `${(bytes / 1e9).toFixed(2)} GB`,
    (bytes / stored).toFixed(1),
    String(parts),
    `${startSeconds.toFixed(1)} s`,
    megabytes(idleRssBytes),
    ...memory.map(memoryCell),
  ]);
  const clients = growth[0]!.memory.map(({ clients }) => `memory, ${clients} at a time`);
  return section(
    '### Growth, embedded',
    ['events', 'on disk', 'bytes an event', 'parts', 'starts in', 'RSS at rest', ...clients],
    rows,
  );
}

function renderExamplesBySize(growth: readonly GrowthRow[]): string {
  const head = ['query', ...growth.map(({ rows }) => `${(rows / 1e6).toFixed(0)} M events`)];
  const rows = growth[0]!.examples.map(({ example }, n) => [
    example.name,
    ...growth.map(({ examples }) => cpu(examples[n]!.costs[EMBEDDED]!)),
  ]);
  return section('### Queries as it grows, embedded, ms of CPU', head, rows);
}

const cpu = ({ cpuMs, refused }: Cost): string => refused ?? number(cpuMs);
const byEmbedded = (cost: Cost, embedded: Cost): string =>
  cost.refused === undefined && embedded.refused === undefined ? times(cost.cpuMs / embedded.cpuMs) : '–';
const memoryCell = ({ peakBytes, refused }: Memory): string =>
  `${megabytes(peakBytes)}${refused > 0 ? `, ${refused} refused` : ''}`;
const number = (ms: number): string => Math.round(ms).toLocaleString('en');
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
const times = (ratio: number): string => `${ratio.toFixed(1)} ×`;

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [title, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

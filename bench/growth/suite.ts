/** `npm run bench -- --growth`: CPU and memory of the agent while one thing grows and all else stays. Defaults everywhere. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeInput, writeLines } from '../inputs.ts';
import type { Options } from '../options.ts';
import { GIB } from '../run.ts';
import { say } from '../suite.ts';
import { drawGrowth } from './picture.ts';
import { type Cost, followRate, shipOnce, watchIdle } from './run.ts';

interface Axis {
  readonly name: string;
  /** What grows, and what CPU is of. */
  readonly title: string;
  readonly cpu: string;
  readonly values: readonly number[];
  pass(value: number, tools: Tools): Promise<Cost>;
  /** Why the line bends where it does: printed under the table. */
  readonly kinks: string;
}

interface Tools {
  readonly program: string;
  /** For input, and for the run. Both are of this pass alone. */
  readonly logs: string;
  readonly folder: string;
  readonly seconds: number;
  /** Of the input of axes on which its size stays. */
  readonly bytes: number;
}

export interface Growth {
  readonly axis: Pick<Axis, 'name' | 'title' | 'cpu' | 'kinks'>;
  readonly points: readonly (Cost & { readonly value: number })[];
}

const LINE = `2026-01-01T00:00:00.000Z INFO [worker-1] a line of ordinary length, as an application writes it to its log\n`;
const LINES_PER_FILE = 5;
const textOf = (lines: number): string => LINE.repeat(lines);

const AXES: readonly Axis[] = [
  {
    name: 'files',
    title: 'files that nobody writes to',
    kinks:
      "Measured a minute after the delivery, over two of the scans that come every 30 s then. Up to 1,000 files the agent's own timers are most of it; beyond, a stat of each file and the garbage that a scan leaves: linear. Each of 10,000 followed files takes 8 kB, half of it live heap.",
    cpu: 'CPU-s a minute',
    values: [10, 100, 1000, 10_000, 100_000],
    pass(files, { logs, seconds, ...own }) {
      for (let n = 0; n < files; n++) writeFileSync(join(logs, `app-${n}.log`), `${n} ${textOf(LINES_PER_FILE)}`);
      // Scans come every 30 s, so three times the 20 s of others hold two of them.
      return watchIdle(
        { ...own, sources: [join(logs, '*.log')], sinks: 1, lines: files * LINES_PER_FILE },
        3 * seconds,
      );
    },
  },
  {
    name: 'sources',
    title: 'sources that share an input',
    kinks:
      'Each source starts a reader and has a window of its own, 0.7 to 0.9 MB once it has read as much. The input is of 256 MiB, so a GiB holds four starts of all sources: about 11 ms a source each time.',
    cpu: 'CPU-s a GiB',
    values: [1, 5, 20, 50, 100, 200],
    pass(sources, { logs, bytes, ...own }) {
      const inputs = Array.from({ length: sources }, (_, n) =>
        writeInput('text', n + 1, bytes / sources, join(logs, `${n}.log`)),
      );
      const lines = inputs.reduce((sum, input) => sum + input.lines, 0);
      return perGiB(bytes, shipOnce({ ...own, sources: inputs.map(({ file }) => file), sinks: 1, lines }));
    },
  },
  {
    name: 'sinks',
    title: 'sinks that get every event',
    kinks:
      'Each sink shapes, compresses and sends on its own: linear. Each may hold 32 MiB of its own (`buffer.max_memory`) and sends four requests at a time, 14 MB a sink here; `memory: small` shares 8 MiB among all.',
    cpu: 'CPU-s a GiB read',
    values: [1, 2, 4, 8],
    pass: (sinks, { logs, bytes, ...own }) => {
      const { file, lines } = writeInput('text', 1, bytes, join(logs, 'app.log'));
      return perGiB(bytes, shipOnce({ ...own, sources: [file], sinks, lines }));
    },
  },
  {
    name: 'line-length',
    title: 'bytes of a line',
    kinks:
      'What a line costs beside its bytes shows below 2,000 bytes: each becomes an event with its time, host and file, so 20 bytes of text are several times as many to compress and send. From 2,000 on only bytes count.',
    cpu: 'CPU-s a GiB',
    values: [20, 100, 500, 2000, 10_000, 100_000],
    pass(length, { logs, bytes, ...own }) {
      const input = writeLines(length, bytes, join(logs, 'app.log'));
      return perGiB(input.bytes, shipOnce({ ...own, sources: [input.file], sinks: 1, lines: input.lines }));
    },
  },
  {
    name: 'rate',
    title: 'lines a second',
    kinks:
      'From 10 to 10,000 lines a second two batches go out each second, whatever is in them: the line is flat. Beyond, bytes count. Below, there are seconds without a batch.',
    cpu: 'CPU-s a minute',
    values: [1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
    pass(rate, { logs, seconds, ...own }) {
      const file = join(logs, 'app.log');
      writeFileSync(file, '');
      return followRate({ ...own, sources: [file], sinks: 1, lines: 0 }, rate, LINE, seconds);
    },
  },
  {
    name: 'backlog',
    title: 'MiB that wait at the start',
    kinks:
      'The start (0.2 CPU-s) is all of 1 MiB and a hundredth of 2 GiB. Memory rises while batches and the heap fill, up to 128 MiB; the 20 MB that it gains from there to 2 GiB are free memory that the heap and the allocator keep.',
    cpu: 'CPU-s in all',
    values: [1, 16, 128, 512, 2048],
    pass(mib, { logs, ...own }) {
      const { file, lines } = writeInput('text', 1, mib * 2 ** 20, join(logs, 'app.log'));
      return shipOnce({ ...own, sources: [file], sinks: 1, lines });
    },
  },
];

async function perGiB(bytes: number, cost: Promise<Cost>): Promise<Cost> {
  const measured = await cost;
  return { ...measured, cpuSeconds: measured.cpuSeconds / (bytes / GIB) };
}

/** The largest value of each axis in a quick run. */
const QUICK = { files: 1000, sources: 20, sinks: 4, 'line-length': 10_000, rate: 10_000, backlog: 16 } as const;

export async function measureGrowth(
  { only, quick, bytes: given }: Options,
  program: string,
  folder: string,
): Promise<Growth[]> {
  const bytes = Math.ceil(given / 4);
  const grown: Growth[] = [];
  for (const axis of AXES.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))) {
    const points: (Cost & { value: number })[] = [];
    for (const value of axis.values.filter((each) => !quick || each <= QUICK[axis.name as keyof typeof QUICK])) {
      const logs = join(folder, 'growth-logs');
      mkdirSync(logs, { recursive: true });
      const cost = await axis.pass(value, {
        program,
        logs,
        folder: join(folder, 'growth-run'),
        seconds: quick ? 5 : 20,
        bytes,
      });
      rmSync(logs, { recursive: true, force: true });
      points.push({ value, ...cost });
      say(
        `growth/${axis.name} ${value}: ${cost.cpuSeconds.toFixed(2)} ${axis.cpu}, ${mb(cost.rssBytes)} MB, ${mb(cost.privateBytes)} private`,
      );
    }
    grown.push({ axis, points });
  }
  return grown;
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** A table for each axis, and its picture as pages in docs/ link to it. */
export function renderGrowth(grown: readonly Growth[]): string {
  return grown
    .map(({ axis, points }) => {
      const rows = points.map(({ value, cpuSeconds, rssBytes, privateBytes }) => [
        value.toLocaleString('en'),
        cpuSeconds.toFixed(2),
        `${mb(rssBytes)} MB`,
        `${mb(privateBytes)} MB`,
      ]);
      const lines = [[axis.title, axis.cpu, 'RSS', 'private'], ['---', '---', '---', '---'], ...rows];
      return `### ${axis.title[0]!.toUpperCase()}${axis.title.slice(1)}\n\n![${axis.title}](pictures/growth-${axis.name}.svg)\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n\n${axis.kinks}\n`;
    })
    .join('\n');
}

/** Writes a picture of each axis into `folder`. */
export function drawAll(grown: readonly Growth[], folder: string): void {
  for (const { axis, points } of grown) {
    const of = (key: 'rssBytes' | 'privateBytes') => points.map((point) => point[key] / 1e6);
    const cpu = { name: axis.cpu, values: points.map(({ cpuSeconds }) => cpuSeconds) };
    const memory = [
      { name: 'RSS', values: of('rssBytes') },
      { name: 'private', values: of('privateBytes') },
    ];
    const xs = points.map(({ value }) => value);
    writeFileSync(
      join(folder, `growth-${axis.name}.svg`),
      drawGrowth(axis.title, xs, [
        [axis.cpu, [cpu]],
        ['MB', memory],
      ]),
    );
  }
}

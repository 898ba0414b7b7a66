/** `npm run bench -- --growth`: CPU and memory of the agent while one thing grows and all else stays. Defaults everywhere. */
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { lineMaker, writeInput } from '../inputs.ts';
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
  readonly axis: Pick<Axis, 'name' | 'title' | 'cpu'>;
  readonly points: readonly (Cost & { readonly value: number })[];
}

const LINE = `2026-01-01T00:00:00.000Z INFO [worker-1] a line of ordinary length, as an application writes it to its log\n`;
const LINES_PER_FILE = 5;
const textOf = (lines: number): string => LINE.repeat(lines);

const AXES: readonly Axis[] = [
  {
    name: 'files',
    title: 'files that nobody writes to',
    cpu: 'CPU-s a minute',
    values: [10, 100, 1000, 10_000, 100_000],
    pass(files, { logs, seconds, ...own }) {
      for (let n = 0; n < files; n++) writeFileSync(join(logs, `app-${n}.log`), `${n} ${textOf(LINES_PER_FILE)}`);
      return watchIdle({ ...own, sources: [join(logs, '*.log')], sinks: 1, lines: files * LINES_PER_FILE }, seconds);
    },
  },
  {
    name: 'sources',
    title: 'sources that share an input',
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
    cpu: 'CPU-s a GiB',
    values: [20, 100, 500, 2000, 10_000, 100_000],
    pass(length, { logs, bytes, ...own }) {
      const file = join(logs, 'app.log');
      const lines = Math.ceil(bytes / length);
      const next = lineMaker('text', 1);
      let text = '';
      while (text.length < length * 50) text += next();
      const fd = openSync(file, 'w');
      for (let n = 0; n < lines; n++)
        writeSync(fd, `${text.slice((n % 49) * length, (n % 49) * length + length - 1)}\n`);
      closeSync(fd);
      return perGiB(lines * length, shipOnce({ ...own, sources: [file], sinks: 1, lines }));
    },
  },
  {
    name: 'rate',
    title: 'lines a second',
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
    grown.push({ axis: { name: axis.name, title: axis.title, cpu: axis.cpu }, points });
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
      return `### ${axis.title[0]!.toUpperCase()}${axis.title.slice(1)}\n\n![${axis.title}](pictures/growth-${axis.name}.svg)\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
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

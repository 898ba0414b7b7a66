/**
 * What the local service costs beside what a user might take in its place: the same events stored, then each question asked. CPU is user +
 * system of the whole process. Each program has the machine to itself while it is measured; VictoriaLogs is measured where its program is
 * on PATH.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Input } from '../inputs.ts';
import { readCpuSeconds, readStatusBytes } from '../measure.ts';
import { median } from '../run.ts';
import { batchesOf, sendAll } from './ingest.ts';
import { rest, startMeasuredService } from './process.ts';
import { startVictoriaLogs, type VictoriaLogs } from './victoria-logs.ts';

/** Figures of one program. */
export interface StoreFigures {
  readonly ingestCpuSecondsPerGiB: number;
  /** At rest, by bytes of input, and how long after the last event that was. */
  readonly storedRatio: number;
  readonly restSeconds: number;
  readonly peakRssBytes: number;
  /** CPU of each question, ms. */
  readonly queries: ReadonlyMap<string, number>;
}

export interface Question {
  readonly name: string;
  readonly apl: string;
  readonly logsql: string;
  readonly targetMs: number;
}

const GIB = 2 ** 30;
const SENDERS = 4;
/** Each question is asked so many times at a stretch. */
const TIMES = 5;
/** The disk is at rest when it stays the same for so long: the sources of merges are removed once a minute. */
const QUIET_MS = 70_000;
const DEADLINE_MS = 300_000;

/** `line`: an event of the input, to look for. */
export function questionsOf(line: string): readonly Question[] {
  const { reqId, seq } = JSON.parse(line) as { reqId: string; seq: number };
  return [
    { name: 'one event by id', apl: `where reqId == '${reqId}'`, logsql: `reqId:=${reqId}`, targetMs: 5 },
    { name: 'one event by number', apl: `where seq == ${seq}`, logsql: `seq:=${seq}`, targetMs: 5 },
    {
      name: 'status 500, counted',
      apl: "where ['res.statusCode'] == 500 | count",
      logsql: 'res.statusCode:=500 | stats count()',
      targetMs: 8,
    },
    {
      name: 'has, counted',
      apl: "where msg has 'timeout' | count",
      logsql: '_msg:i(timeout) | stats count()',
      targetMs: 30,
    },
    {
      name: 'contains, counted',
      apl: "where msg contains 'timeout' | count",
      logsql: '_msg:~"(?i)timeout" | stats count()',
      targetMs: 58,
    },
    {
      name: 'top 10 hosts',
      apl: 'summarize count() by hostname | top 10 by count_',
      logsql: '* | top 10 by (hostname)',
      targetMs: 15,
    },
    {
      name: 'count by minute',
      apl: 'summarize count() by bin(_time, 1m)',
      logsql: '* | stats by (_time:1m) count()',
      targetMs: 20,
    },
    {
      name: '95th percentile',
      apl: 'summarize percentile(responseTime, 95)',
      logsql: '* | stats quantile(0.95, responseTime)',
      targetMs: 60,
    },
    {
      name: 'latest 1,000',
      apl: 'sort by _time desc | take 1000',
      logsql: '* | sort by (_time desc) limit 1000',
      targetMs: 38,
    },
  ];
}

interface Store {
  readonly pid: number;
  ingest(batch: Buffer, n: number): Promise<unknown>;
  /** Answers the number of rows. */
  ask(question: Question): Promise<number>;
  stop(): Promise<void>;
}

export async function measureOwnStore(
  program: string,
  folder: string,
  input: Input,
  questions: readonly Question[],
  turns: number,
): Promise<StoreFigures> {
  rmSync(folder, { recursive: true, force: true });
  const service = await startMeasuredService(program, folder, SENDERS);
  await service.post('/v1/datasets', JSON.stringify({ name: 'bench' }));
  const store: Store = {
    pid: service.pid,
    ingest: (batch, n) => service.post('/v1/ingest/bench?timestamp-field=time', batch, 'none', `batch-${n}`),
    async ask({ apl }) {
      const body = JSON.stringify({
        apl: `['bench'] | ${apl}`,
        startTime: '2026-01-01T00:00:00Z',
        endTime: '2027-01-01T00:00:00Z',
      });
      const { tables } = (await service.post('/v1/query/_apl?format=tabular&nocache=true', body)) as {
        tables: { columns: unknown[][] }[];
      };
      return tables[0]!.columns[0]!.length;
    },
    stop: () => service.stop(),
  };
  return measureStore(store, folder, join(folder, 'engine'), input, questions, turns);
}

export async function measureVictoriaLogs(
  found: VictoriaLogs,
  folder: string,
  input: Input,
  questions: readonly Question[],
  turns: number,
): Promise<StoreFigures> {
  rmSync(folder, { recursive: true, force: true });
  const store = await startVictoriaLogs(found, folder, SENDERS);
  return measureStore({ ...store, ask: ({ logsql }) => store.query(logsql) }, folder, folder, input, questions, turns);
}

/** Throws when a question finds nothing. */
async function measureStore(
  store: Store,
  folder: string,
  data: string,
  input: Input,
  questions: readonly Question[],
  turns: number,
): Promise<StoreFigures> {
  const { pid } = store;
  try {
    await rest(pid);
    const batches = batchesOf(input, 'none');
    const cpuFrom = readCpuSeconds(pid);
    await sendAll(batches, (batch, n) => store.ingest(batch, n));
    const sent = performance.now();
    await rest(pid);
    const cpuSeconds = readCpuSeconds(pid) - cpuFrom;
    const { bytes, seconds } = await diskAtRest(data, sent);
    const queries = new Map<string, number>();
    for (const question of questions) {
      if ((await store.ask(question)) === 0) throw new Error(`${question.name}: nothing was found`);
      const passes: number[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const from = readCpuSeconds(pid);
        for (let n = 0; n < TIMES; n++) await store.ask(question);
        passes.push(((readCpuSeconds(pid) - from) * 1000) / TIMES);
      }
      queries.set(question.name, median(passes));
    }
    return {
      ingestCpuSecondsPerGiB: cpuSeconds / (input.bytes / GIB),
      storedRatio: bytes / input.bytes,
      restSeconds: seconds,
      peakRssBytes: readStatusBytes(pid, 'VmHWM'),
      queries,
    };
  } finally {
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the folder keeps its size: a merge's sources are kept for a while. */
async function diskAtRest(folder: string, since: number): Promise<{ bytes: number; seconds: number }> {
  const size = (): number => Number(execFileSync('du', ['-sb', folder], { encoding: 'utf8' }).split('\t')[0]);
  let bytes = size();
  let changed = performance.now();
  const deadline = changed + DEADLINE_MS;
  while (performance.now() < Math.min(deadline, changed + QUIET_MS)) {
    await sleep(500);
    const now = size();
    // Logs of the engine's own grow by a little now and then.
    if (Math.abs(now - bytes) > bytes / 1000) changed = performance.now();
    bytes = now;
  }
  return { bytes, seconds: (changed - since) / 1000 };
}

const TARGETS = { ingest: 28, stored: 0.14, rssMb: 400 } as const;

export function renderStores(
  own: StoreFigures,
  other: StoreFigures | undefined,
  input: Pick<Input, 'bytes' | 'lines'>,
  questions: readonly Question[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const row = (
    name: string,
    figureOf: (figures: StoreFigures) => number,
    target: number,
    write: (figure: number) => string,
  ): string =>
    line([
      name,
      write(figureOf(own)),
      other ? write(figureOf(other)) : 'not installed',
      `≤ ${write(target)}`,
      figureOf(own) <= target ? 'met' : '**missed**',
    ]);
  const ms = (figure: number): string => `${figure.toFixed(1)} ms`;
  return [
    `### The service beside VictoriaLogs: ${input.lines.toLocaleString('en')} events, ${(input.bytes / 2 ** 20).toFixed(0)} MiB`,
    '',
    line(['CPU, disk, memory', 'Tailrace', 'VictoriaLogs', 'target', '']),
    line(Array.from({ length: 5 }, () => '---')),
    row(
      'ingest until at rest, CPU-s/GiB',
      (figures) => figures.ingestCpuSecondsPerGiB,
      TARGETS.ingest,
      (figure) => figure.toFixed(1),
    ),
    row(
      'on disk at rest, by input',
      (figures) => figures.storedRatio,
      TARGETS.stored,
      (figure) => figure.toFixed(3),
    ),
    row(
      'peak RSS',
      (figures) => figures.peakRssBytes / 1e6,
      TARGETS.rssMb,
      (figure) => `${figure.toFixed(0)} MB`,
    ),
    ...questions.map(({ name, targetMs }) => row(name, (figures) => figures.queries.get(name)!, targetMs, ms)),
    '',
    `The disk was at rest ${own.restSeconds.toFixed(0)} s after the last event. ${other ? '' : 'VictoriaLogs (`victoria-logs` on PATH) is not installed here. '}The questions:`,
    '',
    ...questions.map(({ name, apl, logsql }) => `- ${name}: \`${apl}\`; \`${logsql}\``),
  ].join('\n');
}

/**
 * What a query that runs into its limit costs those beside it: counts and ingest without one, beside one, and beside four of another holder; and
 * ten different queries at once, against what they cost one after the other.
 */
import { rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { lineMaker } from '../inputs.ts';
import { readCpuSeconds } from '../measure.ts';
import { median } from '../run.ts';
import { rest, startMeasuredService, TOKEN, type MeasuredService } from './process.ts';
import { store } from './queries.ts';
import { examplesFor } from './scaling/ask.ts';
import { END, START } from './scaling/examples.ts';

export interface BesideFigures {
  /** `many` queries ran into their limit meanwhile: times of a request, ms. */
  readonly beside: readonly { readonly many: number; readonly counts: number[]; readonly ingests: number[] }[];
  /** Of ten queries, by pass: CPU of one after the other, the time of all at once, and what other programs took of the processors meanwhile. */
  readonly ten: { readonly cpuSeconds: number[]; readonly seconds: number[]; readonly othersShare: number[] };
  readonly rows: number;
  readonly load: number;
}

const LONG_AT_ONCE = [0, 1, 4];
const REQUESTS = 100;
const INGESTED_LINES = 1000;
const SEED = 20_260_105;
const TEN = 10;
const CORES = cpus().length;
const TARGETS = { countMs: 500, ingestMs: 1000, ratio: 1.5 } as const;
/** Joins 10,000 events with each other, twice: no machine ends it within its limit. */
const LONG = (() => {
  const some = "['bench'] | where seq <= 10000 | extend k = 1";
  return `${some} | join kind=inner (${some}) on k | join kind=inner (${some}) on k | where seq + seq1 + seq2 == 7 | count`;
})();

export async function measureBeside(
  program: string,
  folder: string,
  rows: number,
  runs: number,
): Promise<BesideFigures> {
  try {
    await store(program, folder, rows);
    return await measureStored(program, folder, rows, runs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** On a folder that `store` filled. */
export async function measureStored(
  program: string,
  folder: string,
  rows: number,
  runs: number,
): Promise<BesideFigures> {
  const service = await startMeasuredService(program, folder, TEN);
  try {
    await service.post('/v1/datasets', JSON.stringify({ name: 'stored' }));
    const beside = LONG_AT_ONCE.map((many) => ({ many, counts: [] as number[], ingests: [] as number[] }));
    const next = lineMaker('json', SEED);
    for (let run = 0; run < runs; run++)
      for (const { many, counts, ingests } of beside) {
        const long = startLong(service, many);
        await sleep(many > 0 ? 1500 : 0);
        const times = await Promise.all([
          inTurn(() => service.post(QUERY_PATH, queryBody("where ['res.statusCode'] == 500 | count"))),
          inTurn((n) => {
            const lines = Array.from({ length: INGESTED_LINES }, next).join('\n');
            return service.post(
              '/v1/ingest/stored?timestamp-field=time',
              `${lines}\n`,
              'none',
              `beside-${run}-${many}-${n}`,
            );
          }),
        ]);
        await long.stop();
        counts.push(...times[0]);
        ingests.push(...times[1]);
        await rest(service.pid);
      }
    return { beside, ten: await measureTen(service, runs), rows, load: loadavg()[0]! };
  } finally {
    await service.stop();
  }
}

const QUERY_PATH = '/v1/query/_apl?format=tabular&nocache=true';
const queryBody = (text: string): string =>
  JSON.stringify({ apl: `['bench'] | ${text}`, startTime: START, endTime: END });

/** Times of so many requests, one after the other, ms. */
async function inTurn(ask: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    const from = performance.now();
    await ask(n);
    times.push(performance.now() - from);
  }
  return times;
}

/** So many queries at any time, each of which must run into its limit, from another holder than the program's. */
function startLong({ url }: MeasuredService, many: number) {
  const leaving = new AbortController();
  const ask = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'user-agent': 'Mozilla/5.0',
      };
      const body = JSON.stringify({ apl: LONG, startTime: START, endTime: END });
      const reply = await fetch(url + QUERY_PATH, { method: 'POST', headers, body, signal: leaving.signal });
      const text = await reply.text();
      if (!text.includes('time limit'))
        throw new Error(`a query that was to run into its limit answered ${reply.status}: ${text}`);
    }
  };
  const all = Array.from({ length: many }, () => ask().catch((error: Error) => error));
  return {
    async stop(): Promise<void> {
      leaving.abort();
      for (const error of await Promise.all(all)) if (error && error.name !== 'AbortError') throw error;
    },
  };
}

async function measureTen(service: MeasuredService, runs: number): Promise<BesideFigures['ten']> {
  const { examples } = await examplesFor({ service });
  const bodies = examples
    .filter(({ name, lastHour }) => !lastHour && !/^(?:one|latest|what) /.test(name))
    .slice(0, TEN)
    .map(({ text }) => queryBody(text));
  const ask = (body: string): Promise<unknown> => service.post(QUERY_PATH, body);
  for (const body of bodies) await ask(body);
  const ten = { cpuSeconds: [] as number[], seconds: [] as number[], othersShare: [] as number[] };
  for (let run = 0; run < runs; run++) {
    const before = readCpuSeconds(service.pid);
    for (const body of bodies) await ask(body);
    ten.cpuSeconds.push(readCpuSeconds(service.pid) - before);
    const [from, idle, own] = [performance.now(), idleSeconds(), readCpuSeconds(service.pid)];
    await Promise.all(bodies.map(ask));
    const seconds = (performance.now() - from) / 1000;
    ten.seconds.push(seconds);
    ten.othersShare.push(1 - (idleSeconds() - idle + readCpuSeconds(service.pid) - own) / (seconds * CORES));
  }
  return ten;
}

/** Of all processors since the machine started. */
const idleSeconds = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1000;

export function renderBeside({ beside, ten, rows, load }: BesideFigures): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const at = (times: readonly number[], share: number): number =>
    times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1]!;
  const ms = (times: readonly number[], share: number): string => `${Math.round(at(times, share))} ms`;
  const isMet = (counts: readonly number[], ingests: readonly number[]): boolean =>
    at(counts, 0.99) <= TARGETS.countMs && at(ingests, 0.99) <= TARGETS.ingestMs;
  const ratio = median(ten.seconds) / (median(ten.cpuSeconds) / CORES);
  const head = [
    'queries that run into their limit',
    'count, median',
    'p99',
    'ingest, median',
    'p99',
    `targets: p99 ≤ ${TARGETS.countMs} and ${TARGETS.ingestMs} ms`,
  ];
  return [
    `### Beside queries that run into their limit: ${rows.toLocaleString('en')} events`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...beside.map(({ many, counts, ingests }) =>
      line([
        many === 0 ? 'none' : String(many),
        ms(counts, 0.5),
        ms(counts, 0.99),
        ms(ingests, 0.5),
        ms(ingests, 0.99),
        isMet(counts, ingests) ? 'met' : '**missed**',
      ]),
    ),
    '',
    `${beside[0]!.counts.length} counts one after the other, and as many ingest requests of ${INGESTED_LINES.toLocaleString('en')} events beside them. ` +
      `Ten different queries over all events cost ${median(ten.cpuSeconds).toFixed(1)} CPU-s one after the other; at once they took ${median(ten.seconds).toFixed(1)} s, ` +
      `${ratio.toFixed(2)} × that over ${CORES} cores (target ≤ ${TARGETS.ratio}: ${ratio <= TARGETS.ratio ? 'met' : '**missed**'}), while other programs took ${Math.round(median(ten.othersShare) * 100)} % of them. The load of the machine was ${load.toFixed(1)}.`,
  ].join('\n');
}

/**
 * What the service adds to a query: common ones over HTTP, and beside each the statement that the compiler made of it, run in the same engine in a
 * process of its own on a copy of the same data. The two take turns. CPU is user + system of the whole process; nothing that an earlier query
 * left behind is used.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { DEFAULT_LIMITS, queryLimitsOf } from '../../src/service/limits.ts';
import { optionSettings, querySettings, settingsClause } from '../../src/service/engine/settings.ts';
import { openChdb } from '../../src/service/engine/embedded/chdb.ts';
import { ownFieldsOf } from '../../src/service/engine/own-columns.ts';
import { programOf } from '../../src/service/query/plan/program.ts';
import { planOf, readQuery } from '../../src/language/text/query-text.ts';
import { SqlParams } from '../../src/service/query/values/sql.ts';
import { lineMaker } from '../inputs.ts';
import { readCpuSeconds } from '../measure.ts';
import { median } from '../run.ts';
import type { Order } from './direct.ts';
import { examplesFor } from './scaling/ask.ts';
import { END, START, type Example } from './scaling/examples.ts';
import { rest, startMeasuredService, type MeasuredService } from './process.ts';

export interface QueryFigures {
  readonly name: string;
  readonly text: string;
  /** Events that matched. */
  readonly matched: number;
  /** CPU of one query, ms. */
  readonly serviceMs: number;
  readonly directMs: number;
  /** Median of the differences of the turns, and the middle half of those. */
  readonly overheadMs: number;
  readonly spreadMs: readonly [number, number];
}

interface Query extends Example {
  /** The answer says how many events matched, which the rows alone do not: a statement of its own. */
  readonly counts?: true;
}

/** The examples, with a width of bins that both sides take, and one whose matches are counted beside its rows. */
const queriesOf = (examples: readonly Example[]): readonly Query[] => [
  ...examples.map((example) => ({ ...example, text: example.text.replaceAll('bin_auto(_time)', 'bin(_time, 1m)') })),
  { name: 'contains, latest 1,000 and how many', text: 'where msg contains "timeout"', counts: true },
];
const SEED = 20_260_103;
const BATCH_LINES = 3000;
/** Queries of one turn. */
const TIMES = 3;
const HOUR_MS = 3_600_000;

export async function measureQueries(
  program: string,
  folder: string,
  rows: number,
  turns: number,
): Promise<QueryFigures[]> {
  const [data, copy] = [join(folder, 'queries'), join(folder, 'queries-copy')];
  try {
    await store(program, data, rows);
    cpSync(data, copy, { recursive: true });
    return await compare(program, data, copy, turns);
  } finally {
    for (const path of [data, copy]) rmSync(path, { recursive: true, force: true });
  }
}

/** Fills a folder with events, and lets the engine merge them. */
export async function store(program: string, data: string, rows: number): Promise<void> {
  const service = await startMeasuredService(program, data, 1);
  try {
    await load(service, rows);
    await rest(service.pid);
  } finally {
    await service.stop();
  }
}

/** `turns` of each query. Throws when the two do not find the same number of rows. */
export async function compare(program: string, data: string, copy: string, turns: number): Promise<QueryFigures[]> {
  const compile = await compiler(copy);
  const service = await startMeasuredService(program, data, 1);
  const direct = await startDirect(copy);
  try {
    const figures: QueryFigures[] = [];
    const { examples, max } = await examplesFor({ service });
    const lastHour = new Date(Date.parse(max) - HOUR_MS).toISOString();
    for (const query of queriesOf(examples)) {
      const startTime = query.lastHour ? lastHour : START;
      const body = JSON.stringify({ apl: `['bench'] | ${query.text}`, startTime, endTime: END });
      const { statements, params, wanted } = compile(query, startTime);
      const ask = async (times: number): Promise<Found> => {
        let found: Found = { rows: 0, matched: 0 };
        for (let n = 0; n < times; n++) found = await askService(service, body);
        return found;
      };
      const { rows, matched } = await ask(TIMES);
      const ran = await direct.run({ statements, params, times: TIMES });
      if (rows !== Math.min(ran, wanted))
        throw new Error(`${query.name}: the service found ${rows} rows, the engine ${ran}`);
      const passes: (readonly [service: number, direct: number])[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const serviceMs = await cpuMs(service.pid, () => ask(TIMES));
        passes.push([serviceMs, await cpuMs(direct.pid, () => direct.run({ statements, params, times: TIMES }))]);
      }
      figures.push({
        name: query.name,
        text: query.text,
        matched,
        serviceMs: median(passes.map(([served]) => served)),
        directMs: median(passes.map(([, alone]) => alone)),
        ...differences(passes.map(([served, alone]) => served - alone)),
      });
    }
    return figures;
  } finally {
    await Promise.all([service.stop(), direct.stop()]);
  }
}

function differences(found: readonly number[]): Pick<QueryFigures, 'overheadMs' | 'spreadMs'> {
  const sorted = found.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)]!;
  return { overheadMs: median(sorted), spreadMs: [at(0.25), at(0.75)] };
}

interface Found {
  readonly rows: number;
  readonly matched: number;
}

async function askService(service: MeasuredService, body: string): Promise<Found> {
  const { tables, status } = (await service.post('/v1/query/_apl?format=tabular&nocache=true', body)) as {
    tables: { columns: unknown[][] }[];
    status: { rowsMatched: number };
  };
  return { rows: tables[0]!.columns[0]!.length, matched: status.rowsMatched };
}

async function cpuMs(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = readCpuSeconds(pid);
  await work();
  return ((readCpuSeconds(pid) - before) * 1000) / TIMES;
}

async function load(service: MeasuredService, rows: number): Promise<void> {
  await service.post('/v1/datasets', JSON.stringify({ name: 'bench' }));
  const next = lineMaker('json', SEED);
  for (let sent = 0; sent < rows; sent += BATCH_LINES) {
    const lines = Array.from({ length: Math.min(BATCH_LINES, rows - sent) }, next);
    await service.post(
      '/v1/ingest/bench?timestamp-field=time',
      Buffer.from(`${lines.join('\n')}\n`),
      'none',
      `batch-${sent}`,
    );
  }
}

/** Makes what the service would, of the fields that its database names. */
async function compiler(
  folder: string,
): Promise<(query: Query, startTime: string) => Omit<Order, 'times'> & { readonly wanted: number }> {
  const db = new DatabaseSync(join(folder, 'service.db'));
  const fields = db
    .prepare('select name, types from fields')
    .all()
    .map((row) => [String(row['name']), Number(row['types'])] as const);
  db.close();
  const engine = await openChdb(folder, { limits: queryLimitsOf(DEFAULT_LIMITS), sync: false });
  const written = (await engine.ownColumns()).get('ds_1') ?? [];
  await engine.close();
  const dataset = {
    id: 1,
    name: 'bench',
    table: 'ds_1',
    created: '',
    who: '',
    description: '',
    retentionDays: 0,
    fields: new Map(fields),
    notes: new Map(),
    mapFields: [],
    own: ownFieldsOf(written),
    written,
  };
  const settings = settingsClause({
    ...querySettings(queryLimitsOf(DEFAULT_LIMITS)),
    ...optionSettings({ fresh: true }),
  });
  return ({ text, counts, lastHour }, startTime) => {
    const [start, end] = [startTime, END].map((time) => BigInt(Date.parse(time)) * 1_000_000n) as [bigint, bigint];
    const params = new SqlParams();
    const environment = { params, now: end, start, end, step: 60_000_000_000n };
    const tree = planOf(readQuery(`['bench'] | ${text}`), new Map());
    const { rows, count } = programOf(tree, {
      datasetsOf: () => [dataset],
      environment,
      bounds: { start: lastHour ? start : undefined, end: undefined },
      limit: undefined,
      cursor: undefined,
    });
    const bound = Object.fromEntries(Object.entries(params.values).map(([name, value]) => [name, String(value)]));
    const statements = [...(counts ? [count] : []), rows.sql].map((sql) => `${sql} ${settings}`);
    return { statements, params: bound, wanted: rows.wanted };
  };
}

/** The engine's process on the copied data. */
async function startDirect(folder: string) {
  const script = fileURLToPath(new URL('direct.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  await lines.next();
  return {
    pid: child.pid!,
    /** Answers the rows that the last statement found. */
    async run(order: Order): Promise<number> {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the engine alone ended; see above');
      return Number(value);
    },
    async stop(): Promise<void> {
      child.stdin.end();
      await ended;
    },
  };
}

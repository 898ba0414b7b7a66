/** The service's part of a run: each scenario in turns, the median of its passes, and the table for docs/benchmarks.md. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { writeInput } from '../inputs.ts';
import type { InputKind } from '../inputs.ts';
import type { Options } from '../options.ts';
import { median } from '../run.ts';
import { say } from '../suite.ts';
import { measureServiceIngest, type ServiceFigures } from './ingest.ts';
import type { Encoding } from './process.ts';
import { measureOwnStore, measureVictoriaLogs, questionsOf, renderStores } from './side-by-side.ts';
import { findVictoriaLogs } from './victoria-logs.ts';

export interface ServiceRow {
  readonly kind: InputKind;
  readonly encoding: Encoding;
  readonly inputBytes: number;
  readonly figures: ServiceFigures;
}

const SCENARIOS: readonly { readonly kind: InputKind; readonly encoding: Encoding }[] = [
  { kind: 'json', encoding: 'none' },
  { kind: 'json', encoding: 'gzip' },
  { kind: 'text', encoding: 'none' },
];
const SEED = 20_260_102;
const TARGET_CPU_SECONDS = 60;
const MB = 1e6;

const wants = ({ only }: Options, name: string): boolean =>
  only.length === 0 || only.some((part) => name.includes(part));
/** Whether `--only` wants it. */
export const wantsService = (options: Options): boolean => wants(options, 'service/ingest');
export const wantsQueries = (options: Options): boolean => wants(options, 'service/query');
export const wantsBeside = (options: Options): boolean => wants(options, 'service/beside');

export async function measureService(options: Options, program: string, folder: string): Promise<ServiceRow[]> {
  const inputs = new Map(
    (['json', 'text'] as const).map((kind) => [
      kind,
      writeInput(kind, SEED, options.serviceBytes, join(folder, `service-${kind}.log`)),
    ]),
  );
  const passes = SCENARIOS.map((): ServiceFigures[] => []);
  for (let run = 1; run <= options.runs; run++)
    for (const [n, { kind, encoding }] of SCENARIOS.entries()) {
      const figures = await measureServiceIngest(program, join(folder, 'service'), inputs.get(kind)!, encoding);
      passes[n]!.push(figures);
      say(
        `service/ingest/${kind}/${encoding} ${run}/${options.runs}: ${figures.cpuSecondsPerGiB.toFixed(1)} CPU-s/GiB, ${Math.round(figures.eventsPerSecond / 1000)} k events/s, ${(figures.peakRssBytes / MB).toFixed(0)} MB`,
      );
    }
  return SCENARIOS.map(({ kind, encoding }, n) => ({
    kind,
    encoding,
    inputBytes: options.serviceBytes,
    figures: Object.fromEntries(
      (Object.keys(passes[n]![0]!) as (keyof ServiceFigures)[]).map((key) => [
        key,
        median(passes[n]!.map((figures) => figures[key])),
      ]),
    ) as unknown as ServiceFigures,
  }));
}

/** The table of questions, beside VictoriaLogs where that is on PATH. */
export async function measureStores(options: Options, program: string, folder: string, turns: number): Promise<string> {
  const input = writeInput('json', SEED, options.serviceBytes, join(folder, 'stores.log'));
  const questions = questionsOf(lineAt(input.file, Math.floor(input.bytes / 2)));
  say('service/query: storing, and asking questions');
  const own = await measureOwnStore(program, join(folder, 'store'), input, questions, turns);
  const found = findVictoriaLogs();
  say(found ? `the same in ${found.version}` : 'victoria-logs is not on PATH: only the service is measured');
  const other = found && (await measureVictoriaLogs(found, join(folder, 'victoria-logs'), input, questions, turns));
  return renderStores(own, other, input, questions);
}

/** The first whole line after a place in a file. */
function lineAt(file: string, place: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(8192);
    const length = readSync(descriptor, bytes, 0, bytes.length, place);
    return bytes.toString('utf8', 0, length).split('\n')[1]!;
  } finally {
    closeSync(descriptor);
  }
}

export function renderService(rows: readonly ServiceRow[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = ['input', 'body', 'CPU-s/GiB', 'target', '', 'events/s', 'GiB/s', 'peak RSS', 'on disk by input'];
  const body = rows.map(({ kind, encoding, figures }) => [
    kind,
    encoding,
    figures.cpuSecondsPerGiB.toFixed(1),
    `≤ ${TARGET_CPU_SECONDS}`,
    figures.cpuSecondsPerGiB <= TARGET_CPU_SECONDS ? 'met' : '**missed**',
    `${Math.round(figures.eventsPerSecond / 1000)} k`,
    figures.gibPerSecond.toFixed(3),
    `${(figures.peakRssBytes / MB).toFixed(0)} MB`,
    figures.storedRatio.toFixed(2),
  ]);
  const [first] = rows;
  return [
    '### The service: ingest through HTTP, engine included',
    '',
    line(head),
    line(head.map(() => '---')),
    ...body.map(line),
    '',
    `Empty, it starts in ${first!.figures.startSeconds.toFixed(1)} s and at rest takes ${(first!.figures.idleRssBytes / MB).toFixed(0)} MB and ` +
      `${first!.figures.idleCpuSecondsPerMinute.toFixed(2)} CPU-s a minute. ${(first!.inputBytes / 2 ** 20).toFixed(0)} MiB of each kind.`,
  ].join('\n');
}

/** `tailrace ingest DATASET [FILE…]`: stores files or stdin, shows how far it is, and names the events that were refused by file and line. */
import { basename } from 'node:path';
import type { IngestFormat } from '../../client/client.ts';
import type { FailedEvents } from '../../client/ingest/send-chunk.ts';
import { ingestStream, type StreamOptions, type StreamSummary } from '../../client/ingest/ingest-stream.ts';
import { printable } from '../../config/quote.ts';
import { messageOf } from '../../core/errors.ts';
import { CLIENT_NAMED_FAILURES } from '../../client/limits.ts';
import { MAX_LABELS_BYTES } from '../../config/limits.ts';
import { asciiJson } from '../../client/paths.ts';
import { type Input, openInputs, openText } from './ingest-input.ts';
import { write } from './output/print.ts';
import { plural, say, usageError } from '../output/say.ts';
import { cut } from './output/table.ts';
import { formatBytes } from '../../config/fields/units.ts';
import { type Progress, startProgress } from './output/progress.ts';
import { ensureDataset, withClient } from './with-client.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Over all inputs. */
interface Totals {
  readonly startedAt: number;
  /** Of the inputs; undefined where one of them has no size. */
  readonly bytes: number | undefined;
  readBytes: number;
  ingested: number;
  failed: number;
  processedBytes: number;
  blocksCreated: number;
  walLength: number;
  requests: number;
  readonly failures: {
    readonly file: string;
    readonly lines: readonly [number, number];
    readonly events: number;
    readonly reason: string;
  }[];
}

/** Resolves with 0 when every event was stored, else 1. */
export function ingest(dataset: string, files: readonly string[], args: ArgumentsOf<'ingest'>): Promise<number> {
  const inputs = openInputs(files);
  const labels = args.labels === undefined ? undefined : parseLabels(args.labels);
  const sizes = inputs.map(({ bytes }) => bytes);
  const totals: Totals = {
    startedAt: performance.now(),
    bytes: sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
    readBytes: 0,
    ingested: 0,
    failed: 0,
    processedBytes: 0,
    blocksCreated: 0,
    walLength: 0,
    requests: 0,
    failures: [],
  };
  const options: Omit<StreamOptions, 'format'> = {
    timestampField: args.timestampField,
    timestampFormat: args.timestampFormat,
    labels,
    csvDelimiter: args.csvDelimiter === '\\t' ? '\t' : args.csvDelimiter,
    csvFields: args.csvFields?.split(',').map((name) => name.trim()),
    ...(args.compression && { compression: args.compression }),
  };
  return withClient(args, dataset, async (client) => {
    if (args.createDataset) await ensureDataset(client, { name: dataset });
    const progress = startProgress();
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
    try {
      for (const input of inputs) {
        if (stop.signal.aborted) break;
        await ingestInput(client, dataset, input, args.format, { ...options, stop: stop.signal }, totals, progress);
      }
    } finally {
      progress.end();
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      process.stdin.destroy();
    }
    await report(dataset, totals, args.json);
    return totals.failed > 0 || stop.signal.aborted ? 1 : 0;
  });
}

async function ingestInput(
  client: Parameters<typeof ingestStream>[0],
  dataset: string,
  input: Input,
  given: IngestFormat | undefined,
  options: Omit<StreamOptions, 'format'>,
  totals: Totals,
  progress: Progress,
): Promise<void> {
  const show = () => progress.show(() => describeProgress(input.name, totals));
  const { format, text } = await openText(input, given, (bytes) => {
    totals.readBytes += bytes;
    show();
  });
  const before = { ...totals };
  let latest: StreamSummary | undefined;
  const take = (summary: Readonly<StreamSummary>): void => {
    latest = { ...summary };
    for (const key of ['ingested', 'failed', 'processedBytes', 'blocksCreated', 'requests'] as const)
      totals[key] = before[key] + summary[key];
    totals.walLength = summary.walLength;
    show();
  };
  const onFailed = (failed: FailedEvents): void => {
    if (totals.failures.length >= CLIENT_NAMED_FAILURES) return;
    totals.failures.push({ file: input.name, ...failed });
    progress.say(describeFailed(input.name, failed));
    if (totals.failures.length === CLIENT_NAMED_FAILURES) progress.say('tailrace: further failures are counted, not named');
  };
  try {
    take(await ingestStream(client, dataset, text, { ...options, format, onFailed, onProgress: take }));
  } catch (error) {
    progress.end();
    sayHowFar(input.name, latest, totals);
    throw error;
  }
  if (options.stop?.aborted) {
    progress.end();
    say(`tailrace: stopped at line ${latest?.settledLine ?? 0} of ${input.name}; what was read before is stored`);
  }
}

function describeFailed(file: string, { lines: [first, last], events, reason }: FailedEvents): string {
  const place = first === last ? `${file}:${first}` : `${file}:${first}-${last}`;
  return `${place}: ${events === 1 && first === last ? '' : `${plural(events, 'event')}: `}${printable(reason)}`;
}

function describeProgress(name: string, { startedAt, bytes, readBytes, ingested, failed }: Totals): string {
  const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000);
  const share = bytes === undefined || bytes === 0 ? '' : ` of ${formatBytes(bytes)} (${Math.floor((100 * readBytes) / bytes)}%)`;
  const rate = `${Math.round(ingested / seconds).toLocaleString('en')}/s, ${formatBytes(readBytes / seconds)}/s`;
  return `${cut(basename(name), 24)}  ${formatBytes(readBytes)}${share}  ${plural(ingested, 'event')} (${rate})${failed === 0 ? '' : `  ${failed} failed`}`;
}

/** After a failure: where to resume. */
function sayHowFar(name: string, latest: StreamSummary | undefined, { ingested }: Totals): void {
  if (latest === undefined || ingested === 0) return say('tailrace: no event was stored');
  say(
    `tailrace: ${plural(ingested, 'event')} stored before this; ${name} up to line ${latest.settledLine} is settled, of later lines some may be stored`,
  );
}

async function report(dataset: string, totals: Totals, json: boolean | undefined): Promise<void> {
  const { ingested, failed, processedBytes, blocksCreated, walLength, requests, failures, readBytes, startedAt } = totals;
  if (json)
    return write(`${JSON.stringify({ dataset, ingested, failed, processedBytes, blocksCreated, walLength, requests, failures })}\n`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  await write(
    `${plural(ingested, 'event')} ingested into ${dataset}, ${failed.toLocaleString('en')} failed (${formatBytes(readBytes)} in ${seconds} s)\n`,
  );
}

/** Throws `UsageError`. */
function parseLabels(text: string): Record<string, unknown> {
  const labels = text.trimStart().startsWith('{') ? jsonLabels(text) : pairLabels(text);
  if (asciiJson(labels).length > MAX_LABELS_BYTES)
    throw usageError(`--labels has more than ${MAX_LABELS_BYTES} bytes`, 'they travel in a header: give fewer');
  return labels;
}

function jsonLabels(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw usageError(`--labels is no JSON: ${messageOf(cause)}`, 'write --labels \'{"team":"core"}\'', cause);
  }
}

function pairLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', ...value] = pair.split('=');
      if (key.trim() === '' || value.length === 0)
        throw usageError(`--labels: "${pair}" is no label`, 'write --labels team=core,env=prod, or a JSON object');
      return [key.trim(), value.join('=')];
    }),
  );
}

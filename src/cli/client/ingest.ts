/** `tailrace ingest DATASET [FILE…]`: stores files or stdin, shows how far it is, and names the events that were refused by file and line. */
import type { IngestFormat } from '../../client/client.ts';
import { ingestStream, type StreamOptions, type StreamSummary } from '../../client/ingest/ingest-stream.ts';
import { messageOf } from '../../core/errors.ts';
import { MAX_LABELS_BYTES } from '../../config/limits.ts';
import { asciiJson } from '../../client/paths.ts';
import { type Input, openInputs, openText } from './ingest-input.ts';
import { countsOf, describeProgress, describeTotals, follow, newTotals, type Totals } from './ingest-totals.ts';
import { write } from './output/print.ts';
import { plural, say, usageError } from '../output/say.ts';
import { type Progress, untilStopped } from './output/progress.ts';
import { ensureDataset, withClient } from './with-client.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Resolves with 0 when every event was stored, else 1. */
export function ingest(
  dataset: string | undefined,
  files: readonly string[],
  args: ArgumentsOf<'ingest'>,
): Promise<number> {
  if (dataset === undefined)
    throw usageError(
      'no dataset is named, which events are to go to',
      'write tailrace ingest DATASET [FILE…], or give --archive DIR (tailrace ingest --help shows its arguments and options)',
    );
  if (args.since !== undefined)
    throw usageError('--since chooses hours of an archive', 'give --archive DIR, too, or leave it out');
  const inputs = openInputs(files);
  const labels = args.labels === undefined ? undefined : parseLabels(args.labels);
  const sizes = inputs.map(({ bytes }) => bytes);
  const totals = newTotals(
    sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
  );
  const { timestampField, timestampFormat, compression } = args;
  const csvDelimiter = args.csvDelimiter === '\\t' ? '\t' : args.csvDelimiter;
  const csvFields = args.csvFields?.split(',').map((name) => name.trim());
  const how = { timestampField, timestampFormat, labels, csvDelimiter, csvFields, ...(compression && { compression }) };
  return withClient(args, dataset, async (client) => {
    if (args.createDataset) await ensureDataset(client, { name: dataset });
    const isStopped = await untilStopped(async (progress, stop) => {
      const send: Send = (text, own) => ingestStream(client, dataset, text, { ...how, ...own, stop });
      try {
        for (const input of inputs) {
          if (stop.aborted) break;
          await ingestInput(input, args.format, send, stop, totals, progress);
        }
      } finally {
        process.stdin.destroy();
      }
      return stop.aborted;
    });
    await write(args.json ? `${JSON.stringify({ dataset, ...countsOf(totals) })}\n` : describeTotals(dataset, totals));
    return totals.failed > 0 || isStopped ? 1 : 0;
  });
}

/** Stores one input's text. */
type Send = (
  text: AsyncIterable<Uint8Array>,
  own: Pick<StreamOptions, 'format' | 'onFailed' | 'onProgress'>,
) => Promise<StreamSummary>;

async function ingestInput(
  input: Input,
  given: IngestFormat | undefined,
  send: Send,
  stop: AbortSignal,
  totals: Totals,
  progress: Progress,
): Promise<void> {
  const show = () => progress.show(() => describeProgress(input.name, totals));
  const { format, text } = await openText(input, given, (bytes) => {
    totals.readBytes += bytes;
    show();
  });
  const { onFailed, onProgress } = follow(totals, progress, input.name, show);
  let latest: StreamSummary | undefined;
  const take = (summary: Readonly<StreamSummary>): void => {
    latest = { ...summary };
    onProgress(summary);
  };
  try {
    take(await send(text, { format, onFailed, onProgress: take }));
  } catch (error) {
    progress.end();
    sayHowFar(input.name, latest, totals);
    throw error;
  }
  if (stop.aborted) {
    progress.end();
    say(`tailrace: stopped at line ${latest?.settledLine ?? 0} of ${input.name}; what was read before is stored`);
  }
}

/** After a failure: where to resume. */
function sayHowFar(name: string, latest: StreamSummary | undefined, { ingested }: Totals): void {
  if (latest === undefined || ingested === 0) return say('tailrace: no event was stored');
  say(
    `tailrace: ${plural(ingested, 'event')} stored before this; ${name} up to line ${latest.settledLine} is settled, of later lines some may be stored`,
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

/** `tailrace tap [SOURCE]`: a bounded sample of the events that a running agent takes, before and after their transforms. */
import type { TappedEvent } from '../../agent/control/tap.ts';
import { printable } from '../../config/quote.ts';
import { suggest } from '../../config/nearest.ts';
import { UsageError } from '../../core/errors.ts';
import { flush, write } from '../client/output/print.ts';
import { say } from '../output/say.ts';
import { configOf } from './config-arguments.ts';
import { datasetsMember, eventChange, outcomeLines } from '../preview/preview-output.ts';
import { askRunning } from './ask-running.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

const DEFAULT_EVENTS = 20;
const DEFAULT_SECONDS = 10;

/** Resolves with 0 after that many events, or when the time is over. Throws `TailraceError` where no agent runs. */
export async function tap(source: string | undefined, args: ArgumentsOf<'tap'>): Promise<number> {
  const { dataDir, sources } = configOf(args);
  const ids = sources.map(({ id }) => id);
  if (source !== undefined && !ids.includes(source))
    throw new UsageError('E_TAP', `the configuration has no source "${source}"`, { fix: suggest(source, ids) });
  const { count = DEFAULT_EVENTS, seconds = DEFAULT_SECONDS } = args;
  const deadline = performance.now() + seconds * 1000;
  let left = count;
  while (left > 0) {
    const restMs = Math.ceil(deadline - performance.now());
    if (restMs <= 0) break;
    const wanted = [source ?? '', String(left), String(restMs)];
    const events = await askRunning<TappedEvent[]>(dataDir, { command: 'tap', args: wanted });
    for (const event of events) await write(args.json ? toJsonLine(event) : toText(event));
    left -= events.length;
  }
  await flush();
  if (left === count) say(`no event came within ${seconds} s`);
  return 0;
}

function toJsonLine({ source, before, events, datasets, refusals }: TappedEvent): string {
  const refused = refusals.length > 0 ? `,"dead_lettered":${JSON.stringify(refusals.join('; '))}` : '';
  return `{"source":${JSON.stringify(source)},"before":${before ?? 'null'},"events":[${events.join(',')}]${datasetsMember(datasets)}${refused}}\n`;
}

function toText({ source, before, events, datasets, refusals }: TappedEvent): string {
  return [
    printable(source),
    ...eventChange(before, events, datasets),
    ...outcomeLines(events, refusals, false),
    '',
  ].join('\n');
}

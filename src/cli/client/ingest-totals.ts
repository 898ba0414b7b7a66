/** What `tailrace ingest` counts while it sends, and how it shows that. */
import { basename } from 'node:path';
import type { FailedEvents } from '../../client/ingest/send-chunk.ts';
import type { StreamOptions, StreamSummary } from '../../client/ingest/ingest-stream.ts';
import { CLIENT_NAMED_FAILURES } from '../../client/limits.ts';
import { formatBytes } from '../../config/fields/units.ts';
import { printable } from '../../config/quote.ts';
import { plural } from '../output/say.ts';
import type { Progress } from './output/progress.ts';
import { cut } from './output/table.ts';

const COUNTED = ['ingested', 'failed', 'processedBytes', 'blocksCreated', 'requests'] as const;

/** Over all inputs. */
export interface Totals extends Record<(typeof COUNTED)[number] | 'readBytes' | 'walLength', number> {
  readonly startedAt: number;
  /** Of the inputs; undefined where one of them has no size. */
  readonly bytes: number | undefined;
  readonly failures: (FailedEvents & { readonly file: string })[];
}

export function newTotals(bytes: number | undefined): Totals {
  const counts = {
    readBytes: 0,
    ingested: 0,
    failed: 0,
    processedBytes: 0,
    blocksCreated: 0,
    walLength: 0,
    requests: 0,
  };
  return { startedAt: performance.now(), bytes, ...counts, failures: [] };
}

/** Adds the results of a file's stream; several may be in flight. `show` is called after every change. */
export function follow(
  totals: Totals,
  progress: Progress,
  file: string,
  show: () => void,
): Required<Pick<StreamOptions, 'onFailed' | 'onProgress'>> {
  let before: Readonly<StreamSummary> | undefined;
  return {
    onProgress(summary) {
      for (const key of COUNTED) totals[key] += summary[key] - (before?.[key] ?? 0);
      totals.walLength = summary.walLength;
      before = { ...summary };
      show();
    },
    onFailed(failed) {
      if (totals.failures.length >= CLIENT_NAMED_FAILURES) return;
      totals.failures.push({ file, ...failed });
      progress.say(describeFailed(file, failed));
      if (totals.failures.length === CLIENT_NAMED_FAILURES)
        progress.say('tailrace: further failures are counted, not named');
    },
  };
}

export function describeProgress(name: string, { startedAt, bytes, readBytes, ingested, failed }: Totals): string {
  const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000);
  const share =
    bytes === undefined || bytes === 0 ? '' : ` of ${formatBytes(bytes)} (${Math.floor((100 * readBytes) / bytes)}%)`;
  const rate = `${Math.round(ingested / seconds).toLocaleString('en')}/s, ${formatBytes(readBytes / seconds)}/s`;
  return `${cut(basename(name), 24)}  ${formatBytes(readBytes)}${share}  ${plural(ingested, 'event')} (${rate})${failed === 0 ? '' : `  ${failed} failed`}`;
}

/** For `--json`. */
export function countsOf({ ingested, failed, processedBytes, blocksCreated, walLength, requests, failures }: Totals) {
  return { ingested, failed, processedBytes, blocksCreated, walLength, requests, failures };
}

/** `of`: what else belongs to them, as in "12 files". */
export function describeTotals(into: string, { ingested, failed, readBytes, startedAt }: Totals, of = ''): string {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  return `${plural(ingested, 'event')} ingested into ${into}, ${failed.toLocaleString('en')} failed (${of}${formatBytes(readBytes)} in ${seconds} s)\n`;
}

function describeFailed(file: string, { lines: [first, last], events, reason }: FailedEvents): string {
  const place = first === last ? `${file}:${first}` : `${file}:${first}-${last}`;
  return `${place}: ${events === 1 && first === last ? '' : `${plural(events, 'event')}: `}${printable(reason)}`;
}

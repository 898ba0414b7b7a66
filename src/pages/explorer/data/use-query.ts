/** Runs queries, one at a time: a newer one ends the one before it. Beside a query of events runs one that counts them over time. */
import { useRef, useState } from 'preact/hooks';
import type { Annotation } from '../../../client/api-types.ts';
import { type Api, type QueryResult, Refused } from './api.ts';
import { type Drawing, drawingOf } from './drawing.ts';
import { toQueryRange } from './link-state.ts';
import { countOverTime, leadingDataset } from './query-text.ts';
import { rowsOf, tableOf } from './results.ts';

export type QueryOutcome =
  | { readonly kind: 'none' }
  /** The reader ended it. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'running'; /** Shown until then. */ readonly last: FoundResult | undefined }
  | {
      readonly kind: 'failed';
      readonly query: string;
      readonly message: string;
      /** Where in the query, from 1. */ readonly place: Refused['place'];
    }
  | FoundResult;

export interface FoundResult {
  readonly kind: 'found';
  /** Of this page's queries. */ readonly number: number;
  readonly result: QueryResult;
  readonly drawing: Drawing;
  /** The drawing counts the events over time. */
  readonly isHistogram: boolean;
  readonly dataset: string | undefined;
  /** Within its range. */ readonly annotations: readonly Annotation[];
}

export interface QueryRunner {
  readonly outcome: QueryOutcome;
  readonly run: (query: string, range: string) => void;
  /** Gives up the one that runs. */
  readonly stop: () => void;
  /** The same, and says so. */
  readonly cancel: () => void;
}

export function useQuery(api: Api | undefined): QueryRunner {
  const [outcome, setOutcome] = useState<QueryOutcome>({ kind: 'none' });
  const count = useRef(0);
  const running = useRef<AbortController | undefined>(undefined);
  const run = (query: string, range: string) => {
    running.current?.abort();
    if (!api || query.trim() === '') return setOutcome({ kind: 'none' });
    const abort = new AbortController();
    running.current = abort;
    setOutcome((before) => ({
      kind: 'running',
      last: before.kind === 'found' ? before : before.kind === 'running' ? before.last : undefined,
    }));
    count.current += 1;
    void ask(api, query, range, count.current, abort.signal).then((outcome) => {
      if (!abort.signal.aborted) setOutcome(outcome);
    });
  };
  const giveUp = (kind: 'none' | 'ended') => {
    running.current?.abort();
    setOutcome((before) => (before.kind === 'running' ? { kind } : before));
  };
  return { outcome, run, stop: () => giveUp('none'), cancel: () => giveUp('ended') };
}

async function ask(
  api: Api,
  query: string,
  within: string,
  number: number,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  try {
    const over = toQueryRange(within);
    const result = await api.query(query, over, signal);
    // The counts are an addition: where they cannot be had, the events are enough.
    const isCounted = rowsOf(result).areEvents && !result.render;
    const histogram = isCounted
      ? await api.query(countOverTime(query), over, signal).catch(() => undefined)
      : undefined;
    signal.throwIfAborted();
    const drawing = histogram ? drawingOf(histogram, 'Events over time') : drawingOf(result);
    const dataset = leadingDataset(query);
    const range = drawing.kind === 'axes' && drawing.isTime ? tableOf(histogram ?? result)?.range : undefined;
    const annotations =
      range && dataset !== undefined ? await api.annotations(dataset, range, signal).catch(() => []) : [];
    return { kind: 'found', number, result, drawing, isHistogram: histogram !== undefined, dataset, annotations };
  } catch (error) {
    if (signal.aborted) return { kind: 'none' };
    return { kind: 'failed', query, message: String(error), place: error instanceof Refused ? error.place : undefined };
  }
}

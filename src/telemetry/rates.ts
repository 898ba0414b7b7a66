/** Rates between two records of the same agent. Pure; the status page runs it in the browser, `tailrace top` in the terminal. */
import type { SinkStatus, SourceStatus, Status } from './status.ts';

export interface Rates {
  /** Events a second, by source and by sink; empty before two records. */
  readonly sources: ReadonlyMap<string, number>;
  readonly sinks: ReadonlyMap<string, number>;
  /** Mean time of the requests answered between the two records, or else of all. */
  readonly requestMs: ReadonlyMap<string, number>;
}

export const NO_RATES: Rates = { sources: new Map(), sinks: new Map(), requestMs: new Map() };

/** Rates are computed over this many records. */
const RECORDS = 6;

/** The records that rates are computed from, the latest one added. A new process counts from 0, so nothing before it stays. */
export function addRecord(records: readonly Status[], next: Status): Status[] {
  return [...(records.at(-1)?.pid === next.pid ? records : []), next].slice(-RECORDS);
}

export function ratesOf(records: readonly Status[]): Rates {
  const [from, to] = [records[0], records.at(-1)];
  if (!from || !to) return NO_RATES;
  const requestMs = new Map(to.sinks.flatMap((sink) => requestMsOf(earlierOf(from.sinks, sink), sink)));
  const seconds = (to.nowMs - from.nowMs) / 1000;
  if (seconds <= 0) return { ...NO_RATES, requestMs };
  const perSecond = <Part extends SourceStatus | SinkStatus>(
    before: readonly Part[],
    after: readonly Part[],
    total: (part: Part) => number,
  ) =>
    new Map(
      after.map((part) => {
        const earlier = earlierOf(before, part);
        return [part.id, earlier ? Math.max(0, (total(part) - total(earlier)) / seconds) : 0] as const;
      }),
    );
  return {
    sources: perSecond(from.sources, to.sources, ({ accepted }) => accepted),
    sinks: perSecond(from.sinks, to.sinks, ({ ingested }) => ingested),
    requestMs,
  };
}

function earlierOf<Part extends { readonly id: string }>(parts: readonly Part[], { id }: Part): Part | undefined {
  return parts.find((part) => part.id === id);
}

function requestMsOf(from: SinkStatus | undefined, to: SinkStatus): [id: string, ms: number][] {
  const [before, after] = [from ? answeredOf(from) : 0, answeredOf(to)];
  if (after === 0) return [];
  const isNew = from !== undefined && after > before;
  const [took, made] = isNew ? [to.requestSeconds - from.requestSeconds, after - before] : [to.requestSeconds, after];
  return [[to.id, (took / made) * 1000]];
}

function answeredOf({ requests, answers }: SinkStatus): number {
  return requests - (answers['none'] ?? 0);
}

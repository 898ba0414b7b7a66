/** Asks the agent for its numbers every two seconds, and for the charts' every ten; tells rates from what changed in between. */
import { useEffect, useState } from 'preact/hooks';
import type { HistoryView } from '../../telemetry/history.ts';
import type { PageStatus } from '../../telemetry/status-page.ts';

const ASK_EVERY_MS = 2000;
const CHARTS_EVERY_MS = 10_000;
/** An agent that has not answered after this long counts as gone, until it does. */
const ANSWER_WITHIN_MS = 1800;
/** Rates are told over the last ten seconds. */
const SEEN = 6;

export interface Rates {
  /** Events a second, by source and by sink; absent before two answers. */
  readonly sources: ReadonlyMap<string, number>;
  readonly sinks: ReadonlyMap<string, number>;
  /** Mean time of a request, of the last ten seconds or, where there was none, of all. */
  readonly requestMs: ReadonlyMap<string, number>;
}

export interface AgentView {
  readonly status: PageStatus | undefined;
  readonly history: HistoryView | undefined;
  readonly rates: Rates;
  /** Wall clock of the last answer, while it does not answer. */
  readonly goneSince: number | undefined;
  /** True until the first answer, or its absence. */
  readonly isLoading: boolean;
}

const NO_RATES: Rates = { sources: new Map(), sinks: new Map(), requestMs: new Map() };

export function useAgent(): AgentView {
  const [view, setView] = useState<AgentView>({
    status: undefined,
    history: undefined,
    rates: NO_RATES,
    goneSince: undefined,
    isLoading: true,
  });
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    let chartsAt = 0;
    let pid: number | undefined;
    let seen: PageStatus[] = [];
    const ask = async () => {
      try {
        const status = await getJson<PageStatus>('status.json');
        // A new process counts from 0.
        if (status.pid !== pid) seen = [];
        pid = status.pid;
        seen = [...seen, status].slice(-SEEN);
        const rates = ratesOf(seen[0]!, status);
        setView((view) => ({ ...view, status, rates, goneSince: undefined, isLoading: false }));
        if (performance.now() >= chartsAt) {
          chartsAt = performance.now() + CHARTS_EVERY_MS;
          const history = await getJson<HistoryView>('history.json');
          setView((view) => ({ ...view, history }));
        }
      } catch {
        setView((view) => ({ ...view, isLoading: false, goneSince: view.goneSince ?? view.status?.nowMs ?? Date.now() }));
      }
      if (!isOver) timer = window.setTimeout(() => void ask(), ASK_EVERY_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return view;
}

/** Rejects when there is no answer in time, or none that is JSON. */
export async function getJson<Value>(path: string): Promise<Value> {
  const reply = await fetch(path, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), headers: { accept: 'application/json' } });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Value;
}

function ratesOf(from: PageStatus, to: PageStatus): Rates {
  const seconds = (to.nowMs - from.nowMs) / 1000;
  const perSecond = (before: number | undefined, after: number) => Math.max(0, (after - (before ?? after)) / seconds);
  const rate = <Part extends { readonly id: string }>(parts: (status: PageStatus) => readonly Part[], total: (part: Part) => number) =>
    new Map(
      parts(to).map((part) => {
        const earlier = parts(from).find(({ id }) => id === part.id);
        return [part.id, perSecond(earlier && total(earlier), total(part))] as const;
      }),
    );
  const requestMs = Object.entries(to.requests).flatMap(
    ([
      id,
      {
        requestSeconds: { sum, count },
      },
    ]) => {
      const before = from.requests[id]?.requestSeconds ?? { sum: 0, count: 0 };
      const [took, made] = count > before.count ? [sum - before.sum, count - before.count] : [sum, count];
      return made > 0 ? [[id, (took / made) * 1000] as const] : [];
    },
  );
  if (seconds <= 0) return { ...NO_RATES, requestMs: new Map(requestMs) };
  return {
    sources: rate(
      ({ sources }) => sources,
      ({ accepted }) => accepted,
    ),
    sinks: rate(
      ({ sinks }) => sinks,
      ({ ingested }) => ingested,
    ),
    requestMs: new Map(requestMs),
  };
}

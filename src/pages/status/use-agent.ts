/** Asks the agent for its numbers every two seconds, and for the charts' every ten; tells rates from what changed in between. */
import { useEffect, useState } from 'preact/hooks';
import type { HistoryView } from '../../telemetry/history.ts';
import { addRecord, NO_RATES, type Rates, ratesOf } from '../../telemetry/rates.ts';
import type { Status } from '../../telemetry/status.ts';
import type { PageStatus } from '../../telemetry/status-page.ts';

const ASK_EVERY_MS = 2000;
const CHARTS_EVERY_MS = 10_000;
/** An agent that has not answered after this long counts as gone, until it does. */
const ANSWER_WITHIN_MS = 1800;
export interface AgentView {
  readonly status: PageStatus | undefined;
  readonly history: HistoryView | undefined;
  readonly rates: Rates;
  /** Wall clock of the last answer, while it does not answer. */
  readonly goneSince: number | undefined;
  /** True until the first answer, or its absence. */
  readonly isLoading: boolean;
}

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
    let seen: Status[] = [];
    const ask = async () => {
      try {
        const status = await getJson<PageStatus>('status.json');
        seen = addRecord(seen, status);
        const rates = ratesOf(seen);
        setView((view) => ({ ...view, status, rates, goneSince: undefined, isLoading: false }));
        if (performance.now() >= chartsAt) {
          chartsAt = performance.now() + CHARTS_EVERY_MS;
          const history = await getJson<HistoryView>('history.json');
          setView((view) => ({ ...view, history }));
        }
      } catch {
        setView((view) => ({
          ...view,
          isLoading: false,
          goneSince: view.goneSince ?? view.status?.nowMs ?? Date.now(),
        }));
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
  const reply = await fetch(path, {
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    headers: { accept: 'application/json' },
  });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Value;
}

/** Watches a running agent's accounting: the contract's equation for every source at every scrape, and /healthz. */
import { type Family, parsePrometheus } from './prometheus-text.ts';

export interface AccountingWatch {
  /** Everything that was wrong: imbalances, and what /healthz names. */
  readonly problems: string[];
  /** Scrapes that were answered and checked. */
  scrapes: number;
  /** Turns to another process (`http://host:port`), or to none. */
  watch(address: string | undefined): void;
  stop(): Promise<void>;
}

/** Scrapes every `everyMs`. */
export function watchAccounting(everyMs = 50): AccountingWatch {
  let current: string | undefined;
  const stopping = new AbortController();
  const watch: AccountingWatch = {
    problems: [],
    scrapes: 0,
    watch: (address) => {
      current = address;
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      if (current !== undefined) await check(current, watch);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return watch;
}

async function check(address: string, watch: AccountingWatch): Promise<void> {
  const metrics = await get(`${address}/metrics`);
  if (metrics) {
    watch.scrapes += 1;
    watch.problems.push(...findImbalances(parsePrometheus(metrics.text)));
  }
  const health = await get(`${address}/healthz`);
  if (health) watch.problems.push(...healthProblems(health.text));
}

/** What /healthz names, but for a process that stood still: a busy machine does that to any. */
export function healthProblems(text: string): string[] {
  const { problems } = JSON.parse(text) as { problems: string[] };
  return problems.filter((problem) => !problem.startsWith('the event loop stood still'));
}

/** Undefined where nothing answers: the agent may have been killed. */
async function get(url: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const reply = await fetch(url);
    return { status: reply.status, text: await reply.text() };
  } catch {
    return undefined;
  }
}

/** Sources of which accepted events are not accounted for. */
export function findImbalances(families: ReadonlyMap<string, Family>): string[] {
  const balance = new Map<string, { accepted: number; accountedFor: number }>();
  for (const name of ['tailrace_events_total', 'tailrace_events_held']) {
    for (const { labels, value } of families.get(name)?.samples ?? []) {
      const entry = balance.get(labels['source']!) ?? { accepted: 0, accountedFor: 0 };
      if (labels['outcome'] === 'accepted') entry.accepted += value;
      else entry.accountedFor += value;
      balance.set(labels['source']!, entry);
    }
  }
  return [...balance]
    .filter(([, { accepted, accountedFor }]) => accepted !== accountedFor)
    .map(([source, { accepted, accountedFor }]) => `${source}: ${accepted} accepted, ${accountedFor} accounted for`);
}

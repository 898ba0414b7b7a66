/**
 * The accounting of one source: every accepted event has one outcome, or is held. With several sinks, an event has its outcome
 * once all of them have settled it: the worst of theirs (dropped > dead_lettered > delivered > filtered).
 *
 * Events are numbered per source in the order of acceptance, so that sinks whose batches end at different places can be
 * compared. Held events are not counted here: telemetry walks the batches (agent/control/observe).
 */

export type SettledAs = 'delivered' | 'dead_lettered' | 'dropped' | 'filtered';

const RANK: Record<SettledAs, number> = { filtered: 0, delivered: 1, dead_lettered: 2, dropped: 3 };

/** The one that counts where the parts of an event, or its ways through several sinks, ended differently. */
export function worseOf(a: SettledAs, b: SettledAs): SettledAs {
  return RANK[a] > RANK[b] ? a : b;
}

interface Interval {
  readonly from: number;
  readonly to: number;
  readonly pending: number;
  readonly worst: SettledAs;
}

export class Accounting {
  readonly source: string;
  /** Events accepted so far; also the number that the next event gets. */
  accepted = 0;
  /** Characters of theirs that were no UTF-8 and are U+FFFD now. */
  invalidCharacters = 0;
  /** Events whose time stands in front of a zone that cannot be told. */
  unknownZones = 0;
  /** Times that a transform failed on one of them. */
  transformErrors = 0;
  /** Events whose `to_dataset` names a dataset that they cannot go to. */
  misrouted = 0;
  readonly settled: Record<SettledAs, number> = { delivered: 0, dead_lettered: 0, dropped: 0, filtered: 0 };
  /** Events that more than one sink has to settle, oldest first. */
  #shared: Interval[] = [];

  constructor(source: string) {
    this.source = source;
  }

  /** Accepts `events` more, to be settled by `sinks` sinks. */
  accept(events: number, sinks: number): void {
    if (events === 0) return;
    if (sinks > 1) add(this.#shared, { from: this.accepted, to: this.accepted + events, pending: sinks, worst: 'filtered' });
    this.accepted += events;
  }

  /** One sink settles the events numbered `[from, to)`. */
  settle(from: number, to: number, as: SettledAs): void {
    if (from === to) return;
    if (this.#shared.length === 0 || to <= this.#shared[0]!.from) {
      this.settled[as] += to - from;
      return;
    }
    let unshared = to - from;
    const kept: Interval[] = [];
    for (const interval of this.#shared) {
      const start = Math.max(interval.from, from);
      const end = Math.min(interval.to, to);
      if (start >= end) {
        add(kept, interval);
        continue;
      }
      unshared -= end - start;
      if (interval.from < start) add(kept, { ...interval, to: start });
      const worst = worseOf(as, interval.worst);
      if (interval.pending === 1) this.settled[worst] += end - start;
      else add(kept, { from: start, to: end, pending: interval.pending - 1, worst });
      if (end < interval.to) add(kept, { ...interval, from: end });
    }
    this.#shared = kept;
    this.settled[as] += unshared;
  }
}

/** Merges equal neighbours: otherwise each block is an interval while one of two sinks is down, and settling walks all of them. */
function add(intervals: Interval[], next: Interval): void {
  const last = intervals.at(-1);
  if (last?.to === next.from && last.pending === next.pending && last.worst === next.worst)
    intervals.splice(-1, 1, { ...last, to: next.to });
  else intervals.push(next);
}

/** The number of different events in ranges that may overlap. */
export function countEvents(ranges: readonly (readonly [from: number, to: number])[]): number {
  const sorted = ranges.toSorted((a, b) => a[0] - b[0]);
  let total = 0;
  let reached = 0;
  for (const [from, to] of sorted) {
    if (to <= reached) continue;
    total += to - Math.max(from, reached);
    reached = to;
  }
  return total;
}

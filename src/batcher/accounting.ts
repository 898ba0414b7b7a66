/**
 * The accounting of one source: every accepted event has one outcome, or is held. With several sinks, an event has its outcome
 * once all of them have settled it: the worst of theirs (dropped > dead_lettered > delivered > filtered).
 *
 * Events are numbered per source in the order of acceptance, so that sinks whose batches end at different places can be
 * compared. Held events are not counted here: telemetry walks the batches (agent/control/observe).
 */

/** The worst last: it counts where the parts of an event, or its ways through several sinks, ended differently. */
const OUTCOMES = ['filtered', 'delivered', 'dead_lettered', 'dropped'] as const;
export type SettledAs = (typeof OUTCOMES)[number];

export function worseOf(a: SettledAs, b: SettledAs): SettledAs {
  return OUTCOMES.indexOf(a) > OUTCOMES.indexOf(b) ? a : b;
}

const PAGE_EVENTS = 4096;
/** The bits of an event's number that are its worst outcome so far, a place in OUTCOMES; above them is how many sinks have yet to settle it. */
const OUTCOME = 3;
const ONE_SINK = OUTCOME + 1;

interface Page {
  /** A number for each event; 0 for one that no second sink has to settle. */
  readonly numbers: Uint16Array;
  /** How many are not 0. */
  open: number;
}

/** The accounting of each source. */
export interface Accounts {
  /** Also of one that is not configured any more. */
  accountingOf(source: string): Accounting;
}

export class Accounting {
  readonly source: string;
  /** Events accepted so far; also the number that the next event gets. */
  accepted = 0;
  /** Characters of theirs that were no UTF-8 and are U+FFFD now. */
  invalidCharacters = 0;
  /** Events whose time has an ambiguous zone. */
  unknownZones = 0;
  /** Times that a transform failed on one of them. */
  transformErrors = 0;
  /** Events whose `to_dataset` names a dataset that they cannot go to. */
  misrouted = 0;
  readonly settled: Record<SettledAs, number> = { delivered: 0, dead_lettered: 0, dropped: 0, filtered: 0 };
  /** Events that more than one sink has to settle, by page: one number where all of its events are alike. */
  readonly #shared = new Map<number, Page | number>();

  constructor(source: string) {
    this.source = source;
  }

  /** Accepts `events` more, to be settled by `sinks` sinks. */
  accept(events: number, sinks: number): void {
    const from = this.accepted;
    this.accepted += events;
    if (sinks === 1) return;
    inPages(from, this.accepted, (index, first, end) => {
      const page = this.#pageOf(index);
      page.numbers.fill(sinks * ONE_SINK, first, end);
      page.open += end - first;
      this.#keep(index, page, end);
    });
  }

  /** One sink settles the events numbered `[from, to)`. */
  settle(from: number, to: number, as: SettledAs): void {
    // With one sink nothing is shared; a filter settles almost every event alone.
    if (this.#shared.size === 0) return void (this.settled[as] += to - from);
    const outcome = OUTCOMES.indexOf(as);
    inPages(from, to, (index, first, end) => {
      const events = end - first;
      const shared = this.#shared.get(index);
      if (shared === undefined) this.settled[as] += events;
      else if (typeof shared === 'number' && events === PAGE_EVENTS) {
        const number = this.#settled(shared, outcome, events);
        if (number === 0) this.#shared.delete(index);
        else this.#shared.set(index, number);
      } else {
        const page = this.#pageOf(index);
        for (let n = first; n < end; n++) {
          const before = page.numbers[n]!;
          // With many datasets, this is nearly all that there is to do.
          if (before >= 2 * ONE_SINK && (before & OUTCOME) >= outcome) page.numbers[n] = before - ONE_SINK;
          else {
            const after = this.#settled(before, outcome, 1);
            page.numbers[n] = after;
            if (before > 0 && after === 0) page.open -= 1;
          }
        }
        this.#keep(index, page, end);
      }
    });
  }

  /** The number of `events` events that are alike once one more sink has settled them. */
  #settled(number: number, outcome: number, events: number): number {
    const worst = Math.max(number & OUTCOME, outcome);
    if (number >= 2 * ONE_SINK) return (number & ~OUTCOME) - ONE_SINK + worst;
    this.settled[OUTCOMES[worst]!] += events;
    return 0;
  }

  #pageOf(index: number): Page {
    const shared = this.#shared.get(index) ?? 0;
    if (typeof shared !== 'number') return shared;
    return { numbers: new Uint16Array(PAGE_EVENTS).fill(shared), open: shared === 0 ? 0 : PAGE_EVENTS };
  }

  /** `end`: of the events that changed. Whether all are alike is looked at only behind the last one, as that takes all of them. */
  #keep(index: number, page: Page, end: number): void {
    const { numbers, open } = page;
    const isAlike = end === PAGE_EVENTS && numbers.every((number) => number === numbers[0]);
    if (open === 0) this.#shared.delete(index);
    else this.#shared.set(index, isAlike ? numbers[0]! : page);
  }
}

/** Calls `visit` with each page that the events numbered `[from, to)` are in: its index, their first place in it, and their end. */
function inPages(from: number, to: number, visit: (index: number, first: number, end: number) => void): void {
  for (let at = from, first = at % PAGE_EVENTS; at < to; first = 0) {
    const end = Math.min(PAGE_EVENTS, first + to - at);
    visit(Math.floor(at / PAGE_EVENTS), first, end);
    at += end - first;
  }
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

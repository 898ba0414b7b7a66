/**
 * Maps the accepted events of a batch to its sent events: they differ where shaping left some out or made several of one. Spans and
 * accounting count accepted events; halves, a failure's index and the body count sent events.
 */
import { sinkOf } from '../core/owner.ts';
import type { DeadLetter } from '../core/sink.ts';
import type { Unsent, Withheld } from '../core/shaping.ts';
import type { Batch } from './batch.ts';
import { type SettledAs, worseOf } from './accounting.ts';
import type { HeldSpan } from './span.ts';

/** Accepted events of one span that fared alike. */
interface EventRun {
  readonly span: HeldSpan;
  /** Place of the first in its span. */
  readonly first: number;
  readonly events: number;
  /** How many are sent of each. */
  readonly sent: number;
  readonly unsent: Unsent;
  /** Place in the body of the first that is sent. */
  readonly firstSent: number;
}

function* eventRuns({ spans, fates }: Batch): Generator<EventRun> {
  let firstSent = 0;
  if (!fates) {
    for (const span of spans) {
      yield { span, first: 0, events: span.events, sent: 1, unsent: 'none', firstSent };
      firstSent += span.events;
    }
    return;
  }
  const held = spans.values();
  let span = held.next().value;
  let first = 0;
  for (const run of fates.runs()) {
    for (let left = run.events; left > 0;) {
      while (span && first === span.events) {
        span = held.next().value;
        first = 0;
      }
      if (!span) throw new Error('a batch has more fates than events');
      const events = Math.min(left, span.events - first);
      yield { ...run, span, first, events, firstSent };
      first += events;
      firstSent += events * run.sent;
      left -= events;
    }
  }
}

/** Settles every event of the batch in its accounting; `refused` tells what became of the sent ones that were not stored, by their place in the body. */
export function settleEvents(batch: Batch, refused: ReadonlyMap<number, { readonly fate?: 'kept' | 'dropped' }>): void {
  for (const { span, first, events, sent, unsent, firstSent } of eventRuns(batch)) {
    const fateOf = (index: number): SettledAs => {
      const refusal = refused.get(index);
      return refusal === undefined ? 'delivered' : refusal.fate === 'dropped' ? 'dropped' : 'dead_lettered';
    };
    const rest = unsent === 'none' ? 'filtered' : unsent === 'dead_lettered' ? batch.withheld.fate : unsent;
    const outcomeOf = (event: number): SettledAs => {
      let worst: SettledAs = rest;
      for (let sub = 0; sub < sent; sub++) worst = worseOf(worst, fateOf(firstSent + event * sent + sub));
      return worst;
    };
    const start = span.firstEvent + first;
    let from = 0;
    let as = events > 0 ? outcomeOf(0) : rest;
    for (let event = 1; event < events && refused.size > 0; event++) {
      const next = outcomeOf(event);
      if (next === as) continue;
      span.accounting.settle(start + from, start + event, as);
      from = event;
      as = next;
    }
    span.accounting.settle(start + from, start + events, as);
  }
}

/** Where a dead letter comes from. */
export type Origin = Pick<DeadLetter, 'sink' | 'dataset' | 'source' | 'stream' | 'spanOffset' | 'spanEnd' | 'eventInSpan' | 'sub'>;

function originOf({ owner, dataset }: Batch, { source, stream, from, to }: HeldSpan, eventInSpan: number, sub: number | undefined): Origin {
  return {
    sink: sinkOf(owner),
    dataset,
    source,
    stream,
    spanOffset: from,
    spanEnd: to,
    eventInSpan,
    ...(sub === undefined ? {} : { sub }),
  };
}

/** The origins of events that are sent, by their places in the body. */
export function* originsOf<T>(batch: Batch, wanted: ReadonlyMap<number, T>): Generator<{ index: number; what: T; origin: Origin }> {
  for (const { span, first, events, sent, firstSent } of eventRuns(batch)) {
    for (let index = firstSent; index < firstSent + events * sent; index++) {
      const what = wanted.get(index);
      if (what === undefined) continue;
      const place = index - firstSent;
      yield { index, what, origin: originOf(batch, span, first + Math.floor(place / sent), sent > 1 ? place % sent : undefined) };
    }
  }
}

/** The events that are withheld from the service, each with its origin. */
export function* originsOfWithheld(batch: Batch): Generator<{ withheld: Withheld; origin: Origin }> {
  const spans = batch.spans.values();
  let span = spans.next().value;
  let before = 0;
  for (const withheld of batch.withheld.events) {
    while (span && withheld.event - before >= span.events) {
      before += span.events;
      span = spans.next().value;
    }
    if (!span) throw new Error('a batch withholds an event that it does not have');
    yield { withheld, origin: originOf(batch, span, withheld.event - before, withheld.sub || undefined) };
  }
}

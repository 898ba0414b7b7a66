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

/**
 * Takes accepted events of one span that fared alike: `first` is the place of the first in its span, `sent` how many are sent of each,
 * `firstSent` the place in the body of the first that is sent.
 */
type Visit = (span: HeldSpan, first: number, events: number, sent: number, unsent: Unsent, firstSent: number) => void;

/** Makes no object for a run: where events go to many datasets, each event of one is a run of its own. */
function walkRuns({ spans, fates }: Batch, visit: Visit): void {
  let firstSent = 0;
  let index = 0;
  let first = 0;
  const take = (count: number, sent: number, unsent: Unsent): void => {
    for (let left = count; left > 0;) {
      for (; spans[index]?.events === first; index++) first = 0;
      const span = spans[index];
      if (!span) throw new Error('a batch has more fates than events');
      const events = Math.min(left, span.events - first);
      visit(span, first, events, sent, unsent, firstSent);
      first += events;
      firstSent += events * sent;
      left -= events;
    }
  };
  if (fates) fates.walk(take);
  else for (const { events } of spans) take(events, 1, 'none');
}

/** Settles every event of the batch in its accounting; `refused` tells what became of the sent ones that were not stored, by their place in the body. */
export function settleEvents(batch: Batch, refused: ReadonlyMap<number, { readonly fate?: 'kept' | 'dropped' }>): void {
  walkRuns(batch, ({ accounting, firstEvent }, first, events, sent, unsent, firstSent) => {
    const rest = unsent === 'none' ? 'filtered' : unsent === 'dead_lettered' ? batch.withheld.fate : unsent;
    const start = firstEvent + first;
    if (refused.size === 0)
      return accounting.settle(start, start + events, sent === 0 ? rest : worseOf(rest, 'delivered'));
    for (let event = 0; event < events; event++) {
      let worst: SettledAs = rest;
      for (let sub = 0; sub < sent; sub++) {
        const refusal = refused.get(firstSent + event * sent + sub);
        worst = worseOf(worst, !refusal ? 'delivered' : refusal.fate === 'dropped' ? 'dropped' : 'dead_lettered');
      }
      accounting.settle(start + event, start + event + 1, worst);
    }
  });
}

/** Where a dead letter comes from. */
export type Origin = Pick<
  DeadLetter,
  'sink' | 'dataset' | 'source' | 'stream' | 'spanOffset' | 'spanEnd' | 'eventInSpan' | 'sub'
>;

function originOf(
  { owner, dataset }: Batch,
  { source, stream, from, to }: HeldSpan,
  eventInSpan: number,
  sub: number | undefined,
): Origin {
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
export function originsOf<T>(
  batch: Batch,
  wanted: ReadonlyMap<number, T>,
): { index: number; what: T; origin: Origin }[] {
  const found: { index: number; what: T; origin: Origin }[] = [];
  walkRuns(batch, (span, first, events, sent, _, firstSent) => {
    for (let index = firstSent; index < firstSent + events * sent; index++) {
      const what = wanted.get(index);
      if (what === undefined) continue;
      const place = index - firstSent;
      found.push({
        index,
        what,
        origin: originOf(batch, span, first + Math.floor(place / sent), sent > 1 ? place % sent : undefined),
      });
    }
  });
  return found;
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

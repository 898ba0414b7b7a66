/**
 * A batch in flight: on its way, whole or in parts, and what became of its events. Its accepted events differ from those that are sent
 * where shaping left some out or made several of one: spans and accounting count accepted events; parts, a failure's index and the body
 * count sent ones.
 */
import { sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { Disposition, Withheld } from '../../core/shaping.ts';
import type { DeadLetter, DeadLetterReason, Encoding, SinkRequest } from '../../core/sink.ts';
import { type RequestPart, RequestParts, Tries } from '../../core/requests.ts';
import { type SettledAs, worseOf } from '../accounting.ts';
import type { Batch } from '../batch.ts';
import { compress } from '../payload.ts';
import type { HeldSpan } from '../span.ts';
import type { Keeper } from '../store.ts';
import type { Wait } from './parked.ts';
import { decode, sliceEvents, splitEvents } from '../events.ts';

/** An event of the batch that goes to the dead letters. */
export interface Refusal {
  readonly reason: DeadLetterReason;
  readonly detail: string;
  readonly status: number;
  readonly key: string;
  /** Its fate, once decided. */
  readonly fate?: 'kept' | 'dropped';
}

export class InFlightBatch extends RequestParts {
  readonly batch: Batch;
  /** By event index. */
  readonly refused = new Map<number, Refusal>();
  /** Monotonic milliseconds of its first request. */
  firstSentMs: number | undefined;
  /** Monotonic milliseconds of its first answer 403; undefined where none came. */
  forbiddenAtMs: number | undefined;
  /** Some of it was stored, or refused, before this process had it. */
  readonly isPartlyDone: boolean;
  /** Why it cannot go on now; set with a `false` of dispatch or refusals where it is not for its dataset or a stop. */
  wait: Wait | undefined;
  /** It was parked. */
  hasWaited = false;
  /** Refusals of its first part that are not kept as dead letters yet. */
  unkept: ReadonlyMap<number, Refusal> | undefined;
  /** By key, of parts that are not sent before `notBeforeMs`: when an event was first forbidden alone. Monotonic. */
  readonly #resting = new Map<string, { readonly sinceMs: number; readonly notBeforeMs: number }>();
  readonly tries = new Tries();
  #plain: Buffer | undefined;

  /** Keys of parts of which a request ended without an answer that tells whether it was stored. */
  readonly mayBeStored: Set<string>;

  /** `earlier`: the parts that an earlier process left to be sent; none where it had not split the batch. */
  constructor(batch: Batch, earlier?: readonly RequestPart[]) {
    super(earlier && earlier.length > 0 ? earlier : [{ first: 0, count: batch.events, key: batch.key }]);
    this.batch = batch;
    this.mayBeStored = new Set(earlier ? this.parts.map(({ key }) => key) : []);
    this.isPartlyDone = this.parts.reduce((sum, { count }) => sum + count, 0) < batch.events;
  }

  get isWhole(): boolean {
    return this.parts.length === 1 && this.parts[0]!.count === this.batch.events;
  }

  /** The batch's NDJSON before compression. */
  plain(): Buffer {
    this.#plain ??= decode(this.batch.payload.body, this.batch.payload.encoding);
    return this.#plain;
  }

  /** Bytes of memory that `plain` took beside the batch's own. */
  get decodedBytes(): number {
    return this.batch.payload.encoding === 'identity' ? 0 : (this.#plain?.length ?? 0);
  }

  /** Drops decoded bytes: the batch leaves memory. */
  release(): void {
    this.#plain = undefined;
  }

  /** The part's own NDJSON. */
  plainOf(part: RequestPart): Buffer {
    return sliceEvents(this.plain(), part.first, part.count);
  }

  /** The part's request, in the wanted encoding; `isStrict`: also where compression makes it larger. */
  async requestOf(
    part: RequestPart,
    { encoding: wanted, isStrict }: { readonly encoding: Encoding; readonly isStrict: boolean },
    encode?: (ndjson: Buffer) => Uint8Array,
  ): Promise<SinkRequest> {
    const { dataset, events, payload, readAtMs } = this.batch;
    const { body: whole, encoding, isDense, form } = payload;
    if (!encode && part.count === events && (encoding === wanted || (isDense && encoding === 'identity' && !isStrict)))
      return { key: this.tries.keyOf(part, encoding), dataset, events, body: whole, encoding, readAtMs, form };
    const plain = encode ? encode(this.plainOf(part)) : this.plainOf(part);
    const body = wanted === 'identity' ? plain : await compress(plain, wanted);
    return { key: this.tries.keyOf(part, wanted), dataset, events: part.count, body, encoding: wanted, readAtMs, form };
  }

  /** Sends the other parts before the first one, and that one not before `notBeforeMs`. */
  defer(notBeforeMs = -Infinity, sinceMs = notBeforeMs): void {
    this.#resting.set(this.postpone().key, { sinceMs, notBeforeMs });
  }

  /** Since when the part rests; undefined for one that does not. */
  restsSinceMs(part: RequestPart): number | undefined {
    return this.#resting.get(part.key)?.sinceMs;
  }

  /** Brings a part that may be sent to the front; true where all rest, and `wait` says until when. */
  restsAll(nowMs: number): boolean {
    const notBefore = (part: RequestPart): number => this.#resting.get(part.key)?.notBeforeMs ?? -Infinity;
    const index = this.parts.findIndex((part) => notBefore(part) <= nowMs);
    if (index > 0) this.parts.unshift(...this.parts.splice(index, 1));
    if (index >= 0) return false;
    this.wait = { untilMs: Math.min(...this.parts.map(notBefore)) };
    // The rest of the search goes on slowly: after a 403 nothing is given up unresolved.
    this.extraRequests = 0;
    return true;
  }
}

/** Settles the batch's events in the accounting: the refused ones by their fate, those of parts that are left as dropped, all others as delivered. */
export function settleInFlight({ batch, refused, parts }: InFlightBatch): void {
  for (const { first, count, key } of parts)
    for (let index = first; index < first + count; index++)
      refused.set(index, { reason: 'unresolved', detail: 'dropped', status: 0, key, fate: 'dropped' });
  settleEvents(batch, refused);
  batch.refusedEvents = refused.size;
}

/** The refused events (by index in the batch) as dead letters. */
export function lettersOf(inFlight: InFlightBatch, refusals: ReadonlyMap<number, Refusal>): DeadLetter[] {
  const events = splitEvents(inFlight.plain());
  return originsOf(inFlight.batch, refusals).map(({ index, what, origin }) => ({
    ...origin,
    ...what,
    event: events[index]!,
  }));
}

/** The events that a transform failed on, and that must not be sent as they are, as dead letters. */
export function withheldLetters({ batch }: InFlightBatch): DeadLetter[] {
  return [...originsOfWithheld(batch)].map(({ withheld, origin }) => ({
    ...origin,
    reason: 'transform_failed',
    detail: withheld.reason,
    status: 0,
    key: batch.key,
    event: Buffer.from(withheld.text),
  }));
}

/** The first part is done. False when the agent stops before the others are saved. */
export function finishPart(
  keeper: Keeper,
  inFlight: InFlightBatch,
  as: 'stored' | 'refused',
): Promise<boolean> | boolean {
  const { isWhole } = inFlight;
  inFlight.finish(as);
  return isWhole || inFlight.parts.length === 0 || keeper.saveParts(inFlight.batch, inFlight.parts);
}

/**
 * Takes accepted events of one span that fared alike: `first` is the place of the first in its span, `sent` how many are sent of each,
 * `firstSent` the place in the body of the first that is sent.
 */
type Visit = (
  span: HeldSpan,
  first: number,
  events: number,
  sent: number,
  disposition: Disposition,
  firstSent: number,
) => void;

/** Makes no object for a run: where events go to many datasets, each event of one is a run of its own. */
function walkRuns({ spans, outcomes }: Batch, visit: Visit): void {
  let firstSent = 0;
  let index = 0;
  let first = 0;
  const take = (count: number, sent: number, disposition: Disposition): void => {
    for (let left = count; left > 0;) {
      for (; spans[index]?.events === first; index++) first = 0;
      const span = spans[index];
      if (!span) throw new Error('a batch has more outcomes than events');
      const events = Math.min(left, span.events - first);
      visit(span, first, events, sent, disposition, firstSent);
      first += events;
      firstSent += events * sent;
      left -= events;
    }
  };
  if (outcomes) outcomes.walk(take);
  else for (const { events } of spans) take(events, 1, 'sent');
}

/** Settles every event of the batch in its accounting; `refused` tells what became of the sent ones that were not stored, by their place in the body. */
function settleEvents(batch: Batch, refused: ReadonlyMap<number, { readonly fate?: 'kept' | 'dropped' }>): void {
  walkRuns(batch, ({ accounting, firstEvent }, first, events, sent, disposition, firstSent) => {
    const rest =
      disposition === 'sent' ? 'filtered' : disposition === 'dead_lettered' ? batch.withheld.fate : disposition;
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
type DeadLetterOrigin = Pick<
  DeadLetter,
  'sink' | 'dataset' | 'source' | 'stream' | 'spanOffset' | 'spanEnd' | 'eventInSpan' | 'sub'
>;

function originOf(
  { owner, dataset }: Batch,
  { source, stream, from, to }: HeldSpan,
  eventInSpan: number,
  sub: number | undefined,
): DeadLetterOrigin {
  return {
    sink: sinkOfOwner(owner),
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
function originsOf<T>(
  batch: Batch,
  wanted: ReadonlyMap<number, T>,
): { index: number; what: T; origin: DeadLetterOrigin }[] {
  const found: { index: number; what: T; origin: DeadLetterOrigin }[] = [];
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
function* originsOfWithheld(batch: Batch): Generator<{ withheld: Withheld; origin: DeadLetterOrigin }> {
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

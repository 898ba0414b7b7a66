/** A shipment: one batch on its way, whole or in parts. */
import type { DeadLetter, DeadLetterReason, Encoding, Parcel } from '../../core/sink.ts';
import { type RequestPart, RequestParts } from '../../core/send/parts.ts';
import { originsOf, originsOfWithheld, settleEvents } from '../accepted-events.ts';
import type { Batch } from '../batch.ts';
import { compress } from '../payload.ts';
import { Tries } from '../../core/send/encoding-choice.ts';
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

export class Shipment extends RequestParts {
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
  async parcelOf(
    part: RequestPart,
    { encoding: wanted, isStrict }: { readonly encoding: Encoding; readonly isStrict: boolean },
    encode?: (ndjson: Buffer) => Uint8Array,
  ): Promise<Parcel> {
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
export function settleShipment({ batch, refused, parts }: Shipment): void {
  for (const { first, count, key } of parts)
    for (let index = first; index < first + count; index++)
      refused.set(index, { reason: 'unresolved', detail: 'dropped', status: 0, key, fate: 'dropped' });
  settleEvents(batch, refused);
  batch.refusedEvents = refused.size;
}

/** The refused events (by index in the batch) as dead letters. */
export function lettersOf(shipment: Shipment, refusals: ReadonlyMap<number, Refusal>): DeadLetter[] {
  const events = splitEvents(shipment.plain());
  return originsOf(shipment.batch, refusals).map(({ index, what, origin }) => ({
    ...origin,
    ...what,
    event: events[index]!,
  }));
}

/** The events that a transform failed on, and that must not be sent as they are, as dead letters. */
export function withheldLetters({ batch }: Shipment): DeadLetter[] {
  return [...originsOfWithheld(batch)].map(({ withheld, origin }) => ({
    ...origin,
    reason: 'transform_failed',
    detail: withheld.reason,
    status: 0,
    key: batch.key,
    event: Buffer.from(withheld.text),
  }));
}

/** Saves the parts of a split batch that are still to be sent; false when the agent stops before. */
export type SaveParts = (shipment: Shipment) => Promise<boolean>;

/** The first part is done. False when the agent stops before the others are saved. */
export function finishPart(save: SaveParts, shipment: Shipment, as: 'stored' | 'refused'): Promise<boolean> | boolean {
  const { isWhole } = shipment;
  shipment.finish(as);
  return isWhole || shipment.parts.length === 0 || save(shipment);
}

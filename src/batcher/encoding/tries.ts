/** Encodings in which parts of one batch were refused, while it is not known whether for their events. */
import type { Encoding, SendResult } from '../../core/sink.ts';
import { keyFrom } from '../batch.ts';

/** Events of a batch: a part keeps its place where its key changes. */
export interface EventRange {
  readonly first: number;
  readonly count: number;
}

export class Tries {
  /** Set once a part was refused in every encoding: that in which the others are sent first. */
  first: Encoding | undefined;
  /** By 415, which is about the encoding alone and holds for every part. */
  readonly #unsupported = new Map<Encoding, SendResult>();
  readonly #renewed = new Set<string>();
  readonly #ofParts = new Map<string, Map<Encoding, SendResult>>();

  add(part: EventRange, encoding: Encoding, refusal: SendResult): void {
    if (refusal.status === 415) this.#unsupported.set(encoding, refusal);
    const ofPart = this.#ofParts.get(nameOf(part)) ?? new Map<Encoding, SendResult>();
    this.#ofParts.set(nameOf(part), ofPart.set(encoding, refusal));
  }

  of(part: EventRange): ReadonlyMap<Encoding, SendResult> {
    const ofPart = this.#ofParts.get(nameOf(part));
    return ofPart ? new Map([...this.#unsupported, ...ofPart]) : this.#unsupported;
  }

  /** The service stored nothing under the part's key, and may say so again to whatever comes with it: each encoding has a key of its own now. */
  renewKey(part: EventRange): void {
    this.#renewed.add(nameOf(part));
  }

  keyOf(part: EventRange & { readonly key: string }, encoding: Encoding): string {
    return this.#renewed.has(nameOf(part)) ? keyFrom([part.key, encoding]) : part.key;
  }
}

const nameOf = ({ first, count }: EventRange): string => `${first}+${count}`;

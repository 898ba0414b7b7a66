/**
 * The parts in which events are sent: whole at first, cut where the service does not take it. Shared by the agent's
 * batches and the client's chunks. Cutting is deterministic by event index, and a part's key is a hash of its parent's key and its place, so that the
 * same events keep the same key over retries and restarts. Pure.
 */
import { hash } from 'node:crypto';
import { MAX_EXTRA_REQUESTS } from '../limits.ts';

/** Events `[first, first + count)` of the batch, to be sent under `key`. */
export interface RequestPart {
  readonly first: number;
  readonly count: number;
  readonly key: string;
}

/** The halves of a part of at least two events. */
export function halvesOf(part: RequestPart): [left: RequestPart, right: RequestPart] {
  const half = Math.floor(part.count / 2);
  return [childOf(part, part.first, half), childOf(part, part.first + half, part.count - half)];
}

function childOf(parent: RequestPart, first: number, count: number): RequestPart {
  return { first, count, key: keyFrom([parent.key, first, count]) };
}

/** A key of 32 hex digits that differs when the values do. */
export function keyFrom(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values), 'hex').slice(0, 32);
}

export class RequestParts {
  /** Still to be sent, in the order of their events. */
  readonly parts: RequestPart[];
  /** Requests beyond the one that a batch needs, spent or planned to find events at fault. */
  extraRequests = 0;
  /** First halves of refused parts, each with its second half. */
  readonly #twins = new WeakMap<RequestPart, RequestPart>();
  readonly #deferred = new WeakSet<RequestPart>();

  constructor(parts: readonly RequestPart[]) {
    this.parts = [...parts];
  }

  /** True when no more requests may be spent on finding the events at fault. */
  get isSpent(): boolean {
    return this.extraRequests + 2 > MAX_EXTRA_REQUESTS;
  }

  /**
   * Cuts the first part, of which nothing was taken: it is too large (`halve`), or something in it is refused (`bisect`). Where it is not to be
   * cut, returns why all of its events are refused.
   */
  cut(outcome: 'halve' | 'bisect'): 'too_large' | 'rejected' | 'unresolved' | undefined {
    if (this.parts[0]!.count === 1) return outcome === 'halve' ? 'too_large' : 'rejected';
    if (outcome === 'bisect' && this.isSpent) return 'unresolved';
    this.split(outcome === 'halve' ? 'size' : 'fault');
    return undefined;
  }

  /** Replaces the first part, which has at least two events, by its halves: it is too large, or has an event at fault. */
  split(why: 'size' | 'fault' | 'forbidden'): void {
    const part = this.parts.shift()!;
    const [left, right] = halvesOf(part);
    // After a 403 the other parts come first: one that is stored tells that the token is not at fault.
    if (why === 'forbidden') this.parts.push(left, right);
    else this.parts.unshift(left, right);
    if (why === 'size') return;
    this.extraRequests += 2;
    if (why === 'fault') this.#twins.set(left, right);
  }

  /** Sends the other parts before the first one, which it returns. */
  postpone(): RequestPart {
    const part = this.parts.shift()!;
    this.parts.push(part);
    this.#deferred.add(part);
    return part;
  }

  /**
   * Takes the first part off: its events are stored, or some are refused. If the first half is stored, the bad event must be in the second
   * half: that is split at once, without sending it whole. Only an event that was refused alone is ever taken for the bad one.
   */
  finish(as: 'stored' | 'refused'): void {
    const part = this.parts.shift()!;
    const twin = this.#twins.get(part);
    // After a 403 the order is another one: a half that was sent before, or that was cut, is not the one to cut now.
    if (as === 'refused' || !twin || twin.count === 1 || this.parts[0] !== twin || this.#deferred.has(twin)) return;
    // The request that would have sent it whole is saved.
    if (this.extraRequests + 1 > MAX_EXTRA_REQUESTS) return;
    this.extraRequests -= 1;
    this.split('fault');
  }
}

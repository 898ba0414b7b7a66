/**
 * How events become requests: in which parts, and in which encoding. Shared by the agent's batches and the client's chunks. Parts are cut
 * where the service does not take them, deterministically by event index, and a part's key is a hash of its parent's key and its place, so
 * that the same events keep the same key over retries and restarts. Under `auto` until a body in an encoding was stored at the address, a
 * refusal of one says nothing about its events: it is sent in the next encoding. The encoding stored then is remembered; a body refused in
 * every encoding is at fault itself.
 */
import { hash } from 'node:crypto';
import { ENCODINGS_KNOWN_MS, MAX_EXTRA_REQUESTS } from './limits.ts';
import type { Log } from './log.ts';
import type { CompressionSetting, Encoding, SendResult, Sink } from './sink.ts';
import type { Clock } from './time/clock.ts';

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

/** From the cheapest on. A 415 leads from each to the next. */
const ALLOWED: Readonly<Record<CompressionSetting, readonly Encoding[]>> = {
  auto: ['zstd', 'gzip', 'identity'],
  zstd: ['zstd', 'gzip', 'identity'],
  gzip: ['gzip', 'identity'],
  none: ['identity'],
};

/** Whose answer counts for a body that was refused in every encoding, where several say as much: any service takes gzip. */
const MEANT: readonly Encoding[] = ['gzip', 'identity', 'zstd'];

/** Statuses that services give to a body which they cannot read. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 406, 415, 422]);

export interface EncodingChoiceOptions {
  readonly sink: Pick<Sink, 'id' | 'address'>;
  readonly encodings: AddressEncodings;
  readonly compression: CompressionSetting;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

export class EncodingChoice {
  readonly #options: EncodingChoiceOptions;
  /** From now on. */
  setting: CompressionSetting;

  constructor(options: EncodingChoiceOptions) {
    this.#options = options;
    this.setting = options.compression;
  }

  /** Of bodies that were not sent yet. */
  get preferred(): Encoding {
    const { refused } = this.#known;
    return this.#allowed.find((encoding) => !refused.has(encoding)) ?? 'identity';
  }

  /** Of the part's next request. `isStrict`: also where compression makes it larger. */
  next(tries: Tries, part: EventRange): { readonly encoding: Encoding; readonly isStrict: boolean } {
    const { refused } = this.#known;
    const tried = tries.of(part);
    const untried = this.#allowed.filter((each) => !tried.has(each));
    const likely = untried.filter((each) => !refused.has(each));
    const encoding =
      likely.find((each) => each === tries.first) ?? likely[0] ?? untried[0] ?? tries.first ?? 'identity';
    return { encoding, isStrict: tried.size > 0 || tries.first !== undefined || refused.has('identity') };
  }

  /** The answer that says something about the part's events; undefined where it is to be sent in the next encoding. */
  judge(tries: Tries, part: EventRange, encoding: Encoding, sent: SendResult): SendResult | undefined {
    const isUnsupported = sent.status === 415 && encoding !== 'identity';
    const isOpen = this.setting === 'auto' && !this.#known.stored.has(encoding) && mayBeForEncoding(sent);
    if (!(isUnsupported || isOpen) || this.#isExhausted(tries, part)) return sent;
    tries.add(part, encoding, sent);
    if (!this.#isExhausted(tries, part)) return undefined;
    const tried = tries.of(part);
    const answered = MEANT.flatMap((each) => (tried.has(each) ? { encoding: each, sent: tried.get(each)! } : []));
    const meant = answered.toSorted((a, b) => weightOf(b.sent) - weightOf(a.sent))[0]!;
    tries.first = meant.encoding;
    return meant.sent;
  }

  /** `isFirst`: no earlier request under this key may have stored it, whose answer the service repeats whatever the encoding. */
  noteStored(tries: Tries, part: EventRange, encoding: Encoding, isFirst: boolean): void {
    const { stored, refused } = this.#known;
    if (isFirst) {
      stored.add(encoding);
      refused.delete(encoding);
    }
    if (this.#isExhausted(tries, part)) return;
    for (const [tried, { outcome, status }] of tries.of(part)) {
      if (tried === encoding || refused.has(tried) || (stored.has(tried) && status !== 415)) continue;
      refused.add(tried);
      stored.delete(tried);
      const { sink, log } = this.#options;
      log.warn(
        { sink: sink.id, refused: tried, sent: encoding, answer: 'detail' in outcome ? outcome.detail : '' },
        'the service does not take this compression; bodies are sent in another encoding, and it is asked again in a day',
      );
    }
  }

  get #allowed(): readonly Encoding[] {
    return ALLOWED[this.setting];
  }

  #isExhausted(tries: Tries, part: EventRange): boolean {
    const tried = tries.of(part);
    return this.#allowed.every((each) => tried.has(each));
  }

  get #known(): KnownEncodings {
    const { encodings, sink, clock } = this.#options;
    return encodings.of(`${this.setting} ${sink.address ?? sink.id}`, clock.monotonic());
  }
}

/**
 * How much an answer tells of the events of a body that was refused in every encoding. One that condemns them all counts only where all
 * do: it may be about the encoding.
 */
function weightOf({ outcome, status }: SendResult): number {
  if (status === 415) return 0;
  if (outcome.kind === 'partial') return 1;
  return outcome.kind === 'retry' ? 2 : 3;
}

function mayBeForEncoding({ outcome, status = 0 }: SendResult): boolean {
  if (outcome.kind === 'bisect') return UNREADABLE.has(status);
  return saysNothingStored(outcome) || (outcome.kind === 'retry' && outcome.reason === 'bad_answer');
}

/** The service says that it stored none of the events, and may repeat that to every request with the key. */
export function saysNothingStored(outcome: SendResult['outcome']): boolean {
  if (outcome.kind === 'retry') return outcome.isUnstored === true;
  return outcome.kind === 'partial' && outcome.stored === 0;
}

interface KnownEncodings {
  /** In which a body was stored. */
  readonly stored: Set<Encoding>;
  /** In which a body was refused that was stored in another. */
  readonly refused: Set<Encoding>;
}

/** What the addresses that bodies go to are known to store, shared by all sinks of a process and asked anew once a day. */
export class AddressEncodings {
  readonly #known = new Map<string, KnownEncodings & { readonly sinceMs: number }>();

  /** `nowMs` is monotonic. */
  of(address: string, nowMs: number): KnownEncodings {
    const known = this.#known.get(address);
    if (known && nowMs - known.sinceMs < ENCODINGS_KNOWN_MS) return known;
    const made = { stored: new Set<Encoding>(), refused: new Set<Encoding>(), sinceMs: nowMs };
    this.#known.set(address, made);
    return made;
  }
}

/** Events of a batch: a part keeps its place where its key changes. */
interface EventRange {
  readonly first: number;
  readonly count: number;
}

/** Encodings in which parts of one batch were refused, while it is not known whether for their events. */
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

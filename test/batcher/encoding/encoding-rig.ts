/**
 * Deliveries over a service of which a test says what it takes: bodies in some encodings, events that are not bad. One rig is one machine: its service and
 * the committed batches outlive the processes, which end by `kill`.
 */
import { AddressEncodings, type RequestPart, saysNothingStored } from '../../../src/core/requests.ts';
import { Accounting } from '../../../src/batcher/accounting.ts';
import { Batch, keyOf } from '../../../src/batcher/batch.ts';
import { MemoryBudget } from '../../../src/batcher/memory-budget.ts';
import type { Delivery } from '../../../src/batcher/send/delivery.ts';
import type { CompressionSetting, DeadLetter, Encoding, Outcome, SendResult } from '../../../src/core/sink.ts';
import { settleTurns, until } from '../../support/until.ts';
import { delivered, makeQueue, type OpenRequest, SinkRig } from '../sink-rig.ts';

/** What the service answers to a body that it does not read, or in which an event is bad. */
export const REFUSALS = {
  400: { outcome: { kind: 'bisect', detail: 'HTTP 400' }, status: 400 },
  406: { outcome: { kind: 'bisect', detail: 'HTTP 406' }, status: 406 },
  409: { outcome: { kind: 'bisect', detail: 'HTTP 409' }, status: 409 },
  415: { outcome: { kind: 'bisect', detail: 'HTTP 415' }, status: 415 },
  422: { outcome: { kind: 'bisect', detail: 'HTTP 422' }, status: 422 },
  bad: { outcome: { kind: 'retry', reason: 'bad_answer', detail: 'HTTP 200: not an ingest result' }, status: 200 },
  unstored: { outcome: { kind: 'retry', reason: 'bad_answer', detail: 'other counts', isUnstored: true }, status: 200 },
  nothing: undefined,
} satisfies Record<string, Answer | undefined>;
export type Refusal = keyof typeof REFUSALS;

interface Answer {
  readonly outcome: Outcome;
  readonly status: number;
}

export interface ServiceOptions {
  readonly takes: readonly Encoding[];
  /** To a body in another encoding. */
  readonly unread: Refusal;
  /** To a body with a bad event; `named`: all others are stored, and the bad ones named. */
  readonly bad: Exclude<Refusal, 'bad' | 'unstored'> | 'named';
  /** A 200 under a key is repeated to whatever comes with it. */
  readonly keepsKeys: boolean;
  /** Most events of a request. */
  readonly mostEvents: number;
}

interface Kept {
  readonly batch: Batch;
  parts: readonly RequestPart[];
  isSettled: boolean;
}

export class EncodingRig extends SinkRig {
  readonly service: ServiceOptions;
  /** Every event that was stored, as often as it was. */
  readonly stored: string[] = [];
  readonly letters = new Map<string, readonly DeadLetter[]>();
  readonly deliveries: Delivery[] = [];
  readonly #batches = new Map<string, Kept>();
  readonly #answers = new Map<string, SendResult>();
  readonly #settings: readonly CompressionSetting[];
  readonly #concurrency: number;
  #accounting = new Accounting('app');
  /** Requests after which the process is gone: the service stores, and nobody hears its answer. */
  #requestsLeft = Infinity;
  #whenKilled = Promise.withResolvers<void>();
  #id = 0;

  /** One sink for each setting, all at one address. */
  constructor(service: ServiceOptions, settings: readonly CompressionSetting[] = ['auto'], concurrency = 1) {
    super();
    this.service = service;
    this.#settings = settings;
    this.#concurrency = concurrency;
    this.respond = (request) => this.#answer(request);
    this.#start();
  }

  /** Hands a batch to a sink. Its events are `good…` or `bad…`. */
  take(events: readonly string[], sink = 0): void {
    const batch = this.#batchOf(++this.#id, events, sink);
    this.#batches.set(batch.key, { batch, parts: [], isSettled: false });
    this.deliveries[sink]!.enqueue(batch);
  }

  /** The process ends without a word after `requests` more of them, and another starts. */
  async restartAfter(requests: number): Promise<void> {
    this.#requestsLeft = requests;
    this.#whenKilled = Promise.withResolvers();
    await until('its end', async () => {
      await this.clock.advance(1000);
      return this.isDone || this.#requestsLeft <= 0;
    });
    if (this.isDone) return;
    this.#whenKilled.resolve();
    await Promise.all(this.deliveries.splice(0).map((delivery) => delivery.stop()));
    this.#requestsLeft = Infinity;
    this.#accounting = new Accounting('app');
    this.#start();
    for (const kept of this.#batches.values()) {
      if (kept.isSettled) continue;
      const { id, owner } = kept.batch;
      const events = this.#texts.get(id)!;
      const batch = this.#batchOf(id, events, Number(owner.slice(4)));
      batch.isCommitted = true;
      this.#batches.set(batch.key, { ...kept, batch });
      this.deliveries[Number(owner.slice(4))]!.enqueue(batch, kept.parts);
    }
  }

  /** Lets time pass until everything is settled; rejects where requests go on and on. */
  async finish(): Promise<void> {
    const most = this.requests.length + 3000;
    await until('everything settled', async () => {
      await this.clock.advance(1000);
      if (this.requests.length > most) throw new Error('requests never end');
      return this.isDone;
    });
  }

  get isDone(): boolean {
    return [...this.#batches.values()].every(({ isSettled }) => isSettled);
  }

  get buried(): string[] {
    return [...this.letters.values()].flat().map(({ event }) => Buffer.from(event).toString());
  }

  get encodings(): Encoding[] {
    return this.requests.map(({ sent }) => sent.encoding);
  }

  get settled() {
    return this.#accounting.settled;
  }

  readonly #texts = new Map<number, readonly string[]>();

  #batchOf(id: number, events: readonly string[], sink: number): Batch {
    this.#texts.set(id, events);
    const body = Buffer.from(events.map((event) => `${event}\n`).join(''));
    const batch = new Batch(id, `sink${sink}`, 'logs', 'file', { body });
    const marks = { digest: 'd', sum: 1, tail: { length: 1, crc: 1 }, closed: false };
    const place = {
      source: 'app',
      stream: 's1',
      from: id * 100_000,
      to: id * 100_000 + body.length,
      events: events.length,
    };
    batch.spans.push({ ...place, ...marks, accounting: this.#accounting, firstEvent: this.#accounting.accepted });
    this.#accounting.accept(events.length, 1);
    batch.events = events.length;
    batch.payload.bytes = body.length;
    batch.key = keyOf(batch.owner, batch.dataset, batch.spans);
    return batch;
  }

  #start(): void {
    const encodings = new AddressEncodings();
    const budget = new MemoryBudget(64 * 1024 * 1024, 1024, []);
    for (const [index, compression] of this.#settings.entries()) {
      const store = {
        commit: () => {},
        commitParts: (batch: Batch, parts: readonly RequestPart[]) => {
          this.#batches.get(batch.key)!.parts = parts.map(({ first, count, key }) => ({ first, count, key }));
        },
        load: () => Promise.resolve(),
        evict: () => {},
        settle: (batch: Batch) => {
          if (this.#requestsLeft > 0) this.#batches.get(batch.key)!.isSettled = true;
        },
      };
      const deadLetter = (name: string, letters: readonly DeadLetter[]) => {
        this.letters.set(name, letters);
        return Promise.resolve('kept' as const);
      };
      const sink = {
        id: `sink${index}`,
        address: 'http://127.0.0.1',
        send: (...[request, signal]: Parameters<typeof this.send>) => this.send(request, signal),
        close: () => Promise.resolve(),
      };
      this.deliveries.push(
        this.deliveryOf({
          ...{ sink, encodings, compression, store, deadLetter },
          queue: makeQueue(budget, this.#concurrency),
        }).delivery,
      );
    }
  }

  protected override async send(...[request, signal]: Parameters<SinkRig['send']>): Promise<SendResult> {
    const isLast = --this.#requestsLeft <= 0;
    const result = await super.send(request, signal);
    if (isLast) await this.#whenKilled.promise;
    if (isLast) throw signal.reason instanceof Error ? signal.reason : new Error('killed');
    await settleTurns();
    return result;
  }

  #answer({ sent, events }: OpenRequest): SendResult {
    const kept = this.#answers.get(sent.key);
    if (kept) return kept;
    const result = { elapsedMs: 1, ...this.#decide(sent.encoding, events) };
    // Keys keep ingest results alone.
    const isResult =
      result.outcome.kind === 'delivered' || saysNothingStored(result.outcome) || result.outcome.kind === 'partial';
    if (this.service.keepsKeys && isResult) this.#answers.set(sent.key, result);
    return result;
  }

  #decide(encoding: Encoding, events: readonly string[]): Answer {
    const { takes, unread, bad, mostEvents } = this.service;
    if (!takes.includes(encoding)) return REFUSALS[unread] ?? nothingOf(events.length);
    if (events.length > mostEvents) return { outcome: { kind: 'halve', detail: 'HTTP 413' }, status: 413 };
    const isBad = (event: string): boolean => event.includes('bad');
    const failed = events.filter(isBad).length;
    if (failed > 0 && bad !== 'named') return REFUSALS[bad] ?? nothingOf(events.length);
    this.stored.push(...events.filter((event) => !isBad(event)));
    if (failed === 0) return { outcome: delivered(events.length), status: 200 };
    const failures = events.flatMap((event, index) => (isBad(event) ? [{ index, timestamp: '', error: 'bad' }] : []));
    return {
      outcome: { kind: 'partial', stored: events.length - failed, failed, failures, detail: `${failed} rejected` },
      status: 200,
    };
  }
}

function nothingOf(failed: number): Answer {
  const failures = Array.from({ length: failed }, (_, index) => ({ index, timestamp: '', error: 'not JSON' }));
  return {
    outcome: { kind: 'partial', stored: 0, failed, failures, detail: `${failed} of ${failed} events were rejected` },
    status: 200,
  };
}

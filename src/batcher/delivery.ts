/**
 * Delivery of one sink: takes closed batches, commits their spans, sends them, and does what the outcome says: settle,
 * wait, halve, bisect, dead-letter or pause (CONTRACT.md, "Delivery promise"). Nothing leaves here but by being settled.
 */
import PQueue from 'p-queue';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { DeadLetter, IngestResult, Outcome, SendResult, Sink } from '../core/sink.ts';
import type { StoredBatch, StoredPart } from '../state/store.ts';
import { type BackoffOptions, nextBackoffMs } from './backoff.ts';
import { type Batch, keyOf } from './batch.ts';
import { Concurrency } from './concurrency.ts';
import { compress } from './compress.ts';
import { locateFailures } from './events.ts';
import { lettersOf, type Part, type Refusal, Shipment } from './shipment.ts';
import type { Room } from './room.ts';

/** Bad answers in a row after which the dataset pauses, so that a lying service is not fed endless duplicates. */
const BAD_ANSWERS_BEFORE_PAUSE = 5;
/** Requests beyond the first that finding the events at fault in one batch may cost. */
const MAX_EXTRA_REQUESTS = 64;

export interface DeliveryOptions {
  readonly sink: Sink;
  readonly room: Room;
  readonly concurrency: number;
  readonly compression: 'gzip' | 'zstd' | 'none';
  readonly retry: BackoffOptions & { readonly maxElapsedMs: number };
  readonly clock: Clock;
  readonly log: Log;
  random(): number;
  /** Persists spans and keys before the first send. Throws when the disk refuses. */
  commit(batches: readonly StoredBatch[]): void;
  /** Persists the parts that a batch is sent in from now on, before the first of them is sent. Throws when the disk refuses. */
  commitParts(batch: number, parts: readonly StoredPart[]): void;
  /** Keeps dead letters durably under a name; the same name again replaces them. Rejects when they cannot be kept now. */
  bury(name: string, letters: readonly DeadLetter[]): Promise<void>;
  /** Told when a dataset is paused. */
  paused(dataset: string): void;
  /** Moves the marks of a batch whose spans were committed. */
  settle(batch: StoredBatch): void;
}

/** Why a dataset is paused. */
export interface Pause {
  readonly reason: string;
  readonly detail: string;
  readonly fix: string;
}

export interface DeliveryStats {
  readonly requests: Map<string, number>;
  readonly retries: Map<string, number>;
  sentBytes: number;
  readonly ingested: Map<string, number>;
  readonly failed: Map<string, number>;
  readonly deadLetters: Map<string, number>;
  processedBytes: number;
  blocksCreated: number;
  walLength: number;
}

/** Told of every finished request and every settled batch, for histograms. */
export interface DeliveryObserver {
  request(sink: string, seconds: number): void;
  batch(sink: string, events: number, bytes: number): void;
}

/** What to do after a request: go on with the next part, try the same again, or leave it to a probe. */
type Next = 'go on' | 'again' | 'park';

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #observer: DeliveryObserver;
  readonly #queue: PQueue;
  readonly #concurrency: Concurrency;
  readonly #closed: Batch[] = [];
  readonly #inFlight = new Set<Batch>();
  readonly #shipments = new WeakMap<Batch, Shipment>();
  readonly #pauses = new Map<string, Pause>();
  readonly #abort = new AbortController();
  #whenEmpty = Promise.withResolvers<void>();
  #compression: 'gzip' | 'zstd' | 'none';
  #notBefore = 0;
  #badAnswers = 0;
  readonly stats: DeliveryStats = {
    requests: new Map(),
    retries: new Map(),
    sentBytes: 0,
    ingested: new Map(),
    failed: new Map(),
    deadLetters: new Map(),
    processedBytes: 0,
    blocksCreated: 0,
    walLength: 0,
  };

  constructor(options: DeliveryOptions, observer: DeliveryObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#queue = new PQueue({ concurrency: options.concurrency });
    this.#concurrency = new Concurrency(options.concurrency);
    this.#compression = options.compression;
  }

  /** Takes a closed batch. One that was restored brings its key, and its parts where it was split. */
  seal(batch: Batch, parts?: readonly Part[]): void {
    if (batch.key === '') batch.key = keyOf(batch.sink, batch.dataset, batch.spans);
    if (parts && parts.length > 0) this.#shipments.set(batch, new Shipment(batch, parts));
    this.#closed.push(batch);
    this.#startWorker();
  }

  /** False while enough closed batches wait to keep every worker busy. */
  wantsMore(): boolean {
    return this.#closed.length < this.#options.concurrency;
  }

  /** Batches that are closed and not settled, for the books. */
  held(): Batch[] {
    return [...this.#closed, ...this.#inFlight];
  }

  /** Paused datasets and why; empty while all is well. */
  get pauses(): ReadonlyMap<string, Pause> {
    return this.#pauses;
  }

  /** Requests that may be under way at once, now. */
  get concurrency(): number {
    return this.#concurrency.limit;
  }

  /** Resolves when nothing is held, or when `signal` aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const given = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted && this.held().length > 0) await Promise.race([this.#whenEmpty.promise, given]);
  }

  /** Ends requests and waits under way; what is not settled stays where it is durable. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#queue.clear();
    await this.#queue.onIdle();
  }

  #startWorker(): void {
    this.#queue
      .add(() => this.#next())
      .catch((error: unknown) => {
        this.#options.log.error(
          { sink: this.#options.sink.id, reason: messageOf(error) },
          'delivery failed by a fault of its own; the batch is held until a restart',
        );
      });
  }

  /** One ticket of the queue: the oldest batch whose dataset is not paused. */
  async #next(): Promise<void> {
    const index = this.#closed.findIndex((batch) => !this.#pauses.has(batch.dataset));
    if (index >= 0) await this.#takeOut(index);
  }

  async #takeOut(index: number): Promise<void> {
    const [batch] = this.#closed.splice(index, 1);
    this.#inFlight.add(batch!);
    this.#options.room.wake();
    const settled = await this.#deliver(batch!);
    this.#inFlight.delete(batch!);
    if (!settled) this.#closed.unshift(batch!);
    else if (this.held().length === 0) {
      this.#whenEmpty.resolve();
      this.#whenEmpty = Promise.withResolvers();
    }
  }

  /** Sends until the batch is settled; false when its dataset is paused or the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    await this.#compress(batch);
    if (!(await this.#commit(batch))) return false;
    const shipment = this.#shipments.get(batch) ?? new Shipment(batch);
    this.#shipments.set(batch, shipment);
    while (shipment.parts.length > 0 && batch.events > 0) {
      await this.#waitForTurn();
      if (this.#abort.signal.aborted) return false;
      const next = await this.#sendPart(shipment, shipment.parts[0]!);
      if (next === 'park') return false;
    }
    this.#settle(batch, shipment);
    return true;
  }

  /** A shared wait that the service asked for, then a place among the requests under way. */
  async #waitForTurn(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const waitMs = this.#notBefore - clock.monotonic();
      if (waitMs <= 0 || this.#abort.signal.aborted) return;
      await clock.sleep(waitMs, this.#abort.signal);
    }
  }

  async #sendPart(shipment: Shipment, part: Part): Promise<Next> {
    const parcel = await shipment.parcelOf(part, this.#compression);
    shipment.batch.attempts += 1;
    shipment.firstSentMs ??= this.#options.clock.monotonic();
    let sent: SendResult;
    try {
      sent = await this.#options.sink.send(parcel, this.#abort.signal);
    } catch (error) {
      if (this.#abort.signal.aborted) return 'park';
      throw error;
    }
    add(this.stats.requests, String(sent.status || 'none'), 1);
    this.stats.sentBytes += parcel.body.length;
    this.#observer.request(this.#options.sink.id, sent.elapsedMs / 1000);
    return this.#act(shipment, part, sent);
  }

  async #act(shipment: Shipment, part: Part, { outcome, status, elapsedMs }: SendResult): Promise<Next> {
    const { batch } = shipment;
    if (outcome.kind === 'retry') return this.#retry(shipment, part, outcome, status);
    this.#badAnswers = 0;
    switch (outcome.kind) {
      case 'delivered':
        this.#adapt(() => this.#concurrency.noteSuccess(elapsedMs));
        this.#noteStored(batch, outcome.result);
        return this.#finish(shipment);
      case 'partial':
        this.#noteStored(batch, outcome.result);
        return this.#settlePartly(shipment, part, outcome, status);
      case 'pause':
        this.#pause(batch.dataset, outcome);
        return 'park';
      case 'uncompress':
        this.#options.log.warn(
          { sink: this.#options.sink.id, answer: outcome.detail },
          'the service does not take this compression; sending uncompressed from now on (compression: none says so from the start)',
        );
        this.#compression = 'none';
        return 'again';
      case 'halve':
        if (part.count > 1) return this.#split(shipment);
        return this.#refuse(shipment, part, { reason: 'too_large', detail: outcome.detail, status });
      case 'bisect':
        return this.#bisect(shipment, part, outcome.detail, status);
    }
  }

  /** The rest of a partly stored part is delivered when the service named exactly the failed events; else halves find them. */
  async #settlePartly(shipment: Shipment, part: Part, outcome: Extract<Outcome, { kind: 'partial' }>, status: number): Promise<Next> {
    const found = locateFailures(shipment.plainOf(part), outcome.failures, outcome.result.failed);
    if (!found && outcome.result.failed < part.count) return this.#bisect(shipment, part, outcome.detail, status);
    const refusals =
      found ??
      new Map(
        Array.from({ length: part.count }, (_, index) => [
          index,
          outcome.failures[index]?.error ?? outcome.failures[0]?.error ?? outcome.detail,
        ]),
      );
    const indexed = new Map(
      [...refusals].map(([index, detail]): [number, Refusal] => [
        part.first + index,
        { reason: 'rejected', detail, status, key: part.key },
      ]),
    );
    return this.#bury(shipment, part, indexed);
  }

  #bisect(shipment: Shipment, part: Part, detail: string, status: number): Promise<Next> | Next {
    if (part.count === 1) return this.#refuse(shipment, part, { reason: 'rejected', detail, status });
    if (shipment.extraRequests >= MAX_EXTRA_REQUESTS) return this.#refuse(shipment, part, { reason: 'unresolved', detail, status });
    shipment.extraRequests += 2;
    return this.#split(shipment);
  }

  async #split(shipment: Shipment): Promise<Next> {
    shipment.split();
    return this.#commitParts(shipment);
  }

  #refuse(shipment: Shipment, part: Part, refusal: Omit<Refusal, 'key'>): Promise<Next> {
    const all = Array.from({ length: part.count }, (_, index): [number, Refusal] => [part.first + index, { ...refusal, key: part.key }]);
    return this.#bury(shipment, part, new Map(all));
  }

  /** Keeps the refused events of the part as dead letters; until that is possible the batch is held. */
  async #bury(shipment: Shipment, part: Part, refusals: ReadonlyMap<number, Refusal>): Promise<Next> {
    const { log, clock, sink, retry } = this.#options;
    for (;;) {
      try {
        await this.#options.bury(part.key, lettersOf(shipment, refusals));
        break;
      } catch (error) {
        log.error(
          { sink: sink.id, events: refusals.size, reason: messageOf(error) },
          'dead letters cannot be kept, so their batch waits; free space in data_dir, or replay or drop dead letters',
        );
        await clock.sleep(retry.maxBackoffMs, this.#abort.signal);
        if (this.#abort.signal.aborted) return 'park';
      }
    }
    for (const [index, refusal] of refusals) {
      shipment.refused.set(index, refusal);
      add(this.stats.deadLetters, refusal.reason, 1);
    }
    const [first] = refusals.values();
    log.warn(
      { sink: sink.id, dataset: shipment.batch.dataset, events: refusals.size, reason: first?.reason, answer: first?.detail },
      'events were refused and kept as dead letters; see `tailrace dead-letters list`',
    );
    return this.#finish(shipment);
  }

  #finish(shipment: Shipment): Promise<Next> | Next {
    const whole = shipment.isWhole;
    shipment.finish();
    return whole || shipment.parts.length === 0 ? 'go on' : this.#commitParts(shipment);
  }

  async #retry(shipment: Shipment, part: Part, outcome: Extract<Outcome, { kind: 'retry' }>, status: number): Promise<Next> {
    const { clock, retry, log, sink } = this.#options;
    const { batch } = shipment;
    const { reason, detail } = outcome;
    add(this.stats.retries, reason, 1);
    this.#badAnswers = reason === 'bad_answer' ? this.#badAnswers + 1 : 0;
    if (this.#badAnswers >= BAD_ANSWERS_BEFORE_PAUSE) {
      this.#pause(batch.dataset, { reason, detail, fix: "check that the url is the service's own and that no proxy answers in its place" });
      return 'park';
    }
    if (reason === 'rate_limited' || reason === 'timeout' || status === 503) this.#adapt(() => this.#concurrency.noteOverload());
    if (clock.monotonic() - (shipment.firstSentMs ?? 0) > retry.maxElapsedMs)
      return this.#refuse(shipment, part, { reason: 'expired', detail, status });
    const backoffMs = nextBackoffMs(retry, batch.attempts, () => this.#options.random());
    const waitMs = outcome.afterMs === undefined ? backoffMs : Math.min(outcome.afterMs, MAX_RETRY_AFTER_MS);
    if (outcome.afterMs !== undefined) this.#notBefore = Math.max(this.#notBefore, clock.monotonic() + waitMs);
    if (batch.attempts === 1 || batch.attempts % 10 === 0) {
      log.warn(
        { sink: sink.id, dataset: batch.dataset, reason, answer: detail, attempt: batch.attempts, waitMs: Math.round(waitMs) },
        'batch was not stored; it is sent again',
      );
    }
    await clock.sleep(waitMs, this.#abort.signal);
    return this.#abort.signal.aborted ? 'park' : 'again';
  }

  /** Stops sending to the dataset and asks the service again from time to time, with its oldest batch. */
  #pause(dataset: string, pause: Pause): void {
    const { log, sink, clock, retry } = this.#options;
    if (this.#pauses.get(dataset)?.reason !== pause.reason) {
      log.error(
        { sink: sink.id, dataset, reason: pause.reason, answer: pause.detail, fix: pause.fix },
        'delivery is paused; nothing is dropped, and the service is asked again',
      );
    }
    this.#pauses.set(dataset, { reason: pause.reason, detail: pause.detail, fix: pause.fix });
    this.#options.paused(dataset);
    const waitMs = retry.maxBackoffMs * (0.5 + this.#options.random() / 2);
    void clock.sleep(waitMs, this.#abort.signal).then(() => this.#probe(dataset));
  }

  #probe(dataset: string): void {
    if (this.#abort.signal.aborted) return;
    void this.#queue.add(async () => {
      const index = this.#closed.findIndex((batch) => batch.dataset === dataset);
      if (index >= 0 && !this.#abort.signal.aborted) await this.#takeOut(index);
    });
  }

  #resume(dataset: string): void {
    if (!this.#pauses.delete(dataset)) return;
    this.#options.log.info({ sink: this.#options.sink.id, dataset }, 'the service takes events again; delivery goes on');
    for (const batch of this.#closed) if (batch.dataset === dataset) this.#startWorker();
  }

  async #compress(batch: Batch): Promise<void> {
    if (
      this.#compression === 'none' ||
      batch.encoding !== 'identity' ||
      batch.events === 0 ||
      batch.key === '' ||
      this.#shipments.has(batch)
    )
      return;
    const body = await compress(batch.body, this.#compression);
    const { slot, memory } = batch;
    batch.body = body;
    batch.encoding = this.#compression;
    batch.memory = body.length;
    batch.slot = undefined;
    if (slot) this.#options.room.swap(slot, body.length);
    else this.#options.room.release(memory - body.length, undefined);
  }

  /** Commits this batch and every other one that waits for it, in one transaction. False when the agent stops first. */
  #commit(batch: Batch): Promise<boolean> {
    return this.#persist(() => {
      if (batch.committed) return;
      const group = this.held().filter((each) => !each.committed);
      const rows = group.filter((each) => each.rereadable).map((each) => each.toStored());
      if (rows.length > 0) this.#options.commit(rows);
      for (const each of group) each.committed = true;
    });
  }

  async #commitParts(shipment: Shipment): Promise<Next> {
    const { batch, parts } = shipment;
    if (!batch.rereadable) return 'go on';
    return (await this.#persist(() => this.#options.commitParts(batch.id, parts))) ? 'go on' : 'park';
  }

  /** Writes to the database, again and again while the disk refuses; nothing is sent meanwhile. */
  async #persist(write: () => void): Promise<boolean> {
    const { log, sink, clock, retry } = this.#options;
    for (;;) {
      try {
        write();
        return true;
      } catch (error) {
        log.error(
          { sink: sink.id, reason: messageOf(error) },
          'cannot save the positions of a batch, so it is not sent yet; free space in data_dir, it goes on by itself',
        );
        await clock.sleep(retry.maxBackoffMs, this.#abort.signal);
        if (this.#abort.signal.aborted) return false;
      }
    }
  }

  #settle(batch: Batch, shipment: Shipment): void {
    let index = 0;
    for (const span of batch.spans) {
      let from = span.firstEvent;
      for (let number = span.firstEvent; number < span.firstEvent + span.events && shipment.refused.size > 0; number++) {
        if (!shipment.refused.has(index + number - span.firstEvent)) continue;
        span.books.settle(from, number, 'delivered');
        span.books.settle(number, number + 1, 'dead_lettered');
        from = number + 1;
      }
      span.books.settle(from, span.firstEvent + span.events, 'delivered');
      index += span.events;
    }
    this.#inFlight.delete(batch);
    if (batch.rereadable) this.#options.settle(batch.toStored());
    this.#options.room.release(batch.memory, batch.slot);
    this.#observer.batch(this.#options.sink.id, batch.events, batch.bytes);
  }

  #noteStored(batch: Batch, result: IngestResult): void {
    const { stats } = this;
    add(stats.ingested, batch.dataset, result.ingested);
    add(stats.failed, batch.dataset, result.failed);
    stats.processedBytes += result.processedBytes;
    stats.blocksCreated += result.blocksCreated;
    stats.walLength = result.walLength;
    this.#resume(batch.dataset);
  }

  #adapt(change: () => void): void {
    change();
    if (this.#queue.concurrency !== this.#concurrency.limit) this.#queue.concurrency = this.#concurrency.limit;
  }
}

function add(map: Map<string, number>, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}

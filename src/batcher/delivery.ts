/**
 * Delivery of one sink: takes closed batches, commits their spans, sends them, and does what the outcome says: settle,
 * wait, halve, bisect, dead-letter or pause (docs/delivery.md). Nothing leaves here but by being settled.
 */
import PQueue from 'p-queue';
import type { Clock } from '../core/clock.ts';
import { codeOf, messageOf } from '../core/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { DeadLetter, IngestResult, Outcome, SendResult, Sink } from '../core/sink.ts';
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

/** What keeps a batch safe while it is held: the database (files can be read again) or the disk buffer. */
export interface Durability {
  /** Persists spans and keys before the first send. Throws when the disk refuses. */
  commit(batches: readonly Batch[]): void;
  /** Persists the parts that a batch is sent in from now on, before the first of them is sent. Throws or rejects when the disk refuses. */
  commitParts(batch: Batch, parts: readonly Part[]): Promise<void> | void;
  /** Brings the body of a batch that left memory back. Rejects with `E_SPOOL_BROKEN` when it is gone for good. */
  load(batch: Batch): Promise<void>;
  /** Lets the body of a batch leave memory, where it is safe elsewhere. */
  evict(batch: Batch): void;
  /** The batch is settled: marks move, its file goes. */
  settle(batch: Batch): void;
}

export interface DeliveryOptions {
  readonly sink: Sink;
  readonly room: Room;
  readonly concurrency: number;
  readonly compression: 'gzip' | 'zstd' | 'none';
  /** Turns NDJSON into the body that is sent, before compression; undefined sends it as it is. Pure. */
  readonly encode?: ((ndjson: Buffer) => Uint8Array) | undefined;
  readonly retry: BackoffOptions & { readonly maxElapsedMs: number };
  readonly clock: Clock;
  readonly log: Log;
  /** Batches that close within this time of a commit share the next one: a transaction costs as much as sending 100 KiB. */
  readonly commitEveryMs: number;
  random(): number;
  readonly durability: Durability;
  /**
   * Keeps dead letters durably under a name; the same name again replaces them. Resolves with `dropped` where a full store's
   * policy says so; rejects when they cannot be kept now.
   */
  bury(name: string, letters: readonly DeadLetter[]): Promise<'kept' | 'dropped'>;
  /** Told when a dataset is paused. */
  paused(dataset: string): void;
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

/** A service that stores nothing for this long while draining is not waited for, when nothing can be lost. */
const HOPELESS_AFTER_MS = 5000;
const DRAIN_CHECK_MS = 250;

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
  /** Datasets whose next probe is on its way. */
  readonly #probes = new Set<string>();
  readonly #abort = new AbortController();
  #whenEmpty = Promise.withResolvers<void>();
  #compression: 'gzip' | 'zstd' | 'none';
  #notBefore = 0;
  /** Monotonic milliseconds of the last request that stored something, and of the last one that did not. */
  #storedAtMs = -Infinity;
  #failedAtMs = -Infinity;
  /** Why the last request stored nothing; undefined once one did. */
  #lastFailure: string | undefined;
  #badAnswers = 0;
  #committedAtMs = -Infinity;
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

  /**
   * False while enough closed batches of files wait to keep every worker busy: files can wait where they are. A paused
   * dataset has its own count, and all paused ones together at most half of the memory, so that they do not starve the others.
   */
  wantsMore(dataset: string): boolean {
    const { concurrency, room } = this.#options;
    const isPaused = this.#pauses.has(dataset);
    let waiting = 0;
    let pausedBytes = 0;
    for (const batch of this.#closed) {
      if (this.#pauses.has(batch.dataset)) pausedBytes += batch.memory;
      if (batch.rereadable && (isPaused ? batch.dataset === dataset : !this.#pauses.has(batch.dataset))) waiting += 1;
    }
    return waiting < concurrency && (!isPaused || pausedBytes < room.budgetBytes / 2);
  }

  /** True while a worker will take this closed batch soon, so that its body may as well stay in memory. */
  isNext(batch: Batch): boolean {
    return this.#inFlight.has(batch) || (this.#closed.indexOf(batch) < this.#options.concurrency && !this.#pauses.has(batch.dataset));
  }

  /** True while no batch waits for a worker. */
  isIdle(): boolean {
    return this.#closed.length === 0;
  }

  /** Gives the batch its key and compresses it, before it is written anywhere. */
  async prepare(batch: Batch): Promise<void> {
    if (batch.key === '') batch.key = keyOf(batch.sink, batch.dataset, batch.spans);
    await this.#compress(batch);
  }

  /** Settles a batch as dropped by policy. */
  drop(batch: Batch): void {
    for (const span of batch.spans) span.books.settle(span.firstEvent, span.firstEvent + span.events, 'dropped');
    this.#leave(batch);
  }

  /** Drops the oldest batch that is in the disk buffer and not being sent; false when there is none. */
  dropOldest(): boolean {
    const index = this.#closed.findIndex((batch) => batch.spoolName !== undefined);
    if (index < 0) return false;
    const [batch] = this.#closed.splice(index, 1);
    this.drop(batch!);
    return true;
  }

  /** Batches that are closed and not settled, for the books; oldest first, as marks need them committed. */
  held(): Batch[] {
    return [...this.#inFlight, ...this.#closed];
  }

  /** The parts still to be sent of a batch that was split; undefined for one that is whole. */
  partsOf(batch: Batch): readonly Part[] | undefined {
    const shipment = this.#shipments.get(batch);
    return shipment && !shipment.isWhole ? shipment.parts : undefined;
  }

  /** Paused datasets and why; empty while all is well. */
  get pauses(): ReadonlyMap<string, Pause> {
    return this.#pauses;
  }

  /** Why the last request that failed was not stored, `reason: detail`; undefined since one was stored. */
  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** Requests that may be under way at once, now. */
  get concurrency(): number {
    return this.#concurrency.limit;
  }

  /**
   * Resolves when nothing is held, or when `signal` aborts; sooner where nothing is gained by waiting: the service takes
   * nothing, or every dataset is paused, and everything held is safe on disk.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const since = clock.monotonic();
    const isPaused = (): boolean => this.#inFlight.size === 0 && this.#closed.every((batch) => this.#pauses.has(batch.dataset));
    const isRefused = (): boolean => clock.monotonic() - since > HOPELESS_AFTER_MS && this.#failedAtMs > Math.max(since, this.#storedAtMs);
    const isHopeless = (): boolean => (isPaused() || isRefused()) && this.held().every((batch) => batch.isDurable);
    const given = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted && this.held().length > 0 && !isHopeless()) {
      await Promise.race([this.#whenEmpty.promise, given, clock.sleep(DRAIN_CHECK_MS, signal)]);
    }
  }

  /** Ends requests and waits under way; what is not settled stays where it is durable. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#queue.onIdle();
  }

  #startWorker(): void {
    this.#queue.add(() => this.#next()).catch((error: unknown) => this.#reportFault(error));
  }

  #reportFault(error: unknown): void {
    this.#options.log.error(
      { sink: this.#options.sink.id, reason: messageOf(error) },
      'delivery failed by a fault of its own; the batch is held until a restart',
    );
  }

  /** One ticket of the queue: the oldest batch whose dataset is not paused. */
  async #next(): Promise<void> {
    const index = this.#closed.findIndex((batch) => !this.#pauses.has(batch.dataset));
    if (index >= 0 && !this.#abort.signal.aborted) await this.#takeOut(index);
  }

  async #takeOut(index: number): Promise<void> {
    const [batch] = this.#closed.splice(index, 1);
    this.#inFlight.add(batch!);
    this.#options.room.wake();
    const settled = await this.#deliver(batch!);
    this.#inFlight.delete(batch!);
    if (!settled) {
      this.#closed.unshift(batch!);
      this.#shipments.get(batch!)?.release();
      this.#options.durability.evict(batch!);
      // The dataset may have gone on while this batch was on its way back.
      if (!this.#pauses.has(batch!.dataset) && !this.#abort.signal.aborted) this.#startWorker();
    } else if (this.held().length === 0) {
      this.#whenEmpty.resolve();
      this.#whenEmpty = Promise.withResolvers();
    }
  }

  /** Sends until the batch is settled; false when its dataset is paused or the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    if (!(await this.#load(batch))) return batch.spans.length === 0;
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

  /** False when the batch is not in memory: the agent stops, or its file is damaged; the batch is then dropped, and has no spans. */
  async #load(batch: Batch): Promise<boolean> {
    const { log, sink, durability } = this.#options;
    try {
      return await this.#persist(
        () => durability.load(batch),
        'cannot read a batch of the disk buffer, so it is not sent yet; it is tried again',
      );
    } catch (error) {
      log.error(
        { sink: sink.id, events: batch.events, reason: messageOf(error) },
        'a batch of the disk buffer cannot be read any more; its events are counted as dropped',
      );
      this.drop(batch);
      batch.spans.length = 0;
      return false;
    }
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
    const parcel = await shipment.parcelOf(part, this.#compression, this.#options.encode);
    shipment.batch.attempts += 1;
    shipment.firstSentMs ??= this.#options.clock.monotonic();
    let sent: SendResult;
    try {
      sent = await this.#options.sink.send(parcel, this.#abort.signal);
    } catch (error) {
      if (this.#abort.signal.aborted) return 'park';
      throw error;
    }
    if (sent.unsent !== true) {
      add(this.stats.requests, String(sent.status || 'none'), 1);
      this.stats.sentBytes += parcel.body.length;
      this.#observer.request(this.#options.sink.id, sent.elapsedMs / 1000);
    }
    return this.#act(shipment, part, sent);
  }

  async #act(shipment: Shipment, part: Part, { outcome, status, elapsedMs }: SendResult): Promise<Next> {
    const { batch } = shipment;
    const isStored = outcome.kind === 'delivered' || outcome.kind === 'partial';
    if (isStored) {
      this.#storedAtMs = this.#options.clock.monotonic();
      this.#lastFailure = undefined;
    } else this.#failedAtMs = this.#options.clock.monotonic();
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
    let fate: 'kept' | 'dropped';
    for (;;) {
      try {
        fate = await this.#options.bury(part.key, lettersOf(shipment, refusals));
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
      shipment.refused.set(index, { ...refusal, fate });
      if (fate === 'kept') add(this.stats.deadLetters, refusal.reason, 1);
    }
    const [first] = refusals.values();
    const outcome =
      fate === 'kept'
        ? 'kept as dead letters; see `tailrace dead-letters list`'
        : 'dropped, because the dead letters are full (dead_letter.when_full)';
    log.warn(
      { sink: sink.id, dataset: shipment.batch.dataset, events: refusals.size, reason: first?.reason, answer: first?.detail },
      `events were refused and ${outcome}`,
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
    this.#lastFailure = `${reason}: ${detail}`;
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
    // A service that asks for no wait at all, or for one that is over, still gets the backoff.
    const waitMs = Math.max(backoffMs, Math.min(outcome.afterMs ?? 0, MAX_RETRY_AFTER_MS));
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
    const { log, sink } = this.#options;
    if (this.#pauses.get(dataset)?.reason !== pause.reason) {
      log.error(
        { sink: sink.id, dataset, reason: pause.reason, answer: pause.detail, fix: pause.fix },
        'delivery is paused; nothing is dropped, and the service is asked again',
      );
    }
    this.#pauses.set(dataset, { reason: pause.reason, detail: pause.detail, fix: pause.fix });
    this.#options.paused(dataset);
    this.#scheduleProbe(dataset);
  }

  /** One probe at a time for a dataset, about once per max_backoff. */
  #scheduleProbe(dataset: string): void {
    if (this.#probes.has(dataset)) return;
    this.#probes.add(dataset);
    const { clock, retry } = this.#options;
    const waitMs = retry.maxBackoffMs * (0.5 + this.#options.random() / 2);
    void clock
      .sleep(waitMs, this.#abort.signal)
      .then(() => this.#queue.add(() => this.#probe(dataset)))
      .catch((error: unknown) => this.#reportFault(error));
  }

  async #probe(dataset: string): Promise<void> {
    this.#probes.delete(dataset);
    if (this.#abort.signal.aborted || !this.#pauses.has(dataset)) return;
    const index = this.#closed.findIndex((batch) => batch.dataset === dataset);
    if (index >= 0) await this.#takeOut(index);
    // Still paused without a probe: there was nothing to ask with, or the answer was no outcome of its own.
    if (this.#pauses.has(dataset)) this.#scheduleProbe(dataset);
  }

  #resume(dataset: string): void {
    if (!this.#pauses.delete(dataset)) return;
    this.#options.log.info({ sink: this.#options.sink.id, dataset }, 'the service takes events again; delivery goes on');
    // Counted first: a worker takes its batch out of the list at once.
    const waiting = this.#closed.filter((batch) => batch.dataset === dataset).length;
    for (let i = 0; i < waiting; i++) this.#startWorker();
  }

  async #compress(batch: Batch): Promise<void> {
    if (
      this.#compression === 'none' ||
      // A batch that is sent in another form keeps its NDJSON: that is what is split, and written to disk.
      this.#options.encode !== undefined ||
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
  async #commit(batch: Batch): Promise<boolean> {
    if (batch.committed) return true;
    const { clock, commitEveryMs } = this.#options;
    const waitMs = this.#committedAtMs + commitEveryMs - clock.monotonic();
    if (waitMs > 0) await clock.sleep(waitMs);
    if (!batch.committed) this.#committedAtMs = clock.monotonic();
    return this.#persist(() => {
      if (batch.committed) return;
      const group = this.held().filter((each) => !each.committed);
      const rows = group.filter((each) => each.rereadable);
      if (rows.length > 0) this.#options.durability.commit(rows);
      for (const each of group) each.committed = true;
    });
  }

  async #commitParts(shipment: Shipment): Promise<Next> {
    const { batch, parts } = shipment;
    return (await this.#persist(() => this.#options.durability.commitParts(batch, parts))) ? 'go on' : 'park';
  }

  /** Works on the disk, again and again while it refuses; nothing is sent meanwhile. False when the agent stops first. */
  async #persist(
    work: () => Promise<void> | void,
    refused = 'cannot save the positions of a batch, so it is not sent yet; free space in data_dir, it goes on by itself',
  ): Promise<boolean> {
    const { log, sink, clock, retry } = this.#options;
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (codeOf(error) === 'E_SPOOL_BROKEN') throw error;
        log.error({ sink: sink.id, reason: messageOf(error) }, refused);
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
        const refusal = shipment.refused.get(index + number - span.firstEvent);
        if (!refusal) continue;
        span.books.settle(from, number, 'delivered');
        span.books.settle(number, number + 1, refusal.fate === 'dropped' ? 'dropped' : 'dead_lettered');
        from = number + 1;
      }
      span.books.settle(from, span.firstEvent + span.events, 'delivered');
      index += span.events;
    }
    batch.refusedEvents = shipment.refused.size;
    this.#leave(batch);
    this.#observer.batch(this.#options.sink.id, batch.events, batch.bytes);
  }

  /** The batch is settled and goes. */
  #leave(batch: Batch): void {
    this.#inFlight.delete(batch);
    this.#options.durability.settle(batch);
    this.#options.room.release(batch.memory, batch.slot);
    batch.memory = 0;
    batch.slot = undefined;
    batch.whenSettled?.();
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

/**
 * The queue of one sink's closed batches. Each goes through preparation.ts and dispatch.ts, where it is refused through refusals.ts
 * (splits, dead letters), and leaves only when it is settled.
 */
import PQueue from 'p-queue';
import { messageOf } from '../../core/errors.ts';
import type { BodyForm } from '../../core/sink.ts';
import { type Batch, keyOf } from '../batch.ts';
import { type Compression, type DeliveryObserver, type DeliveryOptions, newDeliveryStats, type Persist } from './delivery-options.ts';
import { persist } from '../keeper.ts';
import { Dispatch, type LastFailure } from './dispatch.ts';
import { drain } from './drain.ts';
import { type Pause, Pauses } from './pauses.ts';
import { compressBatch, Preparation } from './preparation.ts';
import { Refusals } from './refusals.ts';
import { type Part, settleShipment, Shipment } from './shipment.ts';

export class Delivery {
  #options: DeliveryOptions;
  readonly #observer: DeliveryObserver;
  readonly #queue: PQueue;
  readonly #closed: Batch[] = [];
  readonly #inFlight = new Set<Batch>();
  /** Batches whose bodies cannot be read; the next process rebuilds them from their files. */
  readonly #waitForRestart: Batch[] = [];
  readonly #shipments = new WeakMap<Batch, Shipment>();
  readonly #abort = new AbortController();
  readonly #pauses: Pauses;
  readonly #preparation: Preparation;
  readonly #dispatch: Dispatch;
  readonly #refusals: Refusals;
  /** Workers asked for that have not begun. */
  #tickets = 0;
  #whenEmpty = Promise.withResolvers<void>();
  readonly stats = newDeliveryStats();

  constructor(options: DeliveryOptions, observer: DeliveryObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#queue = new PQueue({ concurrency: options.concurrency });
    const { signal } = this.#abort;
    const { stats } = this;
    const keepTrying: Persist = (work, fields, refused) => {
      // A reload may change `retry`.
      const { log, clock, retry, sink } = options;
      return persist(work, { log, clock, signal, retryMs: retry.maxBackoffMs }, { sink: sink.id, ...fields }, refused);
    };
    this.#pauses = new Pauses({
      ...options,
      signal,
      enqueue: (probe) => this.#queue.add(probe),
      probe: (dataset) => this.#probe(dataset),
    });
    this.#preparation = new Preparation({ ...options, persist: keepTrying, held: () => this.held() });
    this.#refusals = new Refusals({ ...options, persist: keepTrying, stats });
    this.#dispatch = new Dispatch({
      ...options,
      persist: keepTrying,
      signal,
      stats,
      observer,
      refusals: this.#refusals,
      pause: (dataset, pause) => this.#pauses.begin(dataset, pause),
      stored: (dataset) => this.#resume(dataset),
      setConcurrency: (limit) => (this.#queue.concurrency = limit),
    });
  }

  /** Takes a closed batch. One that was restored brings its key, and its parts where it was split. */
  enqueue(batch: Batch, parts?: readonly Part[]): void {
    this.#name(batch);
    if (parts && parts.length > 0) this.#shipments.set(batch, new Shipment(batch, parts));
    this.#closed.push(batch);
    this.#startWorker();
  }

  /**
   * False while half as many closed batches of files wait as there are workers: batches fill faster than the service answers. A paused dataset has its own count, and all paused ones together have half of the memory, so that they do not starve others.
   */
  wantsMore(dataset: string): boolean {
    const { concurrency, budget } = this.#options;
    const isPaused = this.#pauses.has(dataset);
    let waiting = 0;
    let pausedBytes = 0;
    for (const batch of this.#closed) {
      if (this.#pauses.has(batch.dataset)) pausedBytes += batch.payload.memory;
      // What is on disk need not be waited for.
      if (batch.isTracked && batch.spoolName === undefined && (isPaused ? batch.dataset === dataset : !this.#pauses.has(batch.dataset)))
        waiting += 1;
    }
    return waiting < Math.ceil(concurrency / 2) && (!isPaused || pausedBytes < budget.budgetBytes / 2);
  }

  /** True while a worker will take this closed batch soon, so that its body may as well stay in memory. */
  isNext(batch: Batch): boolean {
    return this.#inFlight.has(batch) || (this.#closed.indexOf(batch) < this.#options.concurrency && !this.#pauses.has(batch.dataset));
  }

  /** True while a worker has the batch. */
  isInFlight(batch: Batch): boolean {
    return this.#inFlight.has(batch);
  }

  /** True while no batch waits, or is being sent. */
  isAtRest(): boolean {
    return this.#closed.length + this.#inFlight.size === 0;
  }

  /** From now on. Batches that are closed keep their form, and requests under way end; fewer are begun where the maximum is lower. */
  reconfigure({ compression, concurrency, form }: { compression: Compression; concurrency: number; form: BodyForm }): void {
    this.#options = { ...this.#options, concurrency, form };
    this.#dispatch.compression = compression;
    this.#dispatch.limitTo(concurrency);
    this.#startWorkers();
  }

  /** True while no batch waits for a worker. */
  isIdle(): boolean {
    return this.#closed.length === 0;
  }

  /** Gives the batch its key and compresses it, before it is written anywhere. */
  async prepare(batch: Batch): Promise<void> {
    this.#name(batch);
    await this.#compress(batch);
  }

  /** Gives a batch the key and the form that it has to its end. */
  #name(batch: Batch): void {
    batch.key ||= keyOf(batch.owner, batch.dataset, batch.spans);
    batch.payload.form ??= this.#options.form;
  }

  /** Commits the spans and keys of all batches that wait for it, and of these, that come later, now. Throws when the disk refuses. */
  commitNow(later: readonly Batch[] = []): void {
    for (const batch of later) this.#name(batch);
    this.#preparation.commitNow(later);
  }

  /** Settles a batch as dropped by policy; what of it was stored or kept as dead letters before counts as that. */
  drop(batch: Batch): void {
    const shipment = this.#shipments.get(batch) ?? (batch.fates && new Shipment(batch));
    if (shipment) settleShipment(shipment);
    else for (const span of batch.spans) span.accounting.settle(span.firstEvent, span.firstEvent + span.events, 'dropped');
    this.#leave(batch, true);
  }

  /** Drops the oldest batch that only the disk buffer has and that is not being sent; false when there is none. */
  dropOldest(): boolean {
    const index = this.#closed.findIndex(
      (batch) => batch.spoolName !== undefined && (batch.origin === 'live' || batch.origin === 'orphan'),
    );
    if (index < 0) return false;
    const [batch] = this.#closed.splice(index, 1);
    this.drop(batch!);
    return true;
  }

  /** Batches that are closed and not settled, for the accounting; oldest first, as marks need them committed. */
  held(): Batch[] {
    return [...this.#waitForRestart, ...this.#inFlight, ...this.#closed];
  }

  /** The parts still to be sent of a batch that was split; undefined for one that is whole. */
  partsOf(batch: Batch): readonly Part[] | undefined {
    const shipment = this.#shipments.get(batch);
    return shipment && !shipment.isWhole ? shipment.parts : undefined;
  }

  /** Paused datasets and why; empty while all is well. */
  get pauses(): ReadonlyMap<string, Pause> {
    return this.#pauses.all;
  }

  /** Undefined since a request was stored. */
  get lastFailure(): LastFailure | undefined {
    return this.#dispatch.lastFailure;
  }

  /** Limit of concurrent requests. */
  get concurrency(): number {
    return this.#dispatch.concurrency;
  }

  /** Resolves when nothing is held, when `signal` aborts, or when waiting gains nothing (drain.ts). */
  drain(signal: AbortSignal, patienceMs?: number): Promise<void> {
    const isPaused = (): boolean => this.#inFlight.size === 0 && this.#closed.every((batch) => this.#pauses.has(batch.dataset));
    const emptied = (): Promise<void> => this.#whenEmpty.promise;
    const { clock } = this.#options;
    return drain({ clock, dispatch: this.#dispatch, held: () => this.held(), isPaused, emptied }, signal, patienceMs);
  }

  /** Cancels requests and waits; unsettled batches stay in the database and on disk. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#queue.onIdle();
  }

  /** A ticket for each worker is enough: who had one asks for the next. One for each batch that waits takes more memory than the batch. */
  #startWorker(): void {
    if (this.#tickets >= this.#options.concurrency) return;
    this.#tickets += 1;
    this.#queue.add(() => this.#next()).catch((error: unknown) => this.#reportFault(error));
  }

  #startWorkers(): void {
    for (let i = 0; i < this.#options.concurrency; i++) this.#startWorker();
  }

  #reportFault(error: unknown): void {
    this.#options.log.error(
      { sink: this.#options.sink.id, reason: messageOf(error) },
      'delivery failed by a fault of its own; the batch is held until a restart',
    );
  }

  /** One ticket of the queue: the oldest batch whose dataset is not paused. */
  async #next(): Promise<void> {
    this.#tickets -= 1;
    const index = this.#closed.findIndex((batch) => !this.#pauses.has(batch.dataset));
    if (index < 0 || this.#abort.signal.aborted) return;
    try {
      await this.#takeOut(index);
    } finally {
      this.#startWorker();
    }
  }

  async #probe(dataset: string): Promise<void> {
    const index = this.#closed.findIndex((batch) => batch.dataset === dataset);
    if (index >= 0) await this.#takeOut(index);
  }

  #resume(dataset: string): void {
    if (!this.#pauses.end(dataset)) return;
    this.#startWorkers();
  }

  async #takeOut(index: number): Promise<void> {
    const [batch] = this.#closed.splice(index, 1);
    this.#inFlight.add(batch!);
    this.#options.budget.wake();
    const settled = await this.#deliver(batch!);
    this.#inFlight.delete(batch!);
    if (!settled) {
      this.#closed.unshift(batch!);
      this.#shipments.get(batch!)?.release();
      this.#options.keeper.evict(batch!);
      // The dataset may have gone on while this batch was on its way back.
      if (!this.#pauses.has(batch!.dataset) && !this.#abort.signal.aborted) this.#startWorker();
    } else if (this.held().length === 0) {
      this.#whenEmpty.resolve();
      this.#whenEmpty = Promise.withResolvers();
    }
  }

  /** Sends until the batch is settled; false when its dataset is paused or the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    const loaded = await this.#preparation.load(batch);
    if (loaded === 'gone') this.#giveUp(batch);
    if (loaded !== 'loaded') return loaded === 'gone';
    await this.#compress(batch);
    if (!(await this.#preparation.commit(batch))) return false;
    const shipment = this.#shipments.get(batch) ?? new Shipment(batch);
    this.#shipments.set(batch, shipment);
    if (batch.withheld.events.length > 0 && !(await this.#refusals.keepWithheld(shipment))) return false;
    while (shipment.parts.length > 0 && batch.events > 0) {
      await this.#dispatch.waitForTurn();
      if (this.#abort.signal.aborted) return false;
      if (!(await this.#dispatch.send(shipment, shipment.parts[0]!))) return false;
    }
    settleShipment(shipment);
    this.#leave(batch);
    if (batch.events > 0) this.#observer.batch(this.#options.sink.id, batch.events, batch.payload.bytes);
    return true;
  }

  /** The body is lost: rebuild the batch at the next start, or drop it. */
  #giveUp(batch: Batch): void {
    if (batch.canBeRebuilt) this.#waitForRestart.push(batch);
    else this.drop(batch);
  }

  /** Only whole NDJSON batches: a re-encoded one keeps its NDJSON for splitting and for the disk buffer. */
  async #compress(batch: Batch): Promise<void> {
    const isEncoded = batch.payload.form !== undefined && this.#options.encoderOf?.(batch.payload.form) !== undefined;
    if (!isEncoded && !this.#shipments.has(batch)) await compressBatch(batch, this.#dispatch.compression);
  }

  /** Releases a settled batch. */
  #leave(batch: Batch, isDropped = false): void {
    batch.state = 'settled';
    this.#inFlight.delete(batch);
    this.#options.keeper.settle(batch, isDropped);
    batch.release(this.#options.budget);
    batch.whenSettled?.();
  }
}

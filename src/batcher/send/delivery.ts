/** Sends the batches of one sink's queue: each is committed (store.ts), sent by dispatch.ts, and where it is refused goes through refusals.ts (splits, dead letters). */
import { EncodingChoice, type RequestPart } from '../../core/requests.ts';
import type { Batch } from '../batch.ts';
import { type DeliveryStats, newDeliveryStats } from '../../telemetry/delivery-stats.ts';
import type { DeliveryOptions } from './delivery-options.ts';
import { type Dropped, type Persist, persist, Preparation, storeOf } from '../store.ts';
import { whenAborted } from '../../core/time/clock.ts';
import { HOPELESS_AFTER_MS, PARKED_BYTES } from '../limits.ts';
import type { BatchQueue } from '../queue.ts';
import { Dispatch } from './dispatch.ts';
import { probeAfterForbidden } from './forbidden.ts';
import { Parked } from './parked.ts';
import { Pauses } from './pauses.ts';
import { Refusals } from './refusals.ts';
import { Workers } from './workers.ts';
import { type SaveParts, settleShipment, Shipment } from './shipment.ts';

const DRAIN_CHECK_MS = 250;

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #retry: DeliveryOptions['retry'];
  readonly #workers: Workers;
  readonly queue: BatchQueue;
  readonly #shipments = new WeakMap<Batch, Shipment>();
  readonly #abort = new AbortController();
  readonly #pauses: Pauses;
  readonly parked: Parked;
  readonly preparation: Preparation;
  readonly dispatch: Dispatch;
  readonly #refusals: Refusals;
  #whenEmpty = Promise.withResolvers<void>();
  readonly stats: DeliveryStats;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.queue = options.queue;
    // While its dataset is paused, probes alone are sent.
    this.queue.workers.send = ({ dataset }) => {
      if (!this.queue.paused.has(dataset) && !this.#abort.signal.aborted) this.#workers.start();
    };
    this.stats = newDeliveryStats(options.facts);
    this.#workers = new Workers(options, () => this.#next());
    const { sink, budget, queue, compression, encodings, forms, clock, log, random, stores } = options;
    const retry = { ...options.retry };
    this.#retry = retry;
    const { signal } = this.#abort;
    const { stats } = this;
    const keepTrying: Persist = (work, fields, refused) =>
      persist(work, { log, clock, signal, retryMs: retry.maxBackoffMs }, { sink: sink.id, ...fields }, refused);
    const saveParts: SaveParts = ({ batch, parts }) => {
      const refused = 'cannot save the parts of a split batch, so they are not sent yet';
      return keepTrying(() => storeOf(stores, batch).commitParts(batch, parts), {}, refused);
    };
    this.#pauses = new Pauses({
      ...{ sink, queue, log, clock, random, retry, signal },
      paused: options.paused,
      enqueue: (probe) => this.#workers.run(probe),
      probe: (dataset, count) => this.#probe(dataset, count),
    });
    this.parked = new Parked({ sink: sink.id, queue, clock, log, signal });
    const { commitEveryMs, deadLetter } = options;
    this.preparation = new Preparation({ sink, log, clock, commitEveryMs, stores, queue, persist: keepTrying });
    this.#refusals = new Refusals({ saveParts, sink, log, clock, retry, deadLetter, stats });
    this.dispatch = new Dispatch({
      ...{ sink, budget, queue, log, clock, retry, random, saveParts, signal, stats },
      encoding: new EncodingChoice({ sink, encodings, compression, clock, log }),
      forms,
      histograms: options.histograms,
      refusals: this.#refusals,
      pause: (dataset, pause) => this.#pauses.begin(dataset, pause),
      resume: (dataset) => this.#resume(dataset),
      setConcurrency: (limit) => this.#workers.limitTo(limit),
    });
  }

  /** Takes a closed batch. One that was restored brings its key, and its parts where it was split. */
  enqueue(batch: Batch, parts?: readonly RequestPart[]): void {
    if (parts) this.#shipments.set(batch, new Shipment(batch, parts));
    this.queue.note(batch, 'queue');
  }

  /** From now on, with the settings of the queue. Requests in flight end; fewer are begun where the maximum is lower. */
  reconfigure({ compression, retry }: Pick<DeliveryOptions, 'compression' | 'retry'>): void {
    this.dispatch.encoding.setting = compression;
    Object.assign(this.#retry, retry);
    this.dispatch.limitTo(this.queue.settings.concurrency);
    this.#workers.startAll();
  }

  /** Settles a batch as dropped by policy; what of it was stored or kept as dead letters before counts as that. */
  drop(batch: Batch, why: Dropped = 'dropped'): void {
    const shipment = this.#shipments.get(batch) ?? (batch.fates && new Shipment(batch));
    if (shipment) settleShipment(shipment);
    else
      for (const span of batch.spans) span.accounting.settle(span.firstEvent, span.firstEvent + span.events, 'dropped');
    this.#leave(batch, why);
  }

  /** Drops the oldest batch that only the disk buffer has and that is not being sent; false without one. */
  dropOldest(): boolean {
    const batch = this.queue
      .in('parked', 'waiting')
      .find(({ spoolName, origin }) => spoolName !== undefined && (origin === 'live' || origin === 'orphan'));
    if (batch) this.drop(batch);
    return batch !== undefined;
  }

  /** The parts still to be sent of a batch that was split; undefined for one that is whole. */
  partsOf(batch: Batch): readonly RequestPart[] | undefined {
    const shipment = this.#shipments.get(batch);
    return shipment && !shipment.isWhole ? shipment.parts : undefined;
  }

  /**
   * Resolves when nothing is held, or when `signal` aborts; sooner where nothing is gained by waiting: every dataset is paused, or
   * the service refuses and has stored nothing for `patienceMs`, and everything held is safe on disk or can be read again. `Infinity` waits in any case.
   */
  async drain(signal: AbortSignal, patienceMs = HOPELESS_AFTER_MS): Promise<void> {
    const { clock, queue } = this.#options;
    const dispatch = this.dispatch;
    const since = clock.monotonic();
    const isPaused = (): boolean =>
      queue.count('in_flight') === 0 && queue.in('waiting').every(({ dataset }) => queue.paused.has(dataset));
    const isRefused = (): boolean =>
      clock.monotonic() - Math.max(since, dispatch.storedAtMs) > patienceMs &&
      dispatch.failedAtMs > dispatch.storedAtMs &&
      // While a wait is on, longer ago than the drain began.
      (dispatch.failedAtMs > since || dispatch.underWay === 0);
    const isSafe = (batch: Batch): boolean => batch.isDurable || batch.canBeRebuilt;
    const isHopeless = (): boolean =>
      patienceMs < Infinity && (isPaused() || isRefused()) && queue.sending.every(isSafe);
    const given = whenAborted(signal);
    while (!signal.aborted && queue.sending.length > 0 && !isHopeless())
      await Promise.race([this.#whenEmpty.promise, given, clock.sleep(DRAIN_CHECK_MS, signal)]);
  }

  /** Cancels requests and waits; unsettled batches stay in the database and on disk. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#workers.idle();
  }

  /** The work of one worker: the oldest batch whose dataset is not paused; false without one. */
  async #next(): Promise<boolean> {
    const batch = this.queue.all.find(({ state, dataset }) => state === 'waiting' && !this.queue.paused.has(dataset));
    if (!batch || this.#abort.signal.aborted) return false;
    await this.#takeOut(batch);
    return true;
  }

  async #probe(dataset: string, count: number): Promise<void> {
    const waiting = this.queue.in('waiting').filter((batch) => batch.dataset === dataset);
    const isForbidden = waiting[0] && this.#shipments.get(waiting[0])?.forbiddenAtMs !== undefined;
    const batch = isForbidden ? probeAfterForbidden(waiting, count) : waiting[0];
    if (batch) await this.#takeOut(batch);
  }

  #resume(dataset: string): void {
    if (!this.queue.paused.has(dataset)) return;
    this.#pauses.end(dataset);
    this.#workers.startAll();
  }

  async #takeOut(batch: Batch): Promise<void> {
    this.queue.note(batch, 'take');
    this.#options.budget.wake();
    if (!(await this.#deliver(batch))) {
      const shipment = this.#shipments.get(batch);
      shipment?.release();
      storeOf(this.#options.stores, batch).evict(batch);
      if (!shipment?.wait) return this.queue.note(batch, 'give_back');
      batch.payload.leaveSlot(this.#options.budget, PARKED_BYTES);
      shipment.hasWaited = true;
      this.parked.add(batch, shipment.wait);
    } else if (this.queue.sending.length === 0) {
      this.#whenEmpty.resolve();
      this.#whenEmpty = Promise.withResolvers();
    }
  }

  /** Sends until the batch is settled; false when its dataset is paused or the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    const loaded = await this.preparation.load(batch);
    if (loaded === 'gone') this.#giveUp(batch);
    if (loaded !== 'loaded') return loaded === 'gone';
    await this.compress(batch);
    if (!(await this.preparation.commit(batch))) return false;
    const shipment = this.#shipments.get(batch) ?? new Shipment(batch);
    this.#shipments.set(batch, shipment);
    shipment.wait = undefined;
    if (batch.withheld.events.length > 0 && !(await this.#refusals.keepWithheld(shipment))) return false;
    if (shipment.unkept && !(await this.#refusals.keepUnkept(shipment, shipment.unkept))) return false;
    while (shipment.parts.length > 0 && batch.events > 0) {
      await this.dispatch.waitForTurn();
      if (this.#abort.signal.aborted || shipment.restsAll(this.#options.clock.monotonic())) return false;
      if (!(await this.dispatch.send(shipment, shipment.parts[0]!))) return false;
    }
    settleShipment(shipment);
    this.#leave(batch);
    if (batch.events === 0) return true;
    this.#options.histograms.batchEvents.observe(this.#options.sink.id, batch.events);
    this.#options.histograms.batchBytes.observe(this.#options.sink.id, batch.payload.bytes);
    return true;
  }

  /** The body is lost: rebuild the batch at the next start, or drop it. */
  #giveUp(batch: Batch): void {
    if (batch.canBeRebuilt) this.queue.note(batch, 'lose');
    else this.drop(batch, 'disk_buffer');
  }

  /** Only whole NDJSON batches: a re-encoded one keeps its NDJSON for splitting and for the disk buffer. */
  async compress(batch: Batch): Promise<void> {
    const { payload, events } = batch;
    const isEncoded = payload.form !== undefined && this.#options.forms?.encoderOf(payload.form) !== undefined;
    if (!isEncoded && events > 0 && !this.#shipments.has(batch))
      await payload.compress(this.dispatch.encoding.preferred);
  }

  /** Releases a settled batch. */
  #leave(batch: Batch, dropped?: Dropped): void {
    this.queue.note(batch, dropped ? 'drop' : 'settle');
    if (this.#shipments.get(batch)?.hasWaited) this.parked.noteSettled(batch);
    storeOf(this.#options.stores, batch).settle(batch, dropped);
    batch.release(this.#options.budget);
    batch.whenSettled?.();
  }
}

/**
 * Sends one sink's batches: makes each safe (store.ts), sends it (dispatch.ts), handles refusals (refusals.ts). The service's load limits the
 * workers; probes count.
 */
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { EncodingChoice, RequestPart } from '../../core/requests.ts';
import type { CompressionSetting, Sink } from '../../core/sink.ts';
import { type Clock, whenAborted } from '../../core/time/clock.ts';
import { type DeliveryStats, newDeliveryStats } from '../../telemetry/delivery-stats.ts';
import type { SinkHistograms } from '../../telemetry/metrics.ts';
import type { Batch } from '../batch.ts';
import { HOPELESS_AFTER_MS, PARKED_BYTES } from '../limits.ts';
import type { BatchQueue } from '../queue.ts';
import type { Dropped, Keeper } from '../store.ts';
import { Dispatch } from './dispatch.ts';
import { probeAfterForbidden } from './forbidden.ts';
import { Parked } from './parked.ts';
import { Pauses, type Probe } from './pauses.ts';
import { Refusals } from './refusals.ts';
import { settleInFlight, InFlightBatch } from './in-flight-batch.ts';

const DRAIN_CHECK_MS = 250;

export interface DeliveryOptions {
  readonly sink: Sink;
  readonly queue: BatchQueue;
  readonly keeper: Keeper;
  readonly encoding: EncodingChoice;
  /** Names of the metrics that its answers bring. */
  readonly facts?: readonly string[];
  readonly histograms: SinkHistograms;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/** What a worker does next. */
interface Work {
  /** Undefined where a probe finds nothing to ask with. */
  readonly batch: Batch | undefined;
  readonly probe: Probe | undefined;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly queue: BatchQueue;
  readonly #inFlight = new WeakMap<Batch, InFlightBatch>();
  readonly #pauses: Pauses;
  readonly parked: Parked;
  readonly dispatch: Dispatch;
  readonly #refusals: Refusals;
  #workers = 0;
  /** What a worker took last is a probe. */
  #isProbeLast = false;
  /** Resolves once no worker works. */
  #whenIdle = Promise.withResolvers<void>();
  readonly stats: DeliveryStats;

  constructor(options: DeliveryOptions) {
    const { sink, queue, keeper, encoding, histograms, clock, log, random } = options;
    this.#options = options;
    this.queue = queue;
    queue.workers.sender = this;
    const stats = newDeliveryStats(options.facts);
    this.stats = stats;
    this.#pauses = new Pauses({ sink, queue, log, clock, random });
    this.parked = new Parked({ sink: sink.id, queue, clock, log });
    this.#refusals = new Refusals({ sink: sink.id, queue, keeper, log, clock, stats });
    const [pauses, refusals] = [this.#pauses, this.#refusals];
    this.dispatch = new Dispatch({
      ...{ sink, queue, keeper, encoding, pauses, refusals, stats, histograms, clock, log, random },
    });
  }

  /** Takes a closed batch. One that was restored brings its key, and its parts where it was split. */
  enqueue(batch: Batch, parts?: readonly RequestPart[]): void {
    if (parts) this.#inFlight.set(batch, new InFlightBatch(batch, parts));
    this.queue.note(batch, 'queue');
  }

  /** From now on, with the settings of the queue. Requests in flight end; fewer are begun where the maximum is lower. */
  reconfigure(compression: CompressionSetting): void {
    this.dispatch.encoding.setting = compression;
    this.dispatch.concurrency.limitTo(this.queue.settings.concurrency);
    this.wake();
  }

  /** Has as many workers work as there is work, and as the service bears. */
  wake(): void {
    for (let work; this.#workers < this.dispatch.concurrency.limit && (work = this.#next());) {
      this.#workers += 1;
      void this.#work(work);
    }
  }

  /** Settles a batch as dropped by policy; what of it was stored or kept as dead letters before counts as that. */
  drop(batch: Batch, why: Dropped = 'dropped'): void {
    const inFlight = this.#inFlight.get(batch) ?? (batch.outcomes && new InFlightBatch(batch));
    if (inFlight) settleInFlight(inFlight);
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
    const inFlight = this.#inFlight.get(batch);
    return inFlight && !inFlight.isWhole ? inFlight.parts : undefined;
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
      await Promise.race([this.#whenIdle.promise, given, clock.sleep(DRAIN_CHECK_MS, signal)]);
  }

  /** Cancels requests and waits; unsettled batches stay in the database and on disk. */
  async stop(): Promise<void> {
    this.queue.halt.abort();
    while (this.#workers > 0) await this.#whenIdle.promise;
  }

  /** A probe that is due, but no second one in a row before the oldest batch whose dataset is not paused; undefined without either. */
  #next(): Work | undefined {
    const { queue } = this;
    if (queue.halt.signal.aborted) return undefined;
    const batch = queue.all.find(({ state, dataset }) => state === 'waiting' && !queue.paused.has(dataset));
    const isBatchNext = queue.paused.size === 0 || (batch && this.#isProbeLast);
    const probe = isBatchNext ? undefined : this.#pauses.next();
    this.#isProbeLast = probe !== undefined;
    if (probe) return { probe, batch: this.#probeOf(probe) };
    return batch && { batch, probe };
  }

  #probeOf({ dataset, count }: Probe): Batch | undefined {
    const waiting = this.queue.in('waiting').filter((batch) => batch.dataset === dataset);
    const isForbidden = waiting[0] && this.#inFlight.get(waiting[0])?.forbiddenAtMs !== undefined;
    return isForbidden ? probeAfterForbidden(waiting, count) : waiting[0];
  }

  async #work(first: Work): Promise<void> {
    for (let work: Work | undefined = first; work;) {
      const { batch, probe } = work;
      try {
        if (batch) await this.#takeOut(batch);
      } catch (error) {
        this.#options.log.error(
          { sink: this.#options.sink.id, reason: messageOf(error) },
          'delivery failed by a fault of its own; the batch is held until a restart',
        );
      } finally {
        if (probe) this.#pauses.noteProbed(probe.dataset);
      }
      // Decided in this turn: a batch queued later finds this worker busy or starts another.
      work = this.#workers > this.dispatch.concurrency.limit ? undefined : this.#next();
    }
    this.#workers -= 1;
    if (this.#workers > 0) return;
    this.#whenIdle.resolve();
    this.#whenIdle = Promise.withResolvers();
  }

  async #takeOut(batch: Batch): Promise<void> {
    const { queue, keeper } = this.#options;
    queue.note(batch, 'take');
    queue.budget.wake();
    if (await this.#deliver(batch)) return;
    const inFlight = this.#inFlight.get(batch);
    inFlight?.release();
    keeper.storeOf(batch).evict(batch);
    if (!inFlight?.wait) return queue.note(batch, 'give_back');
    batch.payload.leaveSlot(queue.budget, PARKED_BYTES);
    inFlight.hasWaited = true;
    this.parked.add(batch, inFlight.wait);
  }

  /** Sends until the batch is settled; false when its dataset is paused or the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    const { keeper, queue, clock, histograms, sink } = this.#options;
    const loaded = await keeper.load(batch);
    if (loaded === 'gone') this.#giveUp(batch);
    if (loaded !== 'loaded') return loaded === 'gone';
    await this.compress(batch);
    if (!(await keeper.commit(batch))) return false;
    const inFlight = this.#inFlight.get(batch) ?? new InFlightBatch(batch);
    this.#inFlight.set(batch, inFlight);
    inFlight.wait = undefined;
    if (batch.withheld.events.length > 0 && !(await this.#refusals.keepWithheld(inFlight))) return false;
    if (inFlight.unkept && !(await this.#refusals.keepUnkept(inFlight, inFlight.unkept))) return false;
    while (inFlight.parts.length > 0 && batch.events > 0) {
      await this.dispatch.waitForTurn();
      if (queue.halt.signal.aborted || inFlight.restsAll(clock.monotonic())) return false;
      if (!(await this.dispatch.send(inFlight, inFlight.parts[0]!))) return false;
    }
    settleInFlight(inFlight);
    this.#leave(batch);
    if (batch.events === 0) return true;
    histograms.batchEvents.observe(sink.id, batch.events);
    histograms.batchBytes.observe(sink.id, batch.payload.bytes);
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
    const isEncoded = payload.form !== undefined && this.#options.sink.encoderOf?.(payload.form) !== undefined;
    if (!isEncoded && events > 0 && !this.#inFlight.has(batch))
      await payload.compress(this.dispatch.encoding.preferred);
  }

  /** Releases a settled batch. */
  #leave(batch: Batch, dropped?: Dropped): void {
    this.queue.note(batch, dropped ? 'drop' : 'settle');
    if (this.#inFlight.get(batch)?.hasWaited) this.parked.noteSettled(batch);
    this.#options.keeper.storeOf(batch).settle(batch, dropped);
    batch.release(this.queue.budget);
    batch.whenSettled?.();
  }
}

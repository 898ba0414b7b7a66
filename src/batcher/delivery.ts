/**
 * Delivery of one sink: takes closed batches, commits their spans, sends them, and does what the outcome says: settle,
 * wait and send again, or hold. Nothing leaves here but by being settled; what an answer does not allow to settle is kept,
 * and said (CONTRACT.md, "Delivery promise").
 */
import PQueue from 'p-queue';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { IngestResult, Outcome, Sink } from '../core/sink.ts';
import type { StoredBatch } from '../state/store.ts';
import { type BackoffOptions, nextBackoffMs } from './backoff.ts';
import { type Batch, keyOf } from './batch.ts';
import type { SettledAs } from './books.ts';
import { compress } from './compress.ts';
import type { Room } from './room.ts';

/** Bad answers in a row after which the sink pauses, so that a lying service is not fed endless duplicates. */
const BAD_ANSWERS_BEFORE_PAUSE = 5;

export interface DeliveryOptions {
  readonly sink: Sink;
  readonly room: Room;
  readonly concurrency: number;
  readonly compression: 'gzip' | 'zstd' | 'none';
  readonly retry: BackoffOptions;
  readonly clock: Clock;
  readonly log: Log;
  random(): number;
  /** Persists spans and keys before the first send. Throws when the disk refuses. */
  commit(batches: readonly StoredBatch[]): void;
  /** Told when a dataset is paused. */
  held(dataset: string): void;
  /** Moves the marks of a batch whose spans were committed. */
  settle(batch: StoredBatch): void;
}

/** Why a dataset is paused. */
export interface Hold {
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
  processedBytes: number;
  blocksCreated: number;
  walLength: number;
}

/** Told of every finished request and every sent batch, for histograms. */
export interface DeliveryObserver {
  request(sink: string, seconds: number): void;
  batch(sink: string, events: number, bytes: number): void;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #observer: DeliveryObserver;
  readonly #queue: PQueue;
  readonly #closed: Batch[] = [];
  readonly #inFlight = new Set<Batch>();
  readonly #holds = new Map<string, Hold>();
  readonly #abort = new AbortController();
  #notBefore = 0;
  #badAnswers = 0;
  readonly stats: DeliveryStats = {
    requests: new Map(),
    retries: new Map(),
    sentBytes: 0,
    ingested: new Map(),
    failed: new Map(),
    processedBytes: 0,
    blocksCreated: 0,
    walLength: 0,
  };

  constructor(options: DeliveryOptions, observer: DeliveryObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#queue = new PQueue({ concurrency: options.concurrency });
  }

  /** Takes a closed batch. One that was restored brings its key. */
  seal(batch: Batch): void {
    if (batch.key === '') batch.key = keyOf(batch.sink, batch.dataset, batch.spans);
    this.#closed.push(batch);
    this.#queue
      .add(() => this.#next())
      .catch((error: unknown) =>
        this.#options.log.error(
          { sink: this.#options.sink.id, reason: messageOf(error) },
          'delivery failed by a fault of its own; the batch is held until a restart',
        ),
      );
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
  get holds(): ReadonlyMap<string, Hold> {
    return this.#holds;
  }

  /** Resolves when nothing is held, or when `signal` aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const given = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (!signal.aborted) await Promise.race([this.#queue.onIdle(), given]);
  }

  /** Ends requests and waits under way; what is not settled stays in the database. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#queue.clear();
    await this.#queue.onIdle();
  }

  async #next(): Promise<void> {
    const batch = this.#closed.shift();
    if (!batch) return;
    this.#inFlight.add(batch);
    this.#options.room.wake();
    await this.#deliver(batch);
  }

  /** Sends until the batch is settled; false when the agent stops first. */
  async #deliver(batch: Batch): Promise<boolean> {
    const { room, compression, clock } = this.#options;
    if (compression !== 'none' && batch.encoding === 'identity' && batch.events > 0) {
      const body = await compress(batch.body, compression);
      const { slot, memory } = batch;
      batch.body = body;
      batch.encoding = compression;
      batch.memory = body.length;
      batch.slot = undefined;
      if (slot) room.swap(slot, body.length);
      else room.release(memory - body.length, undefined);
    }
    if (!(await this.#commit(batch))) return false;
    while (batch.events > 0) {
      const wait = this.#notBefore - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, this.#abort.signal);
      if (this.#abort.signal.aborted) return false;
      batch.attempts += 1;
      const outcome = await this.#send(batch);
      if (!outcome) return false;
      if (outcome.kind === 'delivered') {
        this.#noteDelivered(batch, outcome.result);
        this.#settle(batch, 'delivered');
        return true;
      }
      await this.#wait(batch, outcome);
    }
    this.#settle(batch, 'filtered');
    return true;
  }

  /** Commits this batch and every other one that waits for it, in one transaction. False when the agent stops first. */
  async #commit(batch: Batch): Promise<boolean> {
    while (!batch.committed) {
      const group = this.held().filter((each) => !each.committed);
      try {
        const rows = group.filter((each) => each.rereadable).map((each) => each.toStored());
        if (rows.length > 0) this.#options.commit(rows);
        for (const each of group) each.committed = true;
      } catch (error) {
        this.#options.log.error(
          { sink: this.#options.sink.id, reason: messageOf(error) },
          'cannot save the positions of a batch, so it is not sent yet; free space in data_dir, it goes on by itself',
        );
        await this.#options.clock.sleep(this.#options.retry.maxBackoffMs, this.#abort.signal);
        if (this.#abort.signal.aborted) return false;
      }
    }
    return true;
  }

  async #send(batch: Batch): Promise<Outcome | undefined> {
    const { sink } = this.#options;
    const { key, dataset, events, body, encoding } = batch;
    try {
      const { outcome, status, elapsedMs } = await sink.send({ key, dataset, events, body, encoding }, this.#abort.signal);
      add(this.stats.requests, String(status || 'none'), 1);
      this.stats.sentBytes += body.length;
      this.#observer.request(sink.id, elapsedMs / 1000);
      return outcome;
    } catch (error) {
      if (this.#abort.signal.aborted) return undefined;
      throw error;
    }
  }

  #settle(batch: Batch, as: SettledAs): void {
    for (const span of batch.spans) span.books.settle(span.firstEvent, span.firstEvent + span.events, as);
    this.#inFlight.delete(batch);
    if (batch.rereadable) this.#options.settle(batch.toStored());
    this.#options.room.release(batch.memory, batch.slot);
  }

  #noteDelivered(batch: Batch, result: IngestResult): void {
    const { stats } = this;
    add(stats.ingested, batch.dataset, result.ingested);
    add(stats.failed, batch.dataset, result.failed);
    stats.processedBytes += result.processedBytes;
    stats.blocksCreated += result.blocksCreated;
    stats.walLength = result.walLength;
    this.#badAnswers = 0;
    this.#observer.batch(this.#options.sink.id, batch.events, batch.bytes);
    if (this.#holds.delete(batch.dataset)) {
      this.#options.log.info({ sink: this.#options.sink.id, dataset: batch.dataset }, 'the service takes events again; delivery goes on');
    }
  }

  /** Waits as the outcome says, alone or with all workers. */
  async #wait(batch: Batch, outcome: Exclude<Outcome, { kind: 'delivered' }>): Promise<void> {
    const { clock, retry, log, sink } = this.#options;
    const reason = outcome.reason;
    add(this.stats.retries, reason, 1);
    this.#badAnswers = reason === 'bad_answer' ? this.#badAnswers + 1 : 0;
    if (outcome.kind === 'hold' || this.#badAnswers >= BAD_ANSWERS_BEFORE_PAUSE) {
      const fix = outcome.kind === 'hold' ? outcome.fix : "check that the url is the service's own and no proxy answers in its place";
      if (this.#holds.get(batch.dataset)?.reason !== reason) {
        log.error(
          { sink: sink.id, dataset: batch.dataset, reason, answer: outcome.detail, fix },
          'delivery is paused; nothing is dropped, and the service is asked again',
        );
      }
      this.#holds.set(batch.dataset, { reason, detail: outcome.detail, fix });
      this.#options.held(batch.dataset);
      await clock.sleep(retry.maxBackoffMs * (0.5 + this.#options.random() / 2), this.#abort.signal);
      return;
    }
    const backoffMs = nextBackoffMs(retry, batch.attempts, () => this.#options.random());
    const waitMs = outcome.afterMs === undefined ? backoffMs : Math.min(outcome.afterMs, MAX_RETRY_AFTER_MS);
    if (outcome.afterMs !== undefined) this.#notBefore = Math.max(this.#notBefore, clock.monotonic() + waitMs);
    if (batch.attempts === 1 || batch.attempts % 10 === 0) {
      log.warn(
        { sink: sink.id, dataset: batch.dataset, reason, answer: outcome.detail, attempt: batch.attempts, waitMs: Math.round(waitMs) },
        'batch was not stored; it is sent again',
      );
    }
    await clock.sleep(waitMs, this.#abort.signal);
  }
}

function add(map: Map<string, number>, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}

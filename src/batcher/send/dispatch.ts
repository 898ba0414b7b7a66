/**
 * Sends the parts of batches and acts on each outcome by the table of docs/delivery.md. All workers share the wait, the number of
 * requests and the encoding that the service asked of one of them.
 */
import { randomUUID } from 'node:crypto';
import { MAX_RETRY_AFTER_MS } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import type { Encoding, Outcome, SinkRequest, SendResult, Sink, Stored } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import { type EncodingChoice, type RequestPart, saysNothingStored } from '../../core/requests.ts';
import { nextBackoffMs } from '../../core/time/backoff.ts';
import type { Batch } from '../batch.ts';
import { addTo, type DeliveryStats } from '../../telemetry/delivery-stats.ts';
import type { SinkHistograms } from '../../telemetry/metrics.ts';
import { Forbidden, type TokenState } from './forbidden.ts';
import type { BatchQueue } from '../queue.ts';
import type { Keeper } from '../store.ts';
import type { Pauses } from './pauses.ts';
import { finishPart, type InFlightBatch } from './in-flight-batch.ts';
import type { Refusals } from './refusals.ts';

/** Bad answers in a row after which the dataset pauses, so that a broken service does not get endless duplicates. */
const BAD_ANSWERS_BEFORE_PAUSE = 5;
/** Reasons to retry behind which the service may have stored the events. */
const MAY_HIDE_A_STORE: ReadonlySet<string> = new Set(['timeout', 'server_error', 'network', 'bad_answer']);
/** Log the end of outages of at least this length; the log of a flaky service would fill up. */
const LOGGED_OUTAGE_MS = 10_000;

/** Why the last request stored nothing, `reason: detail`, and the remedy where one is known. */
export interface LastFailure {
  readonly text: string;
  readonly fix: string | undefined;
}

export interface DispatchOptions {
  readonly sink: Sink;
  readonly queue: BatchQueue;
  readonly keeper: Keeper;
  readonly encoding: EncodingChoice;
  readonly pauses: Pauses;
  readonly refusals: Refusals;
  readonly stats: DeliveryStats;
  readonly histograms: Pick<SinkHistograms, 'requestSeconds'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export class Dispatch {
  readonly #options: DispatchOptions;
  /** Limit of concurrent requests. */
  readonly concurrency: Concurrency;
  readonly encoding: EncodingChoice;
  /** Monotonic; no worker sends earlier. */
  #notBeforeMs = 0;
  /** Consecutive, by dataset. */
  readonly #badAnswers = new Map<string, number>();
  /** Monotonic start of the current outage, by dataset. */
  readonly #outageSince = new Map<string, number>();
  readonly #forbidden: Forbidden;
  /** Monotonic milliseconds of the last request that stored something, and of the last one that did not. */
  storedAtMs = -Infinity;
  failedAtMs = -Infinity;
  /** The former by dataset. */
  readonly storedByDatasetMs = new Map<string, number>();
  /** Requests in flight. */
  underWay = 0;
  /** Undefined once a request stored something. */
  lastFailure: LastFailure | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.concurrency = new Concurrency(options.queue.settings.concurrency);
    this.encoding = options.encoding;
    const { sink, queue, log, clock, refusals, keeper, pauses } = options;
    this.#forbidden = new Forbidden({ sink: sink.id, service: this, queue, log, clock, refusals, keeper, pauses });
  }

  /** Resolves after the wait that the service asked for, or when the agent stops. */
  async waitForTurn(): Promise<void> {
    const { clock, queue } = this.#options;
    const { signal } = queue.halt;
    for (;;) {
      const waitMs = this.#notBeforeMs - clock.monotonic();
      if (waitMs <= 0 || signal.aborted) return;
      await clock.sleep(waitMs, signal);
    }
  }

  /** Sends one part once, unless it is refused, and acts on the answer. False when the batch has to wait for a probe or a restart. */
  async send(inFlight: InFlightBatch, part: RequestPart): Promise<boolean> {
    const { clock, queue, sink, refusals } = this.#options;
    const { budget } = queue;
    const { refusal, payload } = inFlight.batch;
    if (refusal !== undefined)
      return refusals.refuse(inFlight, part, { reason: 'too_large', detail: refusal, status: 0 });
    const request = await inFlight.requestOf(
      part,
      this.encoding.next(inFlight.tries, part),
      payload.form && sink.encoderOf?.(payload.form),
    );
    inFlight.batch.attempts += 1;
    inFlight.firstSentMs ??= clock.monotonic();
    // A part or a re-encoded body takes extra memory while it is in flight.
    const ownBytes = request.body === inFlight.batch.payload.body ? 0 : request.body.length + inFlight.decodedBytes;
    budget.takeAnyway(ownBytes);
    let sent: SendResult;
    this.underWay += 1;
    try {
      sent = await this.#request(request);
    } catch (error) {
      if (queue.halt.signal.aborted) return false;
      throw error;
    } finally {
      this.underWay -= 1;
      budget.release(ownBytes, undefined);
    }
    const isUnstored = saysNothingStored(sent.outcome);
    // It may repeat the answer to an earlier request in another encoding.
    const isRepeated =
      isUnstored && request.key === part.key && this.encoding.setting === 'auto' && inFlight.mayBeStored.has(part.key);
    const meant = isRepeated ? undefined : this.encoding.judge(inFlight.tries, part, request.encoding, sent);
    if (meant) return this.#act(inFlight, part, meant, request.encoding);
    this.failedAtMs = clock.monotonic();
    inFlight.batch.attempts -= 1;
    if (isUnstored) inFlight.tries.renewKey(part);
    else if (sent.outcome.kind === 'retry') inFlight.mayBeStored.add(part.key);
    return true;
  }

  async #request(request: SinkRequest): Promise<SendResult> {
    const { clock, sink, queue, stats, histograms } = this.#options;
    const sent = await sink.send(request, queue.halt.signal);
    if (sent.unsent === 'unsigned') return sent;
    const isStored = sent.outcome.kind === 'delivered' || sent.outcome.kind === 'partial';
    const status = String(sent.status ?? (isStored ? 'stored' : 0)).replace(/^0$/, 'none');
    addTo(stats.requests, status, 1);
    stats.lastAnswer = { status, atMs: clock.now() };
    if (sent.unsent === undefined) stats.sentBytes += request.body.length;
    // How soon a connection was refused says nothing of how long requests take.
    if (status !== 'none') histograms.requestSeconds.observe(sink.id, sent.elapsedMs / 1000);
    return sent;
  }

  /** The request of `check --online`: without events, so that it stores nothing. A service that only objects to that accepted the token. */
  async askToken({ batch }: InFlightBatch): Promise<TokenState> {
    const { sink, queue } = this.#options;
    const { form } = batch.payload;
    const nothing = Buffer.alloc(0);
    const body = (form && sink.encoderOf?.(form))?.(nothing) ?? nothing;
    const request = {
      key: `check-${randomUUID()}`,
      dataset: batch.dataset,
      events: 0,
      body,
      encoding: 'identity',
      form,
    } as const;
    try {
      const { status, outcome } = await this.#request(request);
      if (outcome.kind === 'pause') return 'refused';
      return outcome.kind === 'retry' && status !== 200 ? 'unknown' : 'works';
    } catch (error) {
      if (queue.halt.signal.aborted) return 'unknown';
      throw error;
    }
  }

  async #act(inFlight: InFlightBatch, part: RequestPart, sent: SendResult, encoding: Encoding): Promise<boolean> {
    const { outcome, status = 0, elapsedMs } = sent;
    const { clock, keeper, pauses, refusals, stats } = this.#options;
    const { batch } = inFlight;
    const isStored = outcome.kind === 'delivered' || outcome.kind === 'partial';
    if (isStored) {
      this.storedAtMs = clock.monotonic();
      stats.lastStoredMs = clock.now();
      this.lastFailure = undefined;
      const isFirst = !inFlight.mayBeStored.has(part.key);
      if (!saysNothingStored(outcome)) this.encoding.noteStored(inFlight.tries, part, encoding, isFirst);
    } else this.failedAtMs = clock.monotonic();
    if (outcome.kind === 'retry') {
      if (sent.unsent === undefined && MAY_HIDE_A_STORE.has(outcome.reason)) inFlight.mayBeStored.add(part.key);
      return this.#retry(inFlight, part, outcome, sent);
    }
    this.#badAnswers.delete(batch.dataset);
    switch (outcome.kind) {
      case 'delivered':
        this.concurrency.noteSuccess(elapsedMs);
        this.#noteStored(batch, outcome);
        return finishPart(keeper, inFlight, 'stored');
      case 'partial':
        addTo(stats.failed, batch.dataset, outcome.failed);
        this.#noteStored(batch, outcome);
        return refusals.settlePartly(inFlight, part, outcome, status);
      case 'pause':
        // The time until someone fixes it does not count towards `max_elapsed`.
        inFlight.firstSentMs = undefined;
        this.#outageSince.delete(batch.dataset);
        if (status === 403) return this.#forbidden.handle(inFlight, part, outcome);
        pauses.begin(batch.dataset, outcome);
        return false;
      case 'halve':
      case 'bisect':
        return refusals.cut(inFlight, part, outcome.kind, outcome.detail, status);
    }
  }

  async #retry(
    inFlight: InFlightBatch,
    part: RequestPart,
    outcome: Extract<Outcome, { kind: 'retry' }>,
    { status = 0, mayBeStored = false }: SendResult,
  ): Promise<boolean> {
    const { clock, queue, log, sink, pauses, stats, refusals } = this.#options;
    const { retry } = queue.settings;
    const { signal } = queue.halt;
    const { batch } = inFlight;
    const { reason, detail, fix: remedy } = outcome;
    this.lastFailure = { text: `${reason}: ${detail}`, fix: remedy };
    addTo(stats.retries, reason, 1);
    if (!this.#outageSince.has(batch.dataset)) this.#outageSince.set(batch.dataset, clock.monotonic());
    const badAnswers = reason === 'bad_answer' ? (this.#badAnswers.get(batch.dataset) ?? 0) + 1 : 0;
    this.#badAnswers.set(batch.dataset, badAnswers);
    const isExpired = clock.monotonic() - (inFlight.firstSentMs ?? 0) > retry.maxElapsedMs;
    if (badAnswers >= BAD_ANSWERS_BEFORE_PAUSE && !isExpired) {
      const fix = "check that the url is the service's own and that no proxy answers in its place";
      this.#outageSince.delete(batch.dataset);
      pauses.begin(batch.dataset, { reason, detail, fix });
      return false;
    }
    if (reason === 'rate_limited' || reason === 'timeout' || status === 503) this.concurrency.noteOverload();
    if (isExpired) return refusals.refuse(inFlight, part, { reason: 'expired', detail, status });
    const backoffMs = nextBackoffMs(retry, batch.attempts, () => this.#options.random());
    // Back off even when the service asks for no wait, or for one that is already over.
    const waitMs = Math.max(backoffMs, Math.min(outcome.afterMs ?? 0, MAX_RETRY_AFTER_MS));
    if (outcome.afterMs !== undefined) this.#notBeforeMs = Math.max(this.#notBeforeMs, clock.monotonic() + waitMs);
    if (batch.attempts === 1 || batch.attempts % 10 === 0) {
      const facts = {
        sink: sink.id,
        dataset: batch.dataset,
        reason,
        answer: detail,
        attempt: batch.attempts,
        waitMs: Math.round(waitMs),
      };
      if (reason === 'dataset_created' || reason === 'token_changed')
        log.info(facts, 'resending the batch: the token or dataset is available now');
      // A gateway may have passed it on, and a torn answer come after it.
      else if (mayBeStored || (status >= 200 && status < 300) || (status >= 500 && status !== 503))
        log.warn(facts, 'it is not known whether the batch was stored; it is sent again under the same key');
      else log.warn(facts, 'batch was not stored; it is sent again');
    }
    await clock.sleep(waitMs, signal);
    return !signal.aborted;
  }

  #noteStored({ dataset }: Batch, { stored, facts = {} }: Stored): void {
    const { stats, clock, log, sink, queue, pauses } = this.#options;
    addTo(stats.stored, dataset, stored);
    for (const [name, value] of Object.entries(facts))
      if (name.endsWith('_total')) addTo(stats.facts, name, value);
      else stats.facts.set(name, value);
    const lastedMs = clock.monotonic() - (this.#outageSince.get(dataset) ?? Infinity);
    this.#outageSince.delete(dataset);
    this.storedByDatasetMs.set(dataset, clock.monotonic());
    if (lastedMs >= LOGGED_OUTAGE_MS)
      log.info(
        { sink: sink.id, dataset, seconds: Math.round(lastedMs / 1000) },
        'the service stores again; delivery goes on',
      );
    if (queue.paused.size > 0) pauses.end(dataset);
    // The service may bear more than before.
    queue.workers.sender?.wake();
  }
}

/** A request this many times slower than the best seen lately counts as a sign of overload, if it took `SLOW_AT_LEAST_MS`. */
const SLOW_FACTOR = 8;
/** A shorter request is no sign of overload. */
const SLOW_AT_LEAST_MS = 2000;

/**
 * Limit of concurrent requests: additive increase, multiplicative decrease, within the configured maximum.
 * It starts at the maximum, is halved when the service is overloaded (429, 430, 408, 503, timeouts, or requests that take
 * much longer than they used to), and grows by one for each round of requests that went well.
 */
export class Concurrency {
  #maximum: number;
  #limit: number;
  #good = 0;
  #fastestMs = Infinity;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = maximum;
  }

  /** Current limit of concurrent requests: 1 … maximum. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Changes the maximum. Where the one before was in use the new one is, too; else what the service was seen to bear holds. */
  limitTo(maximum: number): void {
    this.#limit = this.#limit >= this.#maximum ? maximum : Math.min(this.#limit, maximum);
    this.#maximum = maximum;
    this.#good = 0;
  }

  /** A request was answered well in `elapsedMs`. */
  noteSuccess(elapsedMs: number): void {
    this.#fastestMs = Math.min(elapsedMs, this.#fastestMs * 1.01);
    if (elapsedMs > SLOW_AT_LEAST_MS && elapsedMs > this.#fastestMs * SLOW_FACTOR) return this.noteOverload();
    this.#good += 1;
    if (this.#good < this.limit) return;
    this.#good = 0;
    this.#limit = Math.min(this.#maximum, this.#limit + 1);
  }

  /** The service is overloaded. */
  noteOverload(): void {
    this.#good = 0;
    this.#limit = Math.max(1, this.#limit / 2);
  }
}

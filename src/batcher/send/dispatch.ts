/**
 * Sends the parts of batches and acts on each outcome by the table of docs/delivery.md. All workers share the wait, the number of
 * requests and the encoding that the service asked of one of them.
 */
import { randomUUID } from 'node:crypto';
import { MAX_RETRY_AFTER_MS } from '../limits.ts';
import type { Encoding, Outcome, Parcel, SendResult, Stored } from '../../core/sink.ts';
import { type EncodingChoice, type RequestPart, saysNothingStored } from '../../core/requests.ts';
import { nextBackoffMs } from '../../core/time/backoff.ts';
import type { Batch } from '../batch.ts';
import { Concurrency } from './workers.ts';
import { addTo, type DeliveryStats } from '../../telemetry/delivery-stats.ts';
import type { DeliveryOptions } from './delivery-options.ts';
import { Forbidden, type TokenState } from './forbidden.ts';
import type { Pause } from '../queue.ts';
import { finishPart, type SaveParts } from './shipment.ts';
import type { Refusals } from './refusals.ts';
import type { Shipment } from './shipment.ts';

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

export interface DispatchOptions extends Pick<
  DeliveryOptions,
  'sink' | 'budget' | 'queue' | 'histograms' | 'log' | 'clock' | 'retry' | 'random' | 'forms'
> {
  readonly encoding: EncodingChoice;
  readonly saveParts: SaveParts;
  readonly stats: DeliveryStats;
  readonly refusals: Refusals;
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
  /** Stops sending to the dataset, except for probes. */
  readonly pause: (dataset: string, pause: Pause) => void;
  /** The service takes events of the dataset. */
  readonly resume: (dataset: string) => void;
  /** Called with the new limit of concurrent requests. */
  readonly setConcurrency: (limit: number) => void;
}

export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #concurrency: Concurrency;
  readonly encoding: EncodingChoice;
  /** Monotonic; no worker sends earlier. */
  #notBeforeMs = 0;
  /** Consecutive, by dataset. */
  readonly #badAnswers = new Map<string, number>();
  /** Monotonic start of the current outage, by dataset. */
  readonly #outageSince = new Map<string, number>();
  readonly #forbidden: Forbidden;
  /** The same of each dataset. */
  readonly #storedAtMs = new Map<string, number>();
  /** Monotonic milliseconds of the last request that stored something, and of the last one that did not. */
  storedAtMs = -Infinity;
  failedAtMs = -Infinity;
  /** Requests in flight. */
  underWay = 0;
  /** Undefined once a request stored something. */
  lastFailure: LastFailure | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#concurrency = new Concurrency(options.queue.settings.concurrency);
    this.encoding = options.encoding;
    const { sink, queue, log, clock, retry, refusals, saveParts, pause, resume } = options;
    this.#forbidden = new Forbidden({
      ...{ sink, queue, log, clock, retry, refusals, saveParts, pause, resume },
      storedAtMs: (dataset) => this.#storedAtMs.get(dataset),
      askToken: (shipment) => this.#askToken(shipment),
    });
  }

  /** Changes the maximum of concurrent requests. */
  limitTo(maximum: number): void {
    this.#adapt(() => this.#concurrency.limitTo(maximum));
  }

  /** Limit of concurrent requests. */
  get concurrency(): number {
    return this.#concurrency.limit;
  }

  /** Resolves after the wait that the service asked for, or when the agent stops. */
  async waitForTurn(): Promise<void> {
    const { clock, signal } = this.#options;
    for (;;) {
      const waitMs = this.#notBeforeMs - clock.monotonic();
      if (waitMs <= 0 || signal.aborted) return;
      await clock.sleep(waitMs, signal);
    }
  }

  /** Sends one part once, unless it is refused, and acts on the answer. False when the batch has to wait for a probe or a restart. */
  async send(shipment: Shipment, part: RequestPart): Promise<boolean> {
    const { clock, budget, signal, forms, refusals } = this.#options;
    const { refusal, payload } = shipment.batch;
    if (refusal !== undefined)
      return refusals.refuse(shipment, part, { reason: 'too_large', detail: refusal, status: 0 });
    const parcel = await shipment.parcelOf(
      part,
      this.encoding.next(shipment.tries, part),
      payload.form && forms?.encoderOf(payload.form),
    );
    shipment.batch.attempts += 1;
    shipment.firstSentMs ??= clock.monotonic();
    // A part or a re-encoded body takes extra memory while it is in flight.
    const ownBytes = parcel.body === shipment.batch.payload.body ? 0 : parcel.body.length + shipment.decodedBytes;
    budget.takeAnyway(ownBytes);
    let sent: SendResult;
    this.underWay += 1;
    try {
      sent = await this.#request(parcel);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    } finally {
      this.underWay -= 1;
      budget.release(ownBytes, undefined);
    }
    const isUnstored = saysNothingStored(sent.outcome);
    // It may repeat the answer to an earlier request in another encoding.
    const isRepeated =
      isUnstored && parcel.key === part.key && this.encoding.setting === 'auto' && shipment.mayBeStored.has(part.key);
    const meant = isRepeated ? undefined : this.encoding.judge(shipment.tries, part, parcel.encoding, sent);
    if (meant) return this.#act(shipment, part, meant, parcel.encoding);
    this.failedAtMs = clock.monotonic();
    shipment.batch.attempts -= 1;
    if (isUnstored) shipment.tries.renewKey(part);
    else if (sent.outcome.kind === 'retry') shipment.mayBeStored.add(part.key);
    return true;
  }

  async #request(parcel: Parcel): Promise<SendResult> {
    const { clock, sink, signal, stats, histograms } = this.#options;
    const sent = await sink.send(parcel, signal);
    if (sent.unsent === 'unsigned') return sent;
    const isStored = sent.outcome.kind === 'delivered' || sent.outcome.kind === 'partial';
    const status = String(sent.status ?? (isStored ? 'stored' : 0)).replace(/^0$/, 'none');
    addTo(stats.requests, status, 1);
    stats.lastAnswer = { status, atMs: clock.now() };
    if (sent.unsent === undefined) stats.sentBytes += parcel.body.length;
    // How soon a connection was refused says nothing of how long requests take.
    if (status !== 'none') histograms.requestSeconds.observe(sink.id, sent.elapsedMs / 1000);
    return sent;
  }

  /** The request of `check --online`: without events, so that it stores nothing. A service that only objects to that accepted the token. */
  async #askToken({ batch }: Shipment): Promise<TokenState> {
    const { form } = batch.payload;
    const nothing = Buffer.alloc(0);
    const body = (form && this.#options.forms?.encoderOf(form))?.(nothing) ?? nothing;
    const parcel = {
      key: `check-${randomUUID()}`,
      dataset: batch.dataset,
      events: 0,
      body,
      encoding: 'identity',
      form,
    } as const;
    try {
      const { status, outcome } = await this.#request(parcel);
      if (outcome.kind === 'pause') return 'refused';
      return outcome.kind === 'retry' && status !== 200 ? 'unknown' : 'works';
    } catch (error) {
      if (this.#options.signal.aborted) return 'unknown';
      throw error;
    }
  }

  async #act(shipment: Shipment, part: RequestPart, sent: SendResult, encoding: Encoding): Promise<boolean> {
    const { outcome, status = 0, elapsedMs } = sent;
    const { clock, refusals, stats } = this.#options;
    const { batch } = shipment;
    const isStored = outcome.kind === 'delivered' || outcome.kind === 'partial';
    if (isStored) {
      this.storedAtMs = clock.monotonic();
      stats.lastStoredMs = clock.now();
      this.lastFailure = undefined;
      const isFirst = !shipment.mayBeStored.has(part.key);
      if (!saysNothingStored(outcome)) this.encoding.noteStored(shipment.tries, part, encoding, isFirst);
    } else this.failedAtMs = clock.monotonic();
    if (outcome.kind === 'retry') {
      if (sent.unsent === undefined && MAY_HIDE_A_STORE.has(outcome.reason)) shipment.mayBeStored.add(part.key);
      return this.#retry(shipment, part, outcome, sent);
    }
    this.#badAnswers.delete(batch.dataset);
    switch (outcome.kind) {
      case 'delivered':
        this.#adapt(() => this.#concurrency.noteSuccess(elapsedMs));
        this.#noteStored(batch, outcome);
        return finishPart(this.#options.saveParts, shipment, 'stored');
      case 'partial':
        addTo(stats.failed, batch.dataset, outcome.failed);
        this.#noteStored(batch, outcome);
        return refusals.settlePartly(shipment, part, outcome, status);
      case 'pause':
        // The time until someone fixes it does not count towards `max_elapsed`.
        shipment.firstSentMs = undefined;
        this.#outageSince.delete(batch.dataset);
        if (status === 403) return this.#forbidden.handle(shipment, part, outcome);
        this.#options.pause(batch.dataset, outcome);
        return false;
      case 'halve':
      case 'bisect':
        return refusals.cut(shipment, part, outcome.kind, outcome.detail, status);
    }
  }

  async #retry(
    shipment: Shipment,
    part: RequestPart,
    outcome: Extract<Outcome, { kind: 'retry' }>,
    { status = 0, mayBeStored = false }: SendResult,
  ): Promise<boolean> {
    const { clock, retry, log, sink, signal, stats, refusals } = this.#options;
    const { batch } = shipment;
    const { reason, detail, fix: remedy } = outcome;
    this.lastFailure = { text: `${reason}: ${detail}`, fix: remedy };
    addTo(stats.retries, reason, 1);
    if (!this.#outageSince.has(batch.dataset)) this.#outageSince.set(batch.dataset, clock.monotonic());
    const badAnswers = reason === 'bad_answer' ? (this.#badAnswers.get(batch.dataset) ?? 0) + 1 : 0;
    this.#badAnswers.set(batch.dataset, badAnswers);
    const isExpired = clock.monotonic() - (shipment.firstSentMs ?? 0) > retry.maxElapsedMs;
    if (badAnswers >= BAD_ANSWERS_BEFORE_PAUSE && !isExpired) {
      const fix = "check that the url is the service's own and that no proxy answers in its place";
      this.#outageSince.delete(batch.dataset);
      this.#options.pause(batch.dataset, { reason, detail, fix });
      return false;
    }
    if (reason === 'rate_limited' || reason === 'timeout' || status === 503)
      this.#adapt(() => this.#concurrency.noteOverload());
    if (isExpired) return refusals.refuse(shipment, part, { reason: 'expired', detail, status });
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
    const { stats, clock, log, sink } = this.#options;
    addTo(stats.stored, dataset, stored);
    for (const [name, value] of Object.entries(facts))
      if (name.endsWith('_total')) addTo(stats.facts, name, value);
      else stats.facts.set(name, value);
    const lastedMs = clock.monotonic() - (this.#outageSince.get(dataset) ?? Infinity);
    this.#outageSince.delete(dataset);
    this.#storedAtMs.set(dataset, clock.monotonic());
    if (lastedMs >= LOGGED_OUTAGE_MS)
      log.info(
        { sink: sink.id, dataset, seconds: Math.round(lastedMs / 1000) },
        'the service stores again; delivery goes on',
      );
    this.#options.resume(dataset);
  }

  #adapt(change: () => void): void {
    const before = this.#concurrency.limit;
    change();
    if (this.#concurrency.limit !== before) this.#options.setConcurrency(this.#concurrency.limit);
  }
}

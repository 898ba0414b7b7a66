/**
 * The datasets of one sink that are paused, and why: nothing is sent to them but probes, one at a time for a dataset and
 * about once per `max_backoff` and when the token file changes, until one is stored.
 */
import { messageOf } from '../../core/errors.ts';
import type { Pause } from '../queue.ts';
import type { DeliveryOptions } from './delivery-options.ts';

export interface PausesOptions extends Pick<
  DeliveryOptions,
  'sink' | 'queue' | 'log' | 'clock' | 'random' | 'retry' | 'paused'
> {
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
  /** Runs a probe when there is a worker for it. */
  enqueue(probe: () => Promise<void>): Promise<void>;
  /** Sends of a batch of the dataset, if there is one; `count` probes were sent since the pause began. */
  probe(dataset: string, count: number): Promise<void>;
}

export class Pauses {
  readonly #options: PausesOptions;
  /** Probes of each paused dataset so far. */
  readonly #counts = new Map<string, number>();
  /** Datasets with a probe in flight. */
  readonly #probes = new Set<string>();

  constructor(options: PausesOptions) {
    this.#options = options;
  }

  /** Stops sending to the dataset. Logged once for each reason. */
  begin(dataset: string, { reason, detail, fix, isFinal = false }: Pause): void {
    const { log, sink, queue } = this.#options;
    if (queue.paused.get(dataset)?.reason !== reason) {
      log.error(
        { sink: sink.id, dataset, reason, answer: detail, fix },
        isFinal
          ? 'delivery ends; nothing is dropped'
          : 'delivery is paused; nothing is dropped, and the service is asked again',
      );
    }
    queue.paused.set(dataset, { reason, detail, fix, ...(isFinal ? { isFinal } : {}) });
    this.#options.paused(dataset);
    if (!isFinal) this.#schedule(dataset);
  }

  /** The service took events of the dataset, which was paused. */
  end(dataset: string): void {
    this.#options.queue.paused.delete(dataset);
    this.#counts.delete(dataset);
    this.#options.log.info(
      { sink: this.#options.sink.id, dataset },
      'the service takes events again; delivery goes on',
    );
  }

  #schedule(dataset: string): void {
    if (this.#probes.has(dataset)) return;
    this.#probes.add(dataset);
    const { clock, retry, signal, log, sink } = this.#options;
    const waitMs = retry.maxBackoffMs * (0.5 + this.#options.random() / 2);
    const probing = new AbortController();
    const either = AbortSignal.any([signal, probing.signal]);
    const waits = [clock.sleep(waitMs, either), ...(sink.tokenChange ? [sink.tokenChange(either)] : [])];
    void Promise.race(waits)
      .finally(() => probing.abort())
      .then(() => this.#options.enqueue(() => this.#ask(dataset)))
      .catch((error: unknown) =>
        log.error({ sink: sink.id, dataset, reason: messageOf(error) }, 'a probe failed by a fault of its own'),
      );
  }

  async #ask(dataset: string): Promise<void> {
    this.#probes.delete(dataset);
    const { signal, queue } = this.#options;
    if (signal.aborted || !queue.paused.has(dataset)) return;
    const count = this.#counts.get(dataset) ?? 0;
    this.#counts.set(dataset, count + 1);
    await this.#options.probe(dataset, count);
    // Still paused without a probe: there was nothing to ask with, or the answer was no outcome of its own.
    if (queue.paused.has(dataset)) this.#schedule(dataset);
  }
}

/**
 * The datasets of one sink that are paused, and why: nothing is sent to them but probes, one at a time for a dataset and
 * about once per `max_backoff` and when the token file changes, until one is stored.
 */
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { messageOf } from '../../core/errors.ts';
import type { Sink } from '../../core/sink.ts';
import type { BatchQueue, Pause } from '../queue.ts';

export interface PausesOptions {
  readonly sink: Sink;
  readonly queue: BatchQueue;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A request of a paused dataset that is due; `count` were sent since the pause began. */
export interface Probe {
  readonly dataset: string;
  readonly count: number;
}

export class Pauses {
  readonly #options: PausesOptions;
  /** Probes of each paused dataset so far. */
  readonly #counts = new Map<string, number>();
  /** Paused datasets with a probe scheduled or due, and those whose probe is due. */
  readonly #scheduled = new Set<string>();
  readonly #due: string[] = [];
  /** Paused datasets whose probe is out: `noteProbed` schedules the next one. */
  readonly #out = new Set<string>();

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
    const pause = { reason, detail, fix, ...(isFinal ? { isFinal } : {}) };
    queue.paused.set(dataset, pause);
    queue.workers.watcher?.notePause(sink.id, dataset, pause);
    if (isFinal) this.#cancel(dataset);
    else if (!this.#out.has(dataset)) this.#schedule(dataset);
  }

  /** The service takes events of the dataset: ends its pause, if there is one. */
  end(dataset: string): void {
    const { queue, log, sink } = this.#options;
    if (!queue.paused.delete(dataset)) return;
    this.#counts.delete(dataset);
    this.#cancel(dataset);
    this.#out.delete(dataset);
    log.info({ sink: sink.id, dataset }, 'the service takes events again; delivery goes on');
    queue.workers.sender?.wake();
  }

  /** A probe that is due, to be sent now; `noteProbed` is to be called once it was. */
  next(): Probe | undefined {
    const [dataset] = this.#due;
    if (dataset === undefined) return undefined;
    this.#cancel(dataset);
    this.#out.add(dataset);
    const count = this.#counts.get(dataset) ?? 0;
    this.#counts.set(dataset, count + 1);
    return { dataset, count };
  }

  /** Schedules the next probe if the dataset is still paused. */
  noteProbed(dataset: string): void {
    this.#out.delete(dataset);
    if (this.#isAsked(dataset)) this.#schedule(dataset);
  }

  /** It is paused, and the pause can end. */
  #isAsked(dataset: string): boolean {
    const pause = this.#options.queue.paused.get(dataset);
    return pause !== undefined && !pause.isFinal;
  }

  /** Its probe is due no more. */
  #cancel(dataset: string): void {
    const place = this.#due.indexOf(dataset);
    if (place < 0) return;
    this.#due.splice(place, 1);
    this.#scheduled.delete(dataset);
  }

  #schedule(dataset: string): void {
    if (this.#scheduled.has(dataset)) return;
    this.#scheduled.add(dataset);
    void this.#wait(dataset);
  }

  /** Until the next probe is due. */
  async #wait(dataset: string): Promise<void> {
    const { clock, queue, log, sink, random } = this.#options;
    const { signal } = queue.halt;
    const waitMs = queue.settings.retry.maxBackoffMs * (0.5 + random() / 2);
    const probing = new AbortController();
    const either = AbortSignal.any([signal, probing.signal]);
    const over = clock.sleep(waitMs, either);
    try {
      await Promise.race([over, ...(sink.tokenChange ? [sink.tokenChange(either)] : [])]);
    } catch (error) {
      log.error(
        { sink: sink.id, dataset, reason: messageOf(error) },
        'a change of the token cannot be awaited by a fault of its own; the service is asked again after a time',
      );
      await over;
    }
    probing.abort();
    if (!this.#isAsked(dataset)) return void this.#scheduled.delete(dataset);
    this.#due.push(dataset);
    queue.workers.sender?.wake();
  }
}

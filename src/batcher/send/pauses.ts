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
  /** Datasets whose next probe is waited for, or due; and those of which it is due, which are paused. */
  readonly #scheduled = new Set<string>();
  readonly #due: string[] = [];

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
    if (!isFinal) this.#schedule(dataset);
  }

  /** The service takes events of the dataset: ends its pause, if there is one. */
  end(dataset: string): void {
    const { queue, log, sink } = this.#options;
    if (!queue.paused.delete(dataset)) return;
    this.#counts.delete(dataset);
    const place = this.#due.indexOf(dataset);
    if (place >= 0) this.#take(place);
    log.info({ sink: sink.id, dataset }, 'the service takes events again; delivery goes on');
    queue.workers.sender?.wake();
  }

  /** A probe that is due, to be sent now; `noteProbed` is to be called once it was. */
  next(): Probe | undefined {
    if (this.#due.length === 0) return undefined;
    const dataset = this.#take(0);
    const count = this.#counts.get(dataset) ?? 0;
    this.#counts.set(dataset, count + 1);
    return { dataset, count };
  }

  /** Still paused after a probe: there was nothing to ask with, or the answer was no outcome of its own. */
  noteProbed(dataset: string): void {
    if (this.#options.queue.paused.has(dataset)) this.#schedule(dataset);
  }

  #take(place: number): string {
    const [dataset] = this.#due.splice(place, 1);
    this.#scheduled.delete(dataset!);
    return dataset!;
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
    try {
      await Promise.race([clock.sleep(waitMs, either), ...(sink.tokenChange ? [sink.tokenChange(either)] : [])]);
    } catch (error) {
      log.error({ sink: sink.id, dataset, reason: messageOf(error) }, 'a probe failed by a fault of its own');
      return;
    } finally {
      probing.abort();
    }
    if (!queue.paused.has(dataset)) return void this.#scheduled.delete(dataset);
    this.#due.push(dataset);
    queue.workers.sender?.wake();
  }
}

/**
 * Splits what the service does not take whole: halves a part that is too large (413), bisects one with an event at fault, and keeps the events at fault as dead letters.
 * A batch is not settled before its refused events are dead letters, and a split is on disk before its first part is sent. Each step resolves with false when the
 * agent stops first, or where the dead letters take nothing now (`InFlightBatch.wait`).
 */
import type { Log } from '../../core/log.ts';
import type { DeadLetter, Outcome } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { RequestPart } from '../../core/requests.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { DISK_FIX } from '../../state/database/refusal.ts';
import { addTo, type DeliveryStats } from '../../telemetry/delivery-stats.ts';
import type { BatchQueue } from '../queue.ts';
import type { Keeper } from '../store.ts';
import { locateFailures } from '../events.ts';
import { finishPart, lettersOf, type Refusal, type InFlightBatch, withheldLetters } from './in-flight-batch.ts';

type Fate = 'kept' | 'dropped';

export interface RefusalsOptions {
  /** Its id, for the log. */
  readonly sink: string;
  readonly queue: BatchQueue;
  readonly keeper: Keeper;
  readonly log: Log;
  readonly clock: Clock;
  readonly stats: DeliveryStats;
}

export class Refusals {
  readonly #options: RefusalsOptions;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** The part, which is the first, is too large (`halve`), or something in it is refused (`bisect`). */
  cut(
    inFlight: InFlightBatch,
    part: RequestPart,
    kind: 'halve' | 'bisect',
    detail: string,
    status: number,
  ): Promise<boolean> {
    const reason = inFlight.cut(kind);
    if (reason === undefined) return this.#options.keeper.saveParts(inFlight.batch, inFlight.parts);
    return this.refuse(inFlight, part, { reason, detail, status });
  }

  /** The rest of a partly stored part is delivered when the service named exactly the failed events; else halves find them. */
  settlePartly(
    inFlight: InFlightBatch,
    part: RequestPart,
    outcome: Extract<Outcome, { kind: 'partial' }>,
    status: number,
  ): Promise<boolean> {
    const { failures, failed, detail } = outcome;
    const found = locateFailures(inFlight.plainOf(part), failures, failed);
    if (!found && failed < part.count) return this.cut(inFlight, part, 'bisect', detail, status);
    const nameOf = (index: number): string => failures[index]?.error ?? failures[0]?.error ?? detail;
    const all = found ?? Array.from({ length: part.count }, (_, index): [number, string] => [index, nameOf(index)]);
    const refusals = [...all].map(([index, error]): [number, Refusal] => [
      part.first + index,
      { reason: 'rejected', detail: error, status, key: part.key },
    ]);
    return this.#deadLetter(inFlight, part, new Map(refusals));
  }

  /** Every event of the part is refused. */
  refuse(inFlight: InFlightBatch, part: RequestPart, refusal: Omit<Refusal, 'key'>): Promise<boolean> {
    const all = Array.from({ length: part.count }, (_, index): [number, Refusal] => [
      part.first + index,
      { ...refusal, key: part.key },
    ]);
    return this.#deadLetter(inFlight, part, new Map(all));
  }

  /** Tries again to keep what could not be kept before. */
  keepUnkept(inFlight: InFlightBatch, unkept: ReadonlyMap<number, Refusal>): Promise<boolean> {
    return this.#deadLetter(inFlight, inFlight.parts[0]!, unkept);
  }

  /** Keeps the refused events of the part as dead letters; false where the batch has to wait for that. */
  async #deadLetter(
    inFlight: InFlightBatch,
    part: RequestPart,
    refusals: ReadonlyMap<number, Refusal>,
  ): Promise<boolean> {
    const { log, sink, stats } = this.#options;
    const fate = await this.#keep(inFlight, part.key, lettersOf(inFlight, refusals));
    inFlight.unkept = fate ? undefined : refusals;
    if (!fate) return false;
    const { isReplay } = inFlight.batch;
    for (const [index, refusal] of refusals) {
      inFlight.refused.set(index, { ...refusal, fate });
      if (fate === 'kept' && !isReplay) addTo(stats.deadLetters, refusal.reason, 1);
    }
    const [first] = refusals.values();
    const end =
      fate === 'kept'
        ? 'kept as dead letters; see `tailrace dead-letters list`'
        : 'dropped, because the dead letters are full (dead_letter.when_full)';
    log.warn(
      {
        sink,
        dataset: inFlight.batch.dataset,
        events: refusals.size,
        reason: first?.reason,
        answer: first?.detail,
      },
      `${isReplay ? 'dead letters were refused again' : 'events were refused'} and ${end}`,
    );
    return finishPart(this.#options.keeper, inFlight, 'refused');
  }

  /**
   * Keeps the events that a transform failed on as dead letters, once for each process that has the batch; the same name replaces
   * those of an earlier one. False where the batch has to wait for that.
   */
  async keepWithheld(inFlight: InFlightBatch): Promise<boolean> {
    const { log, sink, stats } = this.#options;
    const { batch } = inFlight;
    if (batch.withheld.fate === 'dead_lettered') return true;
    const letters = withheldLetters(inFlight);
    const fate = await this.#keep(inFlight, `${batch.key}-transform`, letters);
    if (!fate) return false;
    batch.withheld.fate = fate === 'kept' ? 'dead_lettered' : 'dropped';
    if (fate === 'kept') addTo(stats.deadLetters, 'transform_failed', letters.length);
    log.warn(
      { sink, dataset: batch.dataset, events: letters.length, reason: letters[0]?.detail },
      `a transform that hides fields failed on events; they are not sent, and ${fate === 'kept' ? 'kept as dead letters' : 'dropped, because the dead letters are full (dead_letter.when_full)'}`,
    );
    return true;
  }

  /** The fate of the dead letters; undefined where they cannot be kept now, and `inFlight.wait` says why. */
  async #keep(inFlight: InFlightBatch, name: string, letters: readonly DeadLetter[]): Promise<Fate | undefined> {
    const { clock, queue, keeper } = this.#options;
    try {
      return await keeper.letters.keep(name, letters);
    } catch (error) {
      const fix = (error instanceof TailraceError && error.fix) || DISK_FIX;
      const unkept = {
        events: letters.length,
        isFull: codeOf(error) === 'E_DEAD_LETTERS_FULL',
        reason: messageOf(error),
        fix,
      };
      inFlight.wait = { untilMs: clock.monotonic() + queue.settings.retry.maxBackoffMs, unkept };
      return undefined;
    }
  }
}

/**
 * What the service refused: the events at fault are found, by the service's word or by halves, and kept as dead letters.
 * Nothing of a batch passes before its refused events are kept, and a split is on disk before its first part is sent.
 */
import type { Outcome } from '../../core/sink.ts';
import { addTo, type DeliveryOptions, type DeliveryStats } from './delivery-options.ts';
import { persist } from '../keeper.ts';
import { locateFailures } from '../events.ts';
import { lettersOf, type Part, type Refusal, type Shipment, withheldLetters } from './shipment.ts';

/** What to do after a request: go on with the next part, try the same again, or leave it to a probe. */
export type Next = 'go on' | 'again' | 'park';

export interface RefusalsOptions extends Pick<DeliveryOptions, 'sink' | 'log' | 'clock' | 'retry' | 'keeper' | 'deadLetter'> {
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
  readonly stats: DeliveryStats;
}

export class Refusals {
  readonly #options: RefusalsOptions;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** Every event of the first part is stored, or some are kept as dead letters: it goes. */
  finish(shipment: Shipment, as: 'stored' | 'refused'): Promise<Next> | Next {
    const whole = shipment.isWhole;
    shipment.finish(as);
    return whole || shipment.parts.length === 0 ? 'go on' : this.#commitParts(shipment);
  }

  /** The part is too large. */
  halve(shipment: Shipment, part: Part, detail: string, status: number): Promise<Next> {
    if (part.count === 1) return this.refuse(shipment, part, { reason: 'too_large', detail, status });
    return this.#split(shipment, 'size');
  }

  /** Something in the part is refused. */
  bisect(shipment: Shipment, part: Part, detail: string, status: number): Promise<Next> {
    if (part.count === 1) return this.refuse(shipment, part, { reason: 'rejected', detail, status });
    if (shipment.isSpent) return this.refuse(shipment, part, { reason: 'unresolved', detail, status });
    return this.#split(shipment, 'fault');
  }

  /** The rest of a partly stored part is delivered when the service named exactly the failed events; else halves find them. */
  settlePartly(shipment: Shipment, part: Part, outcome: Extract<Outcome, { kind: 'partial' }>, status: number): Promise<Next> {
    const { failures, result, detail } = outcome;
    const found = locateFailures(shipment.plainOf(part), failures, result.failed);
    if (!found && result.failed < part.count) return this.bisect(shipment, part, detail, status);
    const nameOf = (index: number): string => failures[index]?.error ?? failures[0]?.error ?? detail;
    const all = found ?? Array.from({ length: part.count }, (_, index): [number, string] => [index, nameOf(index)]);
    const refusals = [...all].map(([index, error]): [number, Refusal] => [
      part.first + index,
      { reason: 'rejected', detail: error, status, key: part.key },
    ]);
    return this.#deadLetter(shipment, part, new Map(refusals));
  }

  /** Every event of the part is refused. */
  refuse(shipment: Shipment, part: Part, refusal: Omit<Refusal, 'key'>): Promise<Next> {
    const all = Array.from({ length: part.count }, (_, index): [number, Refusal] => [part.first + index, { ...refusal, key: part.key }]);
    return this.#deadLetter(shipment, part, new Map(all));
  }

  /** Keeps the refused events of the part as dead letters; until that is possible the batch is held. */
  async #deadLetter(shipment: Shipment, part: Part, refusals: ReadonlyMap<number, Refusal>): Promise<Next> {
    const { log, sink, stats } = this.#options;
    let fate: 'kept' | 'dropped' = 'kept';
    const isDone = await this.#persist(
      async () => {
        fate = await this.#options.deadLetter(part.key, lettersOf(shipment, refusals));
      },
      { events: refusals.size },
      'dead letters cannot be kept, so their batch waits; free space in data_dir or mend its disk, or replay or drop dead letters',
    );
    if (!isDone) return 'park';
    const { isReplay } = shipment.batch;
    for (const [index, refusal] of refusals) {
      shipment.refused.set(index, { ...refusal, fate });
      if (fate === 'kept' && !isReplay) addTo(stats.deadLetters, refusal.reason, 1);
    }
    const [first] = refusals.values();
    const end =
      fate === 'kept'
        ? 'kept as dead letters; see `tailrace dead-letters list`'
        : 'dropped, because the dead letters are full (dead_letter.when_full)';
    log.warn(
      { sink: sink.id, dataset: shipment.batch.dataset, events: refusals.size, reason: first?.reason, answer: first?.detail },
      `${isReplay ? 'dead letters were refused again' : 'events were refused'} and ${end}`,
    );
    return this.finish(shipment, 'refused');
  }

  /**
   * Keeps the events that a transform failed on as dead letters, once for each process that has the batch; the same name replaces
   * those of an earlier one. False when the agent stops first.
   */
  async buryWithheld(shipment: Shipment): Promise<boolean> {
    const { log, sink, stats } = this.#options;
    const { batch } = shipment;
    if (batch.withheldFate === 'dead_lettered') return true;
    const letters = withheldLetters(shipment);
    let fate: 'kept' | 'dropped' = 'kept';
    const isDone = await this.#persist(
      async () => {
        fate = await this.#options.deadLetter(`${batch.key}-transform`, letters);
      },
      { events: letters.length },
      'events that a transform failed on cannot be kept as dead letters, so their batch waits; free space in data_dir or mend its disk, or replay or drop dead letters',
    );
    if (!isDone) return false;
    batch.withheldFate = isKept(fate) ? 'dead_lettered' : 'dropped';
    if (isKept(fate)) addTo(stats.deadLetters, 'transform_failed', letters.length);
    log.warn(
      { sink: sink.id, dataset: batch.dataset, events: letters.length, reason: letters[0]?.detail },
      `a transform that hides fields failed on events; they are not sent, and ${isKept(fate) ? 'kept as dead letters' : 'dropped, because the dead letters are full (dead_letter.when_full)'}`,
    );
    return true;
  }

  #split(shipment: Shipment, why: 'size' | 'fault'): Promise<Next> {
    shipment.split(why);
    return this.#commitParts(shipment);
  }

  async #commitParts({ batch, parts }: Shipment): Promise<Next> {
    const taken = await this.#persist(
      () => this.#options.keeper.commitParts(batch, parts),
      {},
      'cannot save the parts of a split batch, so they are not sent yet; free space in data_dir or mend its disk, it goes on by itself',
    );
    return taken ? 'go on' : 'park';
  }

  #persist(work: () => Promise<void> | void, fields: object, refused: string): Promise<boolean> {
    const { log, sink, clock, retry, signal } = this.#options;
    return persist(work, { log, clock, signal, retryMs: retry.maxBackoffMs }, { sink: sink.id, ...fields }, refused);
  }
}

/** The compiler does not see that a callback changes it. */
function isKept(fate: 'kept' | 'dropped'): boolean {
  return fate === 'kept';
}

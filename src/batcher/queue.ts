/** The closed batches of one sink until they are settled, oldest first: marks need them committed in that order. Promises: each is there once. */
import type { Batch } from './batch.ts';
import { type BatchEvent, type BatchState, next } from './batch-state.ts';

export class BatchQueue {
  readonly #batches: Batch[] = [];
  readonly #counts = new Map<BatchState, number>();
  /** Told when a batch may be sent; delivery sets it. */
  whenWaiting: (batch: Batch) => void = () => {};

  /** What happened to the batch. Throws where it cannot happen in its state. */
  note(batch: Batch, event: BatchEvent): void {
    const { state } = batch;
    const after = next(state, event);
    if (!after) throw new Error(`a batch that is ${state} got the event ${event}`);
    if (state === 'open') this.#insert(batch);
    else this.#count(state, -1);
    batch.state = after.state;
    if (after.action === 'leave') this.#batches.splice(this.#batches.indexOf(batch), 1);
    else this.#count(after.state, 1);
    if (after.action === 'send') this.whenWaiting(batch);
  }

  in(...states: readonly BatchState[]): Batch[] {
    return this.#batches.filter(({ state }) => states.includes(state));
  }

  /** How many are in one of these states. */
  count(...states: readonly BatchState[]): number {
    return states.reduce((sum, state) => sum + (this.#counts.get(state) ?? 0), 0);
  }

  /** Those that delivery has. */
  get sending(): Batch[] {
    return this.in('waiting', 'in_flight', 'parked', 'unreadable');
  }

  get all(): readonly Batch[] {
    return this.#batches;
  }

  /** One that was opened before others may be closed after them. */
  #insert(batch: Batch): void {
    let at = this.#batches.length;
    while (at > 0 && this.#batches[at - 1]!.id > batch.id) at -= 1;
    this.#batches.splice(at, 0, batch);
  }

  #count(state: BatchState, change: 1 | -1): void {
    this.#counts.set(state, this.count(state) + change);
  }
}

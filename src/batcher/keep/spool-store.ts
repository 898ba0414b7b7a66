/** Keeps batches that cannot be read again in the files of the disk buffer; those of files that were deleted have positions, too. */
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { State } from '../../state/database/store.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { Batch } from '../batch.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { Delivery } from '../send/delivery.ts';
import type { BatchStore, Dropped, Keeper } from '../store.ts';
import { EMPTY, headerOf } from './spooled-batch.ts';

/** Options of the writers of one sink's disk buffer. */
export interface SpoolerOptions {
  readonly sink: string;
  readonly store: SpoolStore;
  readonly delivery: Delivery;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
}

export class SpoolStore implements BatchStore {
  readonly spool: Spool;
  readonly #budget: MemoryBudget;
  readonly #positions: Pick<BatchStore, 'commitParts' | 'settle'>;
  readonly #state: Pick<State, 'whenSaved'>;
  readonly #settled = new WeakSet<Batch>();
  #removing: Promise<void> = Promise.resolve();

  constructor(
    spool: Spool,
    budget: MemoryBudget,
    positions: Pick<BatchStore, 'commitParts' | 'settle'>,
    state: Pick<State, 'whenSaved'>,
  ) {
    this.spool = spool;
    this.#budget = budget;
    this.#positions = positions;
    this.#state = state;
  }

  async commitParts(batch: Batch, parts: readonly StoredPart[]): Promise<void> {
    if (batch.isTracked) await this.#positions.commitParts(batch, parts);
    else if (batch.spoolName !== undefined)
      await this.spool.rewrite(batch.spoolName, headerOf(batch, parts), batch.payload.body);
  }

  async load(batch: Batch): Promise<void> {
    const isWhole =
      (batch.payload.body.length > 0 || batch.events === 0) &&
      batch.withheld.isAny === batch.withheld.events.length > 0;
    if (batch.spoolName === undefined || isWhole) return;
    const { header, body } = await this.spool.read(batch.spoolName);
    batch.payload.body = body;
    batch.recall(header.spans);
    // It may have been compressed in memory after it was written.
    batch.payload.encoding = header.encoding;
    batch.payload.memory = body.length;
    this.#budget.takeAnyway(body.length);
    if (header.withheld) this.#budget.takeAnyway(batch.withheld.add(header.withheld));
  }

  evict(batch: Batch): void {
    if (batch.spoolName === undefined || (batch.payload.memory === 0 && batch.withheld.bytes === 0)) return;
    batch.release(this.#budget);
    batch.withheld.events = [];
    batch.payload.body = EMPTY;
    batch.condense();
  }

  settle(batch: Batch, dropped?: Dropped): void {
    if (!batch.isTracked) return this.#remove(batch);
    this.#positions.settle(batch, dropped);
    if (batch.canBeRebuilt) return this.#remove(batch);
    const remove = (): void => this.#remove(batch);
    // Delete the row first, then the file: a row without a file looks like a loss. A dropped batch's file goes anyway, to free space for the deletion.
    if (!this.#state.whenSaved(remove) && dropped) remove();
  }

  #remove(batch: Batch): void {
    this.#settled.add(batch);
    const { spoolName } = batch;
    if (spoolName !== undefined)
      this.#removing = Promise.all([this.#removing, this.spool.remove(spoolName)]).then(() => {});
  }

  /** True once the batch needs no file any more. */
  isSettled(batch: Batch): boolean {
    return this.#settled.has(batch);
  }

  /** Resolves when the files of settled batches are gone. */
  removed(): Promise<void> {
    return this.#removing;
  }
}

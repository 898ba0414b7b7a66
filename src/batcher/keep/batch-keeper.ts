/** Keeps the batches of one sink: those of files by their positions in the database, others in the disk buffer, those of deleted files in both. */
import type { State } from '../../state/database/store.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import type { Batch } from '../batch.ts';
import type { Dropped, Keeper } from '../keeper.ts';
import type { SpoolKeeper } from './spool-keeper.ts';

type Kept = Pick<State, 'commit' | 'commitParts' | 'drop' | 'ledger' | 'whenSaved'>;

export class BatchKeeper implements Keeper {
  readonly #state: Kept;
  readonly #spooled: SpoolKeeper;
  readonly #settled: (() => void) | undefined;

  /** `settled` is called when positions moved that are not saved yet. */
  constructor(state: Kept, spooled: SpoolKeeper, settled?: () => void) {
    this.#state = state;
    this.#spooled = spooled;
    this.#settled = settled;
  }

  commit(batches: readonly Batch[]): void {
    this.#state.commit(batches.map((batch) => batch.toStored()));
  }

  commitParts(batch: Batch, parts: readonly StoredPart[]): Promise<void> | void {
    return batch.isTracked ? this.#state.commitParts(batch.id, parts) : this.#spooled.commitParts(batch, parts);
  }

  load(batch: Batch): Promise<void> {
    return this.#spooled.load(batch);
  }

  evict(batch: Batch): void {
    this.#spooled.evict(batch);
  }

  settle(batch: Batch, dropped?: Dropped): void {
    if (batch.isTracked) {
      if (dropped) this.#state.drop(batch.toStored(), dropped);
      this.#state.ledger.settle(batch.toStored());
      this.#settled?.();
    }
    if (!batch.isTracked || batch.canBeRebuilt) return this.#spooled.settle(batch);
    const removeFile = (): void => this.#spooled.settle(batch);
    // Delete the row first, then the file: a row without a file looks like a loss. A dropped batch's file goes anyway, to free space for the deletion.
    if (!this.#state.whenSaved(removeFile) && dropped) removeFile();
  }
}

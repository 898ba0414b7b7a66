/** Keeps batches of files by their positions in the database: the rest is in the files. */
import type { State } from '../../state/database/store.ts';
import type { StoredPart } from '../../state/database/stored-batch.ts';
import type { Batch } from '../batch.ts';
import type { BatchStore, Dropped } from '../store.ts';

export class Positions implements BatchStore {
  readonly #state: Pick<State, 'commit' | 'commitParts' | 'drop' | 'ledger'>;
  readonly #saver: { noteSettled(): void } | undefined;

  /** `saver` is called when positions moved that are not saved yet. */
  constructor(state: Pick<State, 'commit' | 'commitParts' | 'drop' | 'ledger'>, saver?: { noteSettled(): void }) {
    this.#state = state;
    this.#saver = saver;
  }

  commit(batches: readonly Batch[]): void {
    this.#state.commit(batches.map((batch) => batch.toStored()));
  }

  commitParts({ id }: Batch, parts: readonly StoredPart[]): void {
    this.#state.commitParts(id, parts);
  }

  async load(): Promise<void> {}

  evict(): void {}

  settle(batch: Batch, dropped?: Dropped): void {
    if (dropped) this.#state.drop(batch.toStored(), dropped);
    this.#state.ledger.settle(batch.toStored());
    this.#saver?.noteSettled();
  }
}

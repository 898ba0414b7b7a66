/**
 * Runs work once a save is on disk, safe from a power cut. Fsync runs in the thread pool: a slow one on the event loop would
 * block every scan and read.
 */
export class AfterSync {
  readonly #sync: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  /** Waits for a save first. */
  #unsaved: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  /** Callbacks that wait for the current sync. */
  #syncing: (() => void)[] = [];

  /** `failed` is called when the disk refused; the work then waits for the next save. */
  constructor(sync: () => Promise<void>, failed: (error: unknown) => void) {
    this.#sync = sync;
    this.#failed = failed;
  }

  get hasWork(): boolean {
    return this.#unsaved.length + this.#waiting.length + this.#syncing.length > 0;
  }

  add(work: () => void): void {
    this.#unsaved.push(work);
  }

  /** Syncs a save, then does the work added before. One sync at a time serves all work added before it. */
  start(): void {
    this.#waiting.push(...this.#unsaved.splice(0));
    this.#syncNext();
  }

  #syncNext(): void {
    if (this.#syncing.length > 0 || this.#waiting.length === 0) return;
    this.#syncing = this.#waiting;
    this.#waiting = [];
    this.#sync().then(
      () => {
        for (const work of this.#syncing.splice(0)) work();
        this.#syncNext();
      },
      (error: unknown) => {
        this.#waiting.unshift(...this.#syncing.splice(0));
        this.#failed(error);
      },
    );
  }

  /** Does all waiting work: the caller has synced the save. */
  finish(): void {
    for (const work of [...this.#syncing.splice(0), ...this.#waiting.splice(0), ...this.#unsaved.splice(0)]) work();
  }
}

/** Works while there is work: starts when some comes, and ends when nothing is left. */
export class WorkQueue {
  readonly #hasWork: () => boolean;
  readonly #step: () => Promise<void>;
  #working: Promise<void> | undefined;

  constructor(hasWork: () => boolean, step: () => Promise<void>) {
    this.#hasWork = hasWork;
    this.#step = step;
  }

  start(): void {
    this.#working ??= this.#work();
  }

  get isWorking(): boolean {
    return this.#working !== undefined;
  }

  /** Resolves when there is no work. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    try {
      while (this.#hasWork()) await this.#step();
    } finally {
      // In the same turn in which there was no more: what comes next has to start the work again.
      this.#working = undefined;
    }
  }
}

/** Works through what waits, oldest first: starts when something comes, and ends when nothing is left. */
export class WorkQueue<T> {
  readonly waiting: T[] = [];
  readonly #step: (waiting: T[]) => Promise<void>;
  readonly #ended: () => void;
  #working: Promise<void> | undefined;

  /** `step` works on the oldest items and removes the done ones from `waiting`. `ended` is called when `waiting` is empty. */
  constructor(step: (waiting: T[]) => Promise<void>, ended: () => void = () => {}) {
    this.#step = step;
    this.#ended = ended;
  }

  add(item: T): void {
    this.waiting.push(item);
    this.#working ??= this.#work();
  }

  get isWorking(): boolean {
    return this.#working !== undefined;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    try {
      while (this.waiting.length > 0) await this.#step(this.waiting);
    } finally {
      // In the same turn in which the queue was empty: the next item has to start the work again.
      this.#working = undefined;
      this.#ended();
    }
  }
}

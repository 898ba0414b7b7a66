/** When the agent ends by itself because a sink delivers nothing more. */
import type { Pause, PauseWatcher } from '../batcher/queue.ts';

/**
 * A run with `--once` does not wait for a token or a dataset. When the reader of standard output went away, as `head` does, the agent ends
 * like any program in a pipeline; events not written are sent at the next start.
 */
export class GiveUp implements PauseWatcher {
  readonly #once: boolean;
  readonly #given = Promise.withResolvers<void>();
  /** What went wrong first; undefined where the reader of the output has what it wanted. */
  failure: string | undefined;

  constructor(once: boolean) {
    this.#once = once;
  }

  /** Resolves when the agent is to end. */
  get given(): Promise<void> {
    return this.#given.promise;
  }

  notePause(sink: string, dataset: string, { detail, fix, isFinal = false }: Pause): void {
    if (this.#once) this.failure ??= `sink "${sink}" cannot deliver to dataset "${dataset}": ${detail}; ${fix}`;
    if (this.#once || isFinal) this.#given.resolve();
  }
}

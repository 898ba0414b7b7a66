/**
 * Saves what was settled soon after, so that a kill sends little of it again. As a rule the next batch's commit takes it along; only
 * where none comes in time is there a transaction for it, and while nothing is settled there is no timer.
 */
import type { Clock } from '../core/clock.ts';
import { SAVE_SETTLED_MS } from '../core/limits.ts';
import type { State } from '../state/store.ts';

export class SettlementSaver {
  readonly #state: Pick<State, 'hasSettlements' | 'settlementWrites' | 'save'>;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #isRunning = false;

  constructor(state: Pick<State, 'hasSettlements' | 'settlementWrites' | 'save'>, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** To be called when something was settled: it is saved within twice `SAVE_SETTLED_MS`. */
  noteSettled(): void {
    if (!this.#isRunning) void this.#run();
  }

  /** To be called before the state is closed. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    this.#isRunning = true;
    while (this.#state.hasSettlements && !signal.aborted) {
      const before = this.#state.settlementWrites;
      await this.#clock.sleep(SAVE_SETTLED_MS, signal);
      // A disk that refuses is asked again once a second, like for everything else.
      if (!signal.aborted && this.#state.settlementWrites === before && !this.#state.save()) break;
    }
    this.#isRunning = false;
  }
}

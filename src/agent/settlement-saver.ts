/**
 * Saves settlements soon, so that a kill causes few resends. After a quiet period it saves at once,
 * as the answer has woken the process anyway. Otherwise the next batch's commit usually includes them; a separate transaction
 * runs only when none comes in time. No timer runs while nothing is settled.
 */
import type { Clock } from '../core/time/clock.ts';
import { CALM_SETTLEMENTS_MS, SAVE_SETTLED_MS } from './limits.ts';
import type { State } from '../state/database/store.ts';

export class SettlementSaver {
  readonly #state: Pick<State, 'hasSettlements' | 'settlementWrites' | 'save'>;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #isRunning = false;
  /** Transactions counted at the last settlement, and the monotonic time of the last new one. */
  #writes = 0;
  #wroteAtMs = -Infinity;

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
    let waitMs = this.#isCalm() ? 0 : SAVE_SETTLED_MS;
    while (this.#state.hasSettlements && !signal.aborted) {
      const before = this.#state.settlementWrites;
      // One save covers all that is settled together.
      await (waitMs === 0 ? Promise.resolve() : this.#clock.sleep(waitMs, signal));
      waitMs = SAVE_SETTLED_MS;
      // A disk that refuses is asked again once a second, like for everything else.
      if (!signal.aborted && this.#state.settlementWrites === before && !this.#state.save()) break;
    }
    this.#isCalm();
    this.#isRunning = false;
  }

  /** True while no settlements were written for some time. */
  #isCalm(): boolean {
    const now = this.#clock.monotonic();
    const { settlementWrites } = this.#state;
    if (settlementWrites !== this.#writes) this.#wroteAtMs = now;
    this.#writes = settlementWrites;
    return now - this.#wroteAtMs >= CALM_SETTLEMENTS_MS;
  }
}

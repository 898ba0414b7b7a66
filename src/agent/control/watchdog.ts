/** Notices when the process stood still: a hung disk, a suspended machine, a CPU that others use up. */
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';

/** A stall of the event loop this long makes /healthz fail. */
const STALL_MS = 5000;
/** How long /healthz fails after a stall. */
const STALL_SHOWN_MS = 60_000;

export class Watchdog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #everyMs: number;
  #lastMs: number;
  #stallMs = 0;
  #shownUntilMs = -Infinity;
  #isOverdue = false;

  constructor(clock: Clock, log: Log, everyMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#everyMs = everyMs;
    this.#lastMs = clock.monotonic();
  }

  /** To be called every `everyMs`. */
  tick(): void {
    const now = this.#clock.monotonic();
    const late = now - this.#lastMs - this.#everyMs;
    this.#lastMs = now;
    if (late <= STALL_MS) return;
    this.#stallMs = late;
    this.#shownUntilMs = now + STALL_SHOWN_MS;
    this.#log.warn(
      { stalledMs: Math.round(late) },
      'the process did not run for a while: the machine was suspended or has no CPU to spare, or a disk hangs',
    );
  }

  /** Logs once that a step does not come: a service manager's watchdog ends the process for it. */
  noteOverdue(step: string | undefined): void {
    if (step !== undefined && !this.#isOverdue)
      this.#log.error(
        { overdue: step },
        'the agent makes no progress: a file system may hang; systemd’s watchdog is not fed',
      );
    this.#isOverdue = step !== undefined;
  }

  /** For /healthz: set while a stall was not long ago. */
  describe(): string | undefined {
    return this.#clock.monotonic() < this.#shownUntilMs
      ? `the event loop stood still for ${Math.round(this.#stallMs)} ms within the last minute`
      : undefined;
  }
}

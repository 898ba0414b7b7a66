/**
 * The file source's log lines. Lasting trouble is logged once, and again only after it was over; events that can repeat (rotations, new
 * files) are limited in number, and the next line says how many were held back. Its memory is bounded.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { MAX_NOTICES } from '../limits.ts';
import { type Log, LogLimit } from '../../../core/log.ts';

type NoticeLevel = 'debug' | 'info' | 'warn';

/** Added to every line whose `lostBytes` is a lower bound: no scan saw the file's end. */
export const LOWER_BOUND = '; lostBytes is what was seen of it, what was written after the last look is not counted';

const EVENTS_A_MINUTE = 30;

export class Notices {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #logged = new Map<string, string>();
  readonly #events = new Map<string, LogLimit>();
  #isFull = false;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Something that happened once. At most 30 lines a minute for each `text`. */
  event(level: NoticeLevel, fields: object, text: string): void {
    let limit = this.#events.get(text);
    if (!limit) this.#events.set(text, (limit = new LogLimit(EVENTS_A_MINUTE, 60_000)));
    const heldBack = limit.admit(this.#clock.monotonic());
    if (heldBack !== undefined) this.#log[level](heldBack > 0 ? { ...fields, heldBack } : fields, text);
  }

  /** Trouble with `subject` (a path, as a rule): written unless the same `text` was the last one about it. */
  trouble(level: NoticeLevel, subject: string, fields: object, text: string): void {
    if (this.#logged.get(subject) === text) return;
    if (this.#logged.size >= MAX_NOTICES && !this.#logged.has(subject)) {
      if (!this.#isFull)
        this.#log.warn({ limit: MAX_NOTICES }, 'more files are in trouble than can be named; further ones are not');
      this.#isFull = true;
      return;
    }
    this.#logged.set(subject, text);
    this.#log[level](fields, text);
  }

  /** Ends the trouble. True when there was some. */
  clear(subject: string): boolean {
    return this.#logged.size > 0 && this.#logged.delete(subject);
  }
}

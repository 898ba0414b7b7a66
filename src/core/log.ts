/** The log that every module writes to, implemented by telemetry/log. Fields first, then the sentence. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** True at each power of two: what repeats is logged ever less often. `count` is from 1. */
export function isTimeToLog(count: number): boolean {
  return (count & (count - 1)) === 0;
}

/** Lets a repeated log line through at most `most` times in each period, and counts what it holds back. */
export class LogLimit {
  readonly #most: number;
  readonly #periodMs: number;
  #sinceMs = -Infinity;
  #count = 0;

  constructor(most: number, periodMs: number) {
    this.#most = most;
    this.#periodMs = periodMs;
  }

  /** How many lines were held back in the period before; undefined: hold this one back, too. */
  admit(nowMs: number): number | undefined {
    let heldBack = 0;
    if (nowMs - this.#sinceMs >= this.#periodMs) {
      heldBack = Math.max(0, this.#count - this.#most);
      this.#sinceMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > this.#most ? undefined : heldBack;
  }
}

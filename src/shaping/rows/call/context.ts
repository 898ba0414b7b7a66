/** The context of a program while it runs over one event. */

export interface RowContext {
  /** When the event was read: `now()`, and the time of events without one. */
  readonly readAtMs: number;
  /** The event's position, by which `sample` decides. */
  readonly stream: string;
  readonly offset: number;
  readonly sub: number;
  /** From 0 up to 1. */
  random(): number;
  env(name: string): string | undefined;
}

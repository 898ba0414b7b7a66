/** What a program may ask of the world while it runs over one event. */

export interface RowContext {
  /** When the event was read: `now()`, and the time of events without one. */
  readonly readAtMs: number;
  /** Where the event stands: what `sample` decides by. */
  readonly stream: string;
  readonly offset: number;
  readonly sub: number;
  /** From 0 up to 1. */
  random(): number;
  env(name: string): string | undefined;
}

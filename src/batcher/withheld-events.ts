/** The events of a batch that a transform failed on and that must not be sent: they become dead letters before the batch is sent. */
import type { Withheld } from '../core/shaping.ts';

export class WithheldEvents {
  /** `event` counts the accepted ones. Empty while they are on disk alone. */
  events: readonly Withheld[] = [];
  /** There are some, also while they are on disk alone. */
  isAny = false;
  /** Bytes of memory that they take, beside the payload. */
  bytes = 0;
  fate: 'dead_lettered' | 'dropped' = 'dropped';

  /** Returns the bytes of memory that these take. */
  add(events: readonly Withheld[]): number {
    this.events = [...this.events, ...events];
    this.isAny = true;
    const bytes = events.reduce((sum, { text }) => sum + 2 * text.length, 0);
    this.bytes += bytes;
    return bytes;
  }

  /** Gives back their memory. */
  release(budget: { release(bytes: number, slot: undefined): void }): void {
    budget.release(this.bytes, undefined);
    this.bytes = 0;
  }
}

/**
 * Memory for batches: a fixed number of slots in the kernel's memory, and a budget in bytes that also counts what lies
 * outside of slots (events larger than a slot, bodies back from disk or in another form). Waiting for room is the agent's
 * backpressure.
 */
import type { Region } from '../core/block.ts';
import { StoppedError } from '../core/errors.ts';

interface Waiter {
  readonly admits: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Asked when it is turned away: a file may have been deleted while it waited. */
  readonly isRereadable: () => boolean;
}

export class Room {
  readonly budgetBytes: number;
  readonly slotBytes: number;
  readonly #free: Region[];
  readonly #waiters: Waiter[] = [];
  #usedBytes = 0;
  #closed: 'open' | 'rereadable' | 'all' = 'open';

  constructor(budgetBytes: number, slotBytes: number, slots: Region[]) {
    this.budgetBytes = budgetBytes;
    this.slotBytes = slotBytes;
    this.#free = slots;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  hasSlot(): boolean {
    return this.#free.length > 0 && this.#usedBytes + this.slotBytes <= this.budgetBytes;
  }

  /** A slot, the most recently used one first (its pages are in the caches), or undefined when there is none to have now. */
  takeSlot(): Region | undefined {
    if (!this.hasSlot()) return undefined;
    this.#usedBytes += this.slotBytes;
    return this.#free.pop();
  }

  /** Counts bytes outside of slots. One batch larger than the budget is let in when it is alone. */
  take(bytes: number): boolean {
    if (this.#usedBytes > 0 && this.#usedBytes + bytes > this.budgetBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  /** Counts bytes that are needed to send now: a worker must never wait for room. */
  takeAnyway(bytes: number): void {
    this.#usedBytes += bytes;
  }

  /** Gives back what a batch held. */
  release(bytes: number, slot: Region | undefined): void {
    if (slot) this.#free.push(slot);
    this.#usedBytes -= bytes;
    this.wake();
  }

  /** Resolves once `admits` says yes (asked whenever room comes free); rejects with `E_STOPPED` after `close`. */
  wait(isRereadable: () => boolean, admits: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosedFor(isRereadable())) return reject(new StoppedError(0));
      this.#waiters.push({ admits, resolve, reject, isRereadable });
    });
  }

  /** Lets every waiter look again, in the order they came. */
  wake(): void {
    for (let i = 0; i < this.#waiters.length;) {
      const waiter = this.#waiters[i]!;
      if (!waiter.admits()) {
        i += 1;
        continue;
      }
      this.#waiters.splice(i, 1);
      waiter.resolve();
    }
  }

  /** Turns waiters away: only those whose bytes can be read again, or all. */
  close(whom: 'rereadable' | 'all'): void {
    this.#closed = whom;
    for (const waiter of this.#waiters.splice(0)) {
      if (this.#isClosedFor(waiter.isRereadable())) waiter.reject(new StoppedError(0));
      else this.#waiters.push(waiter);
    }
  }

  #isClosedFor(rereadable: boolean): boolean {
    return this.#closed === 'all' || (this.#closed === 'rereadable' && rereadable);
  }
}

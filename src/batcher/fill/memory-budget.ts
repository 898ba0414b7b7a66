/**
 * Memory for batches: a fixed number of slots in the kernel's memory, and a budget in bytes that also counts what lies
 * outside of slots (events larger than a slot, bodies back from disk or in another form). Waiting for room is the agent's
 * backpressure.
 *
 * One more slot, the reserve, is lent only to a batch that cannot be read again, and only until it is in the disk buffer: batches
 * that wait for an absent service never keep a deleted file from the disk.
 */
import type { Region } from '../../core/block.ts';
import { StoppedError } from '../../core/errors.ts';

interface Waiter {
  readonly admits: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Asked when it is turned away: a file may have been deleted while it waited. */
  readonly isRereadable: () => boolean;
  /** Whose events they are. */
  readonly owner: object | undefined;
}

export class MemoryBudget {
  readonly budgetBytes: number;
  readonly slotBytes: number;
  readonly #free: Region[];
  readonly #reserve: Region | undefined;
  /** Bytes of the batch that has the reserve; they are not counted against the budget. */
  #lentBytes: number | undefined;
  readonly #waiters: Waiter[] = [];
  #usedBytes = 0;
  #closed: 'open' | 'rereadable' | 'all' = 'open';

  constructor(budgetBytes: number, slotBytes: number, slots: Region[], reserve?: Region) {
    this.budgetBytes = budgetBytes;
    this.slotBytes = slotBytes;
    this.#free = slots;
    this.#reserve = reserve;
  }

  get usedBytes(): number {
    return this.#usedBytes + (this.#lentBytes ?? 0);
  }

  hasSlot(): boolean {
    return this.#free.length > 0 && this.#usedBytes + this.slotBytes <= this.budgetBytes;
  }

  /** True while nobody has the reserve. */
  hasReserve(): boolean {
    return this.#reserve !== undefined && this.#lentBytes === undefined;
  }

  isReserve(slot: Region | undefined): boolean {
    return slot !== undefined && slot === this.#reserve;
  }

  /** A slot, the most recently used one first (its pages are in the caches), or undefined when there is none to have now. */
  takeSlot(): Region | undefined {
    if (!this.hasSlot()) return undefined;
    this.#usedBytes += this.slotBytes;
    return this.#free.pop();
  }

  /** The reserve, for a batch of so many bytes, in the slot or outside of it; undefined while another one has it. */
  takeReserve(bytes = this.slotBytes): Region | undefined {
    if (!this.hasReserve()) return undefined;
    this.#lentBytes = bytes;
    return this.#reserve;
  }

  /** True when so many bytes outside of slots may be taken. One batch larger than the budget is let in when it is alone. */
  fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.budgetBytes;
  }

  /** Counts bytes outside of slots, if they fit. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.#usedBytes += bytes;
    return true;
  }

  /** Counts bytes that are needed to send now: a worker must never wait for room. */
  takeAnyway(bytes: number): void {
    this.#usedBytes += bytes;
  }

  /** Gives back what a batch held. */
  release(bytes: number, slot: Region | undefined): void {
    if (this.isReserve(slot)) this.#lentBytes = undefined;
    else {
      if (slot) this.#free.push(slot);
      this.#usedBytes -= bytes;
    }
    this.wake();
  }

  /** Resolves once `admits` says yes (asked whenever room comes free); rejects with `E_STOPPED` after `close`. */
  wait(isRereadable: () => boolean, admits: () => boolean, owner?: object): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosedFor(isRereadable())) return reject(new StoppedError(0));
      this.#waiters.push({ admits, resolve, reject, isRereadable, owner });
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

  /** Takes waiters again after `close`. */
  reopen(): void {
    this.#closed = 'open';
  }

  /** Turns away those who wait for this owner now. */
  turnAway(owner: object): void {
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.owner === owner) waiter.reject(new StoppedError(0));
      else this.#waiters.push(waiter);
    }
  }

  #isClosedFor(rereadable: boolean): boolean {
    return this.#closed === 'all' || (this.#closed === 'rereadable' && rereadable);
  }
}

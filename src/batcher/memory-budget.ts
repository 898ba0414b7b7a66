/**
 * Memory for batches: a fixed number of slots in the kernel's memory, and a budget in bytes that also counts memory outside of
 * slots (events larger than a slot, bodies loaded from disk or re-encoded). Waiting for it is the agent's backpressure.
 *
 * One extra slot, the reserve, is lent only to a batch that cannot be read again, until the disk buffer has it: a deleted file can
 * be spooled even when batches of an unreachable service fill the rest.
 *
 * A reload divides it again while batches hold slots: a slot of a former division is removed once its batch gives it back, so that a
 * smaller budget waits for batches in flight, and takes nothing from them.
 */
import type { Region } from '../core/block.ts';
import { StoppedError } from '../core/errors.ts';

interface Waiter {
  readonly admits: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Asked at `close`: the file may have been deleted during the wait. */
  readonly isRereadable: () => boolean;
  /** Cancels the wait in `turnAway`. */
  readonly owner: object | undefined;
}

/** How many bytes there are, and the slots that they are divided into. */
export interface MemoryDivision {
  readonly budgetBytes: number;
  readonly slotBytes: number;
  readonly slots: readonly Region[];
  readonly reserve: Region | undefined;
}

export class MemoryBudget {
  #division: MemoryDivision;
  #slots: ReadonlySet<Region>;
  #free: Region[];
  /** The reserve while a batch has it; its bytes are not counted against the budget. */
  #lent: { readonly slot: Region; readonly bytes: number } | undefined;
  /** Takes slots that are used no more. */
  readonly #owner: { release(slot: Region): void } | undefined;
  readonly #waiters: Waiter[] = [];
  #usedBytes = 0;
  #closed: 'open' | 'rereadable' | 'all' = 'open';

  constructor(
    budgetBytes: number,
    slotBytes: number,
    slots: readonly Region[],
    reserve?: Region,
    owner?: { release(slot: Region): void },
  ) {
    this.#division = { budgetBytes, slotBytes, slots, reserve };
    this.#slots = new Set(slots);
    this.#free = [...slots];
    this.#owner = owner;
  }

  get division(): MemoryDivision {
    return this.#division;
  }

  get budgetBytes(): number {
    return this.#division.budgetBytes;
  }

  get slotBytes(): number {
    return this.#division.slotBytes;
  }

  /** Takes another division into force, which may have slots of the one before. */
  divide(next: MemoryDivision): void {
    const { reserve } = this.#division;
    const [before, free] = [this.#slots, new Set(this.#free)];
    this.#division = next;
    this.#slots = new Set(next.slots);
    this.#free = next.slots.filter((slot) => free.has(slot) || !before.has(slot));
    for (const slot of free) if (!this.#slots.has(slot)) this.#owner?.release(slot);
    if (reserve && reserve !== next.reserve && !this.isReserve(reserve)) this.#owner?.release(reserve);
    this.wake();
  }

  get usedBytes(): number {
    return this.#usedBytes + (this.#lent?.bytes ?? 0);
  }

  hasSlot(): boolean {
    return this.#free.length > 0 && this.#usedBytes + this.slotBytes <= this.budgetBytes;
  }

  /** True while no batch has the reserve. */
  hasReserve(): boolean {
    return this.#division.reserve !== undefined && this.#lent === undefined;
  }

  /** True for the slot of a batch that has the reserve. */
  isReserve(slot: Region | undefined): boolean {
    return slot !== undefined && slot === this.#lent?.slot;
  }

  /** The most recently used free slot, whose pages are cached; undefined when none is free. */
  takeSlot(): Region | undefined {
    if (!this.hasSlot()) return undefined;
    this.#usedBytes += this.slotBytes;
    return this.#free.pop();
  }

  /** The reserve, for a batch of `bytes` in the slot or outside of it; undefined while another batch has it. */
  takeReserve(bytes = this.slotBytes): Region | undefined {
    const { reserve } = this.#division;
    if (!reserve || this.#lent) return undefined;
    this.#lent = { slot: reserve, bytes };
    return reserve;
  }

  /** True when `bytes` outside of slots fit the budget. A batch larger than the budget is admitted alone. */
  fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.budgetBytes;
  }

  /** Counts bytes outside of slots, if they fit. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.#usedBytes += bytes;
    return true;
  }

  /** Counts bytes over the budget if need be: a worker that sends must never wait for memory. */
  takeAnyway(bytes: number): void {
    this.#usedBytes += bytes;
  }

  /** Gives back what a batch held. */
  release(bytes: number, slot: Region | undefined): void {
    if (this.isReserve(slot)) this.#lent = undefined;
    else this.#usedBytes -= bytes;
    if (slot && this.#slots.has(slot)) this.#free.push(slot);
    else if (slot && slot !== this.#division.reserve) this.#owner?.release(slot);
    this.wake();
  }

  /** Resolves once `admits` returns true (asked whenever memory is freed); rejects with `E_STOPPED` after `close`. */
  wait(isRereadable: () => boolean, admits: () => boolean, owner?: object): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosedFor(isRereadable())) return reject(new StoppedError(0));
      this.#waiters.push({ admits, resolve, reject, isRereadable, owner });
    });
  }

  /** Asks every waiter again, in order of arrival. */
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

  /** Rejects waiters: those whose bytes can be read again, or all. */
  close(which: 'rereadable' | 'all'): void {
    this.#closed = which;
    for (const waiter of this.#waiters.splice(0)) {
      if (this.#isClosedFor(waiter.isRereadable())) waiter.reject(new StoppedError(0));
      else this.#waiters.push(waiter);
    }
  }

  /** Admits waiters again after `close`. */
  reopen(): void {
    this.#closed = 'open';
  }

  /** Rejects this owner's current waiters. */
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

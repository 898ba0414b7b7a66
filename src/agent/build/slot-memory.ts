/**
 * The kernel memory of one sink: its slots and its reserve, in the division that its configuration asks for. Another division is reserved
 * before it is in force, so that a change of memory either has all that it needs or changes nothing.
 */
import { MemoryBudget } from '../../batcher/memory-budget.ts';
import type { Region } from '../../core/block.ts';
import type { SinkMemory } from '../../core/sink-memory.ts';
import type { Kernel } from '../../kernel/kernel.ts';

type Division = Pick<SinkMemory, 'slotBytes' | 'slots'>;

export class SlotMemory {
  readonly budget: MemoryBudget;
  readonly #kernel: Kernel;
  /** Reserved for a division that is not in force yet. */
  #ahead: Region[] = [];

  /** Throws `TailraceError` `E_KERNEL_MEMORY`. */
  constructor(kernel: Kernel, { slotBytes, slots }: Division) {
    this.#kernel = kernel;
    const [reserve, ...all] = this.#reserve(slotBytes, slots + 1);
    this.budget = new MemoryBudget(slots * slotBytes, slotBytes, all, reserve, kernel);
  }

  /** Reserves what the division needs beside what there is. Throws `TailraceError` `E_KERNEL_MEMORY`, with nothing reserved. */
  prepare({ slotBytes, slots }: Division): void {
    this.cancel();
    const { division } = this.budget;
    const missing = slotBytes === division.slotBytes ? slots - division.slots.length : slots + 1;
    this.#ahead = this.#reserve(slotBytes, missing);
  }

  /** Gives back the prepared memory. */
  cancel(): void {
    for (const region of this.#ahead.splice(0)) this.#kernel.release(region);
  }

  /** Takes a division into force that was prepared. Slots in use go once they are given back. */
  divide({ slotBytes, slots }: Division): void {
    const { division } = this.budget;
    const ahead = this.#ahead.splice(0);
    const isSame = slotBytes === division.slotBytes;
    const reserve = isSame ? division.reserve : ahead.pop();
    const all = [...(isSame ? division.slots.slice(0, slots) : []), ...ahead];
    this.budget.divide({ budgetBytes: slots * slotBytes, slotBytes, slots: all, reserve });
  }

  /** Gives all of it back; no slot may be in use. */
  release(): void {
    this.cancel();
    const { slots, reserve } = this.budget.division;
    for (const region of reserve ? [...slots, reserve] : slots) this.#kernel.release(region);
  }

  #reserve(bytes: number, count: number): Region[] {
    const regions: Region[] = [];
    try {
      while (regions.length < count) regions.push(this.#kernel.reserve(bytes));
      return regions;
    } catch (error) {
      for (const region of regions) this.#kernel.release(region);
      throw error;
    }
  }
}

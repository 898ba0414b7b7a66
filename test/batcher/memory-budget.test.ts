import { expect, test as base } from 'vitest';
import { MemoryBudget } from '../../src/batcher/memory-budget.ts';
import type { Region } from '../../src/core/block.ts';
import { settleTurns } from '../support/until.ts';

const slot = (at: number): Region => ({ at, bytes: Buffer.alloc(10) });
const make = (budget = 30): MemoryBudget => new MemoryBudget(budget, 10, [slot(0), slot(1), slot(2)]);

const test = base.extend('budget', () => make());
/** A wait of a file, or of a live source, that is admitted when `admits` says so. */
const wait = (budget: MemoryBudget, kind: 'file' | 'live', admits: () => boolean): Promise<void> =>
  budget.wait(() => kind === 'file', admits);

test('memory budget gives slots within its budget, counts what lies outside of them, and takes all back', () => {
  const budget = make(25);
  const [one, two] = [budget.takeSlot(), budget.takeSlot()];
  expect([one !== undefined, two !== undefined, budget.takeSlot(), budget.usedBytes]).toEqual([
    true,
    true,
    undefined,
    20,
  ]);
  expect([budget.take(6), budget.take(5), budget.usedBytes]).toEqual([false, true, 25]);
  budget.release(10, one);
  budget.release(10, two);
  budget.release(5, undefined);
  expect(budget.usedBytes).toBe(0);
  expect([budget.takeSlot(), budget.takeSlot()].map((each) => each !== undefined)).toEqual([true, true]);
});

test('memory budget gives every slot to one holder at a time', ({ budget }) => {
  const taken = [budget.takeSlot(), budget.takeSlot(), budget.takeSlot()];
  expect(new Set(taken.map((each) => each!.at)).size).toBe(3);
  expect(budget.hasSlot()).toBe(false);
});

test('memory budget lets bytes beyond the budget in only while it is empty', ({ budget }) => {
  expect(budget.take(1000)).toBe(true);
  expect(budget.take(1)).toBe(false);
  expect(budget.takeSlot()).toBeUndefined();
  budget.release(1000, undefined);
  expect([budget.take(1), budget.take(1000)]).toEqual([true, false]);
});

test('memory budget wakes those whom it admits, in the order they came', async ({ budget }) => {
  const woken: string[] = [];
  let open = false;
  void wait(budget, 'file', () => open).then(() => woken.push('first'));
  void wait(budget, 'file', () => false).then(() => woken.push('never'));
  void wait(budget, 'live', () => open).then(() => woken.push('third'));
  budget.wake();
  await settleTurns();
  expect(woken).toEqual([]);
  open = true;
  budget.wake();
  await settleTurns();
  expect(woken).toEqual(['first', 'third']);
});

test('memory budget turns away files first, then all, and nobody may wait any more', async ({ budget }) => {
  const refused = { code: 'E_STOPPED' };
  const file = expect(wait(budget, 'file', () => false)).rejects.toMatchObject(refused);
  const live = expect(wait(budget, 'live', () => false)).rejects.toMatchObject(refused);
  budget.close('rereadable');
  await file;
  await expect(wait(budget, 'file', () => true)).rejects.toMatchObject(refused);
  budget.close('all');
  await live;
  await expect(wait(budget, 'live', () => true)).rejects.toMatchObject(refused);
});

test('memory budget lends its reserve to one batch at a time, in the slot or outside of it, and beside its budget', () => {
  const reserve = slot(9);
  const budget = new MemoryBudget(20, 10, [slot(0), slot(1)], reserve);
  const [one, two] = [budget.takeSlot(), budget.takeSlot()];
  expect([budget.takeSlot(), budget.take(1), budget.hasReserve()]).toEqual([undefined, false, true]);
  expect([budget.takeReserve(25), budget.takeReserve(), budget.usedBytes]).toEqual([reserve, undefined, 45]);
  expect([budget.isReserve(reserve), budget.isReserve(one), budget.isReserve(undefined)]).toEqual([true, false, false]);
  budget.release(10, two);
  expect([budget.usedBytes, budget.hasSlot(), budget.hasReserve()]).toEqual([35, true, false]);
  budget.release(25, reserve);
  expect([budget.usedBytes, budget.hasReserve()]).toEqual([10, true]);
  expect([budget.takeSlot(), budget.takeSlot()]).toEqual([two, undefined]);
});

test('memory budget divided anew takes slots in use back when they are released, and the others at once', () => {
  const retired: Region[] = [];
  const old = [slot(0), slot(1), slot(2)];
  const [reserve, nextReserve] = [slot(9), slot(8)];
  const budget = new MemoryBudget(30, 10, old, reserve, { release: (region) => retired.push(region) });
  const [one, two] = [budget.takeSlot(), budget.takeSlot()];
  budget.takeReserve();
  const large = (at: number): Region => ({ at, bytes: Buffer.alloc(20) });
  const next = [large(20), large(40)];
  budget.divide({ budgetBytes: 40, slotBytes: 20, slots: next, reserve: nextReserve });
  expect(retired).toEqual([old.find((each) => each !== one && each !== two)]);
  expect([budget.usedBytes, budget.hasReserve(), budget.isReserve(reserve)]).toEqual([30, false, true]);
  // Slots in use count: 20 of 40 bytes.
  const three = budget.takeSlot();
  expect([next.includes(three!), budget.takeSlot()]).toEqual([true, undefined]);
  budget.release(10, one);
  budget.release(10, reserve);
  expect([budget.usedBytes, budget.hasReserve(), budget.takeReserve()]).toEqual([30, true, nextReserve]);
  budget.release(10, two);
  expect(retired.slice(1)).toEqual([one, reserve, two]);
  expect([budget.takeSlot()?.bytes.length, budget.takeSlot()]).toEqual([20, undefined]);
});

test('memory budget that shrinks keeps slots of the same size, lets nobody in beyond it, and wakes those who fit when it grows', async () => {
  const retired: Region[] = [];
  const all = [slot(0), slot(1), slot(2), slot(3)];
  const budget = new MemoryBudget(40, 10, all, slot(9), { release: (region) => retired.push(region) });
  const taken = [budget.takeSlot(), budget.takeSlot(), budget.takeSlot()];
  const { reserve } = budget.division;
  budget.divide({ budgetBytes: 20, slotBytes: 10, slots: all.slice(0, 2), reserve });
  expect([budget.hasSlot(), budget.fits(1)]).toEqual([false, false]);
  budget.release(10, taken[0]);
  expect(budget.hasSlot()).toBe(false);
  let woken = false;
  void budget
    .wait(
      () => true,
      () => budget.hasSlot(),
    )
    .then(() => (woken = true));
  budget.divide({ budgetBytes: 40, slotBytes: 10, slots: [...all.slice(0, 2), slot(4), slot(5)], reserve });
  await settleTurns();
  expect(woken).toBe(true);
  const held = [taken[1]!, taken[2]!];
  while (budget.hasSlot()) held.push(budget.takeSlot()!);
  expect(new Set(held).size).toBe(4);
  for (const each of held) budget.release(10, each);
  // Each of the four goes or is free, none is both.
  expect(budget.usedBytes).toBe(0);
  expect(retired.filter((region) => budget.division.slots.includes(region))).toEqual([]);
  expect(new Set(retired).size).toBe(retired.length);
});

import { expect, test } from 'vitest';
import { Room } from '../../src/batcher/fill/memory-budget.ts';
import type { Region } from '../../src/core/block.ts';
import { settleTurns } from '../support/until.ts';

const slot = (at: number): Region => ({ at, bytes: Buffer.alloc(10) });
const make = (budget = 30): Room => new Room(budget, 10, [slot(0), slot(1), slot(2)]);

test('room gives slots within its budget, counts what lies outside of them, and takes all back', () => {
  const room = make(25);
  const [one, two] = [room.takeSlot(), room.takeSlot()];
  expect([one !== undefined, two !== undefined, room.takeSlot(), room.usedBytes]).toEqual([true, true, undefined, 20]);
  expect([room.take(6), room.take(5), room.usedBytes]).toEqual([false, true, 25]);
  room.release(10, one);
  room.release(10, two);
  room.release(5, undefined);
  expect(room.usedBytes).toBe(0);
  expect([room.takeSlot(), room.takeSlot()].map((each) => each !== undefined)).toEqual([true, true]);
});

test('room gives every slot to one holder at a time', () => {
  const room = make();
  const taken = [room.takeSlot(), room.takeSlot(), room.takeSlot()];
  expect(new Set(taken.map((each) => each!.at)).size).toBe(3);
  expect(room.hasSlot()).toBe(false);
});

test('room lets bytes beyond the budget in only while it is empty', () => {
  const room = make();
  expect(room.take(1000)).toBe(true);
  expect(room.take(1)).toBe(false);
  expect(room.takeSlot()).toBeUndefined();
  room.release(1000, undefined);
  expect([room.take(1), room.take(1000)]).toEqual([true, false]);
});

test('room wakes those whom it admits, in the order they came', async () => {
  const room = make();
  const woken: string[] = [];
  let open = false;
  void room
    .wait(
      () => true,
      () => open,
    )
    .then(() => woken.push('first'));
  void room
    .wait(
      () => true,
      () => false,
    )
    .then(() => woken.push('never'));
  void room
    .wait(
      () => false,
      () => open,
    )
    .then(() => woken.push('third'));
  room.wake();
  await settleTurns();
  expect(woken).toEqual([]);
  open = true;
  room.wake();
  await settleTurns();
  expect(woken).toEqual(['first', 'third']);
});

test('room turns away files first, then all, and nobody may wait any more', async () => {
  const room = make();
  const [file, live] = [
    room.wait(
      () => true,
      () => false,
    ),
    room.wait(
      () => false,
      () => false,
    ),
  ];
  const fileRefused = expect(file).rejects.toMatchObject({ code: 'E_STOPPED' });
  const liveRefused = expect(live).rejects.toMatchObject({ code: 'E_STOPPED' });
  room.close('rereadable');
  await fileRefused;
  await expect(
    room.wait(
      () => true,
      () => true,
    ),
  ).rejects.toMatchObject({ code: 'E_STOPPED' });
  room.close('all');
  await liveRefused;
  await expect(
    room.wait(
      () => false,
      () => true,
    ),
  ).rejects.toMatchObject({ code: 'E_STOPPED' });
});

test('room lends its reserve to one batch at a time, in the slot or outside of it, and beside its budget', () => {
  const reserve = slot(9);
  const room = new Room(20, 10, [slot(0), slot(1)], reserve);
  const [one, two] = [room.takeSlot(), room.takeSlot()];
  expect([room.takeSlot(), room.take(1), room.hasReserve()]).toEqual([undefined, false, true]);
  expect([room.takeReserve(25), room.takeReserve(), room.usedBytes]).toEqual([reserve, undefined, 45]);
  expect([room.isReserve(reserve), room.isReserve(one), room.isReserve(undefined)]).toEqual([true, false, false]);
  room.release(10, two);
  expect([room.usedBytes, room.hasSlot(), room.hasReserve()]).toEqual([35, true, false]);
  room.release(25, reserve);
  expect([room.usedBytes, room.hasReserve()]).toEqual([10, true]);
  expect([room.takeSlot(), room.takeSlot()]).toEqual([two, undefined]);
});

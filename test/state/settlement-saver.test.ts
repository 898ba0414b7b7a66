import { expect, test } from 'vitest';
import { SettlementSaver } from '../../src/state/database/transactions.ts';
import { CALM_SETTLEMENTS_MS, SAVE_SETTLED_MS } from '../../src/state/limits.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { settleTurns } from '../support/until.ts';

/** Saves by number; `isRefused` makes the next ones fail. */
class FakeState {
  hasSettlements = false;
  settlementWrites = 0;
  saves = 0;
  isRefused = false;

  save(): boolean {
    this.saves += 1;
    if (!this.isRefused) this.write();
    return !this.isRefused;
  }

  /** As a batch's commit does. */
  write(): void {
    this.hasSettlements = false;
    this.settlementWrites += 1;
  }
}

function make() {
  const [state, clock] = [new FakeState(), new SteppedClock()];
  const saver = new SettlementSaver(state, clock);
  const settle = (): void => {
    state.hasSettlements = true;
    saver.noteSettled();
  };
  return { state, clock, saver, settle };
}

/** Settlements were written just now. */
async function makeBusy() {
  const made = make();
  made.settle();
  await settleTurns();
  made.state.saves = 0;
  return made;
}

test('settlements after a calm time are saved at once, all that came together, without a timer', async () => {
  const { state, clock, settle } = make();
  for (const saves of [1, 2]) {
    for (let n = 0; n < 5; n++) settle();
    await settleTurns();
    expect([state.saves, state.hasSettlements]).toEqual([saves, false]);
    await clock.advance(CALM_SETTLEMENTS_MS);
  }
  expect(clock.sleeps).toEqual([]);
});

test('settlements in quick succession are saved once for all that came together, and then nothing sleeps', async () => {
  const { state, clock, settle } = await makeBusy();
  for (let n = 0; n < 5; n++) settle();
  await settleTurns();
  expect([state.saves, clock.sleeping]).toEqual([0, 1]);
  await clock.advance(SAVE_SETTLED_MS);
  expect([state.saves, state.hasSettlements, clock.sleeping]).toEqual([1, false, 0]);
});

test('commits that come anyway leave nothing to save', async () => {
  const { state, clock, settle } = await makeBusy();
  for (let n = 0; n < 20; n++) {
    settle();
    await clock.advance(SAVE_SETTLED_MS / 4);
    state.write();
  }
  await clock.advance(1000);
  expect([state.saves, clock.sleeping]).toEqual([0, 0]);
});

test('a settlement after a commit waits at most twice as long', async () => {
  const { state, clock, settle } = await makeBusy();
  settle();
  await clock.advance(1);
  state.write();
  settle();
  await clock.advance(2 * SAVE_SETTLED_MS - 1);
  expect([state.saves, state.hasSettlements]).toEqual([1, false]);
});

test('a disk that refuses is left to the save of every second, and a stop ends the wait', async () => {
  const { state, clock, saver, settle } = make();
  state.isRefused = true;
  settle();
  await clock.advance(1000);
  expect([state.saves, clock.sleeping]).toEqual([1, 0]);
  settle();
  saver.stop();
  await clock.advance(1000);
  expect(state.saves).toBe(1);
});

import { expect, test } from 'vitest';
import { FollowWindow } from '../../src/core/follow-window.ts';

test('follow window asks back to before the last answer, however long ago that was, and admits each event once', () => {
  const window = new FollowWindow(0, 2000);
  expect(window.ask(0)).toBe(7);
  expect([window.admit('a'), window.admit('a')]).toEqual([true, false]);
  window.answered();
  // Two questions that nobody answered.
  window.ask(60_000);
  expect(window.ask(120_000)).toBe(127);
  expect([window.admit('a'), window.admit('b')]).toEqual([false, true]);
  window.answered();
  expect(window.ask(120_500)).toBe(8);
  expect([window.admit('b'), window.admit('c')]).toEqual([false, true]);
});

test('follow window never asks for what it has forgotten', () => {
  const window = new FollowWindow(0, 2000);
  const storedMs = new Map<string, number>();
  for (let nowMs = 0; nowMs < 300_000; nowMs += 700) {
    const sinceMs = nowMs - window.ask(nowMs) * 1000;
    storedMs.set(`at ${nowMs}`, nowMs);
    for (const [cursor, ms] of storedMs) if (ms >= sinceMs) expect(window.admit(cursor)).toBe(ms === nowMs);
    window.answered();
  }
});

import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';

// Symptom: `TimeoutNegativeWarning` of the runtime among the agent's log lines, which are JSON. Cause: the deadline passed between
// computing the wait and beginning it. Fix: such a wait ends at once.
test('clock that is to wait until a time that is over wakes soon, and the runtime has nothing to say about it', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  await systemClock.sleep(-0.004);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

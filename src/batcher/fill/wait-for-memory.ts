/** Waits for memory for an intake, and reports the wait to its source. */
import type { Clock } from '../../core/time/clock.ts';
import { StoppedError } from '../../core/errors.ts';
import type { Intake } from './intake.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** Resolves once `admits` returns true. When the wait is cancelled, rejects with a `StoppedError` that counts the bytes from `start` on. */
export async function waitForMemory(
  { budget, clock }: { readonly budget: MemoryBudget; readonly clock: Clock },
  intake: Intake,
  start: number,
  admits: () => boolean,
): Promise<void> {
  const from = clock.monotonic();
  intake.waits?.(() => clock.monotonic() - from);
  try {
    await budget.wait(() => intake.isRereadable(), admits, intake.accounting);
  } catch (error) {
    throw error instanceof StoppedError ? new StoppedError(intake.end - start) : error;
  } finally {
    intake.waited(clock.monotonic() - from);
  }
}

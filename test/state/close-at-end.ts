import { onTestFinished } from 'vitest';

/** Closes it when the test ends, if the test has not. */
export function closeAtEnd(state: { close(): unknown }): void {
  onTestFinished(() => {
    try {
      state.close();
    } catch {
      // It is closed.
    }
  });
}

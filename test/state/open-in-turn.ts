import { onTestFinished } from 'vitest';

interface Closed {
  close(): unknown;
}

/** Closes it, if the test has not. */
function closeOnce(state: Closed | undefined): void {
  try {
    state?.close();
  } catch {
    // It is closed.
  }
}

const opened = new Map<string, Closed>();

/** Opens what a folder holds, as the next process does: what the test has open there is closed before, and this when the test ends. */
export function openInTurn<T extends Closed>(folder: string, open: () => T): T {
  closeOnce(opened.get(folder));
  const state = open();
  opened.set(folder, state);
  onTestFinished(() => closeOnce(state));
  return state;
}

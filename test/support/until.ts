/** Waiting in tests: for a condition, with a deadline; never for a time. */

/** Resolves once `condition` holds (it is tried every `everyMs`); rejects after `deadlineMs`, naming `what`. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, deadlineMs = 300_000, everyMs = 5): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Lets every promise that can go on do so, and the event loop turn a few times. */
export async function settleTurns(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

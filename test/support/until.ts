/** Waiting in tests: for a condition, with a deadline; never for a time. */

const WITHIN_MS = 60_000;

export interface Patience {
  /** Only where the wait itself may need more than a minute on a busy machine. */
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/**
 * Resolves once `condition` is true; it is tried every `everyMs`. Until then it returns false, or a text that tells what it saw. Rejects after
 * `withinMs`, naming `what` and the last text, or else the condition itself.
 */
export async function until(
  what: string,
  condition: () => boolean | string | Promise<boolean | string>,
  { withinMs = WITHIN_MS, everyMs = 5 }: Patience = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let seen = await condition(); seen !== true; seen = await condition()) {
    if (performance.now() > deadline)
      throw new Error(`waited ${withinMs / 1000} s for: ${what}\nlast seen: ${seen === false ? `false of ${String(condition)}` : seen}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Lets every promise that can go on do so, and the event loop turn a few times. */
export async function settleTurns(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

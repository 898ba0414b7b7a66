/** Waiting in tests: for a condition, with a deadline; never for a time. */

const WITHIN_MS = 60_000;
/** Longer than a step of a rig or a request takes, shorter than a program. */
const LONG_TRY_MS = 50;

export interface Patience {
  /** Only where the wait itself may need more than a minute on a busy machine. */
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** A wait that may be longer prints what it waits for after this time. */
  readonly printAfterMs?: number;
}

/**
 * Resolves once `condition` is true; it is tried every `everyMs`. Until then it returns false, or a text that tells what it saw. Rejects after
 * `withinMs`, naming `what` and the last text, or else the condition itself; a wait that may be longer prints these after a minute. A condition that
 * takes long, as it runs a program, is tried at most a third of the time: the rest is for what it waits for.
 */
export async function until(
  what: string,
  condition: () => boolean | string | Promise<boolean | string>,
  { withinMs = WITHIN_MS, everyMs = 5, printAfterMs = WITHIN_MS }: Patience = {},
): Promise<void> {
  const startedMs = performance.now();
  const deadline = startedMs + withinMs;
  let isPrinted = withinMs <= printAfterMs;
  for (;;) {
    const triedMs = performance.now();
    const seen = await condition();
    if (seen === true) return;
    const nowMs = performance.now();
    const lastSeen = `last seen: ${seen === false ? `false of ${String(condition)}` : seen}`;
    if (nowMs > deadline) throw new Error(`waited ${withinMs / 1000} s for: ${what}\n${lastSeen}`);
    if (!isPrinted && nowMs - startedMs >= printAfterMs) {
      isPrinted = true;
      console.error(`still waiting after ${printAfterMs / 1000} s, of ${withinMs / 1000} s, for: ${what}\n${lastSeen}`);
    }
    const tookMs = nowMs - triedMs;
    await new Promise((resolve) => setTimeout(resolve, tookMs > LONG_TRY_MS ? Math.max(everyMs, 2 * tookMs) : everyMs));
  }
}

/** Lets every promise that can go on do so, and the event loop turn a few times. */
export async function settleTurns(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
